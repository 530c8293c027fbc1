// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/wafer/Planes.h"

#include "dialects/nn/Nn.h"

#include <algorithm>

using namespace mlir;

namespace wsc::wafer {

using kernels::Plane;
using Host = kernels::StreamPlan::Host;

std::optional<Plane> planeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  ArrayRef<int64_t> shape = tensor.getShape();
  switch (shape.size()) {
  case 0:
    return Plane{1, 1, 1};
  case 1:
    return Plane{shape[0], 1, 1};
  case 2:
    return Plane{shape[1], 1, shape[0]};
  case 4:
    if (shape[0] == 1)
      return Plane{shape[1], shape[2], shape[3]};
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

bool preservesPlane(RankedTensorType from, RankedTensorType to) {
  if (from == to)
    return true;
  auto a = planeOf(from), b = planeOf(to);
  return a && b && *a == *b && a->width == 1;
}

bool broadcastsInPlane(Type from, Type to) {
  auto type = cast<RankedTensorType>(from);
  SmallVector<int64_t> shape(cast<RankedTensorType>(to).getRank() - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  return planeOf(RankedTensorType::get(shape, type.getElementType())) == planeOf(from);
}

bool isMovement(Operation *op) { return op && isa<nn::ReshapeOp, nn::TransposeOp>(op); }

Value movementRoot(Value value) {
  while (isMovement(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Digits in row-major order regrouped to `shape`, cutting digits where a dimension ends inside one.
static std::optional<std::vector<std::vector<Digit>>> regroup(const std::vector<std::vector<Digit>> &dims,
                                                              ArrayRef<int64_t> shape) {
  std::vector<Digit> flat;
  for (const auto &dim : dims)
    for (const Digit &digit : dim)
      if (digit.extent != 1)
        flat.push_back(digit);
  std::vector<std::vector<Digit>> result(shape.size());
  size_t next = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t rest = shape[d];
    while (rest > 1) {
      if (next == flat.size())
        return std::nullopt;
      Digit &digit = flat[next];
      if (rest % digit.extent == 0) {
        result[d].push_back(digit);
        rest /= digit.extent;
        ++next;
      } else if (digit.extent % rest == 0) {
        int64_t inner = digit.extent / rest;
        result[d].push_back({rest, digit.stride * inner});
        digit.extent = inner;
        rest = 1;
      } else {
        return std::nullopt;
      }
    }
  }
  return result;
}

std::optional<std::vector<std::vector<Digit>>> digitsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!isMovement(value.getDefiningOp())) {
    std::vector<std::vector<Digit>> dims(type.getRank());
    int64_t stride = 1;
    for (int64_t d = type.getRank() - 1; d >= 0; --d) {
      dims[d] = {{type.getDimSize(d), stride}};
      stride *= type.getDimSize(d);
    }
    return dims;
  }
  auto dims = digitsOf(value.getDefiningOp()->getOperand(0));
  if (!dims)
    return std::nullopt;
  if (auto transpose = dyn_cast<nn::TransposeOp>(value.getDefiningOp())) {
    std::vector<std::vector<Digit>> permuted;
    for (int64_t d : transpose.getPermutation())
      permuted.push_back((*dims)[d]);
    return permuted;
  }
  return regroup(*dims, type.getShape());
}

/// Joins neighbouring digits that continue each other.
static std::vector<Digit> joined(std::vector<Digit> digits) {
  std::vector<Digit> result;
  for (const Digit &digit : digits) {
    if (digit.extent == 1)
      continue;
    if (!result.empty() && result.back().stride == digit.stride * digit.extent)
      result.back() = {result.back().extent * digit.extent, digit.stride};
    else
      result.push_back(digit);
  }
  return result;
}

std::optional<std::array<int, 3>> planeDims(int64_t rank) {
  if (rank == 4)
    return {{1, 2, 3}};
  if (rank == 2)
    return {{1, -1, 0}};
  if (rank < 2)
    return {{int(rank) - 1, -1, -1}};
  return std::nullopt;
}

/// A host view from the digits of channels, rows and width.
static std::optional<Host> hostFrom(const std::array<std::vector<Digit>, 3> &digits) {
  if (digits[0].size() > 2 || digits[1].size() > 1 || digits[2].size() > 1)
    return std::nullopt;
  Host host;
  if (!digits[0].empty()) {
    host.strideChannelOuter = digits[0].front().stride;
    if (digits[0].size() == 2) {
      host.channelInner = digits[0].back().extent;
      host.strideChannelInner = digits[0].back().stride;
    }
  }
  if (!digits[1].empty())
    host.strideRow = digits[1].front().stride;
  if (!digits[2].empty())
    host.strideColumn = digits[2].front().stride;
  return host;
}

std::optional<Host> hostOfInput(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto dims = digitsOf(value);
  if (!dims || !planeOf(type))
    return std::nullopt;
  std::array<std::vector<Digit>, 3> digits;
  std::array<int, 3> order = *planeDims(type.getRank());
  for (int i = 0; i < 3; ++i)
    if (order[i] >= 0)
      digits[i] = joined((*dims)[order[i]]);
  return hostFrom(digits);
}

std::optional<Host> hostOfOutput(Value value) {
  Value root = movementRoot(value);
  auto rootType = cast<RankedTensorType>(root.getType());
  auto dims = digitsOf(value);
  if (!dims || !planeOf(rootType))
    return std::nullopt;
  // Strides of the digits in `value`, keyed by their stride in the root.
  std::vector<std::pair<int64_t, Digit>> byRoot;
  int64_t stride = 1;
  for (size_t d = dims->size(); d-- > 0;)
    for (size_t k = (*dims)[d].size(); k-- > 0;) {
      const Digit &digit = (*dims)[d][k];
      if (digit.extent > 1)
        byRoot.push_back({digit.stride, {digit.extent, stride}});
      stride *= digit.extent;
    }
  std::array<std::vector<Digit>, 3> digits;
  std::array<int, 3> order = *planeDims(rootType.getRank());
  for (int i = 0; i < 3; ++i) {
    if (order[i] < 0)
      continue;
    int64_t low = 1;
    for (int64_t d = order[i] + 1; d < rootType.getRank(); ++d)
      low *= rootType.getDimSize(d);
    int64_t high = low * rootType.getDimSize(order[i]);
    std::vector<std::pair<int64_t, Digit>> mine;
    for (const auto &entry : byRoot)
      if (entry.first >= low && entry.first < high)
        mine.push_back(entry);
    std::sort(mine.begin(), mine.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    std::vector<Digit> ordered;
    for (const auto &entry : mine)
      ordered.push_back(entry.second);
    digits[i] = joined(ordered);
  }
  return hostFrom(digits);
}

} // namespace wsc::wafer
