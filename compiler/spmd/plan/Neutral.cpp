// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/Neutral.h"

#include <algorithm>

namespace wsc::spmd {

namespace {

/// The least and the greatest value of an index, without the part of iterator `except`.
struct Range {
  int64_t least = 0, most = 0;
};
Range rangeOf(const Nest &nest, const Index &index, int32_t except = -1) {
  Range range{index.constant, index.constant};
  for (size_t k = 0; k < nest.extents.size(); ++k)
    if (int32_t(k) != except) {
      const int64_t reach = index.perIterator[k] * (nest.extents[k] - 1);
      (reach < 0 ? range.least : range.most) += reach;
    }
  return range;
}

const std::vector<int64_t> &shapeOf(const Network &network, const Access &access) {
  return network.tensors[size_t(access.tensor)].shape;
}

/// Whether the access goes outside of the tensor within the iterators' extents.
bool mayLeave(const Network &network, const Nest &nest, const Access &access) {
  for (size_t d = 0; d < access.map.size(); ++d) {
    const Range range = rangeOf(nest, access.map[d]);
    if (range.least < 0 || range.most >= shapeOf(network, access)[d])
      return true;
  }
  return false;
}

bool walks(const Access &access, int32_t iterator) {
  return std::any_of(access.map.begin(), access.map.end(),
                     [&](const Index &index) { return index.perIterator[size_t(iterator)] != 0; });
}

/// Whether all iterations beyond the end of `iterator` are outside of the tensor along one dimension, also those where
/// other reduction iterators run beyond their ends.
bool leavesBeyondEnd(const Network &network, const Nest &nest, const Access &access, int32_t iterator) {
  const int64_t end = nest.extents[size_t(iterator)];
  for (size_t d = 0; d < access.map.size(); ++d) {
    const Index &index = access.map[d];
    const int64_t step = index.perIterator[size_t(iterator)];
    bool isOpposed = step == 0;
    for (size_t k = size_t(nest.numParallel); k < nest.extents.size(); ++k)
      isOpposed |= index.perIterator[k] != 0 && (index.perIterator[k] < 0) != (step < 0);
    const Range others = rangeOf(nest, index, iterator);
    if (!isOpposed &&
        (step > 0 ? others.least + step * end >= shapeOf(network, access)[d] : others.most + step * end < 0))
      return true;
  }
  return false;
}

} // namespace

std::optional<double> neutralPadding(const Network &network, const Nest &nest, size_t number) {
  if (!nest.reduction || !nest.body.empty())
    return std::nullopt;
  const Access &access = nest.operands[number];
  const bool isValue = std::any_of(nest.values.begin(), nest.values.end(), [&](const BodyValue &value) {
    return value.kind == BodyValue::Kind::Operand && value.index == int32_t(number);
  });
  const bool allOperands = std::all_of(nest.values.begin(), nest.values.end(),
                                       [](const BodyValue &value) { return value.kind == BodyValue::Kind::Operand; });
  if (!isValue || !allOperands || access.gatherDim >= 0)
    return std::nullopt;
  const double neutral = nest.reduction->opcode == format::Opcode::Fma ? 0 : nest.reduction->initial;
  if (access.padding != neutral && mayLeave(network, nest, access))
    return std::nullopt;
  return neutral;
}

bool paddingMatters(const Network &network, const Nest &nest, const Access &access, const Distribution &distribution) {
  if (mayLeave(network, nest, access))
    return true;
  for (int32_t k = nest.numParallel; k < int32_t(nest.extents.size()); ++k) {
    const int64_t run = blockOf(nest, distribution, k) * partsOf(distribution, k);
    if (walks(access, k) && run > nest.extents[size_t(k)])
      return true;
  }
  return false;
}

bool mayOverrun(const Network &network, const Nest &nest, int32_t iterator) {
  bool isWalked = false;
  for (size_t k = 0; k < nest.operands.size(); ++k) {
    const Access &access = nest.operands[k];
    if (!walks(access, iterator))
      continue;
    isWalked = true;
    if (!neutralPadding(network, nest, k) || !leavesBeyondEnd(network, nest, access, iterator))
      return false;
  }
  return isWalked; // an iterator that no operand walks repeats a value; overrunning it would count the value again
}

} // namespace wsc::spmd
