// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/Neutral.h"

#include <algorithm>

namespace wsc::spmd {

namespace {

bool mayLeave(const Nest &nest, const Access &access) {
  for (const Index &index : access.map) {
    int64_t walkers = std::count_if(index.perIterator.begin(), index.perIterator.end(), [](int64_t c) { return c != 0; });
    if (walkers > 1 || index.constant != 0)
      return true;
  }
  return false;
}

} // namespace

std::optional<double> neutralPadding(const Nest &nest, size_t number) {
  if (!nest.reduction || !nest.body.empty())
    return std::nullopt;
  const Access &access = nest.operands[number];
  const bool isValue = std::any_of(nest.values.begin(), nest.values.end(), [&](const BodyValue &value) {
    return value.kind == BodyValue::Kind::Operand && value.index == int32_t(number);
  });
  const bool allOperands = std::all_of(nest.values.begin(), nest.values.end(), [](const BodyValue &value) {
    return value.kind == BodyValue::Kind::Operand;
  });
  if (!isValue || !allOperands || access.gatherDim >= 0)
    return std::nullopt;
  const double neutral = nest.reduction->opcode == format::Opcode::Fma ? 0 : nest.reduction->initial;
  if (mayLeave(nest, access) && access.padding != neutral)
    return std::nullopt;
  return neutral;
}

bool mayOverrun(const Nest &nest, int32_t iterator) {
  for (size_t k = 0; k < nest.operands.size(); ++k) {
    const Access &access = nest.operands[k];
    bool walked = false;
    for (const Index &index : access.map)
      walked |= index.perIterator[size_t(iterator)] != 0;
    if (walked && !neutralPadding(nest, k))
      return false;
  }
  // An iterator that no operand walks repeats a value; overrunning it would count the value again.
  return std::any_of(nest.operands.begin(), nest.operands.end(), [&](const Access &access) {
    return std::any_of(access.map.begin(), access.map.end(),
                       [&](const Index &index) { return index.perIterator[size_t(iterator)] != 0; });
  });
}

} // namespace wsc::spmd
