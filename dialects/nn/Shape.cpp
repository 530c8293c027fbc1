// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape arithmetic; see Shape.h.
#include "dialects/nn/Shape.h"
#include <algorithm>

namespace wsc::nn {

std::string formatShape(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::optional<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  llvm::SmallVector<int64_t> result(a.begin(), a.end());
  size_t lead = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t &extent = result[lead + i];
    if (extent == b[i] || b[i] == 1)
      continue;
    if (extent != 1)
      return std::nullopt;
    extent = b[i];
  }
  return result;
}

std::optional<int64_t> windowOutputExtent(int64_t input, int64_t kernel, int64_t stride, int64_t dilation,
                                          int64_t before, int64_t after) {
  constexpr int64_t limit = int64_t{1} << 31;
  if (kernel < 1 || stride < 1 || dilation < 1 || input < 0 ||
      std::min(before, after) < std::min<int64_t>(0, 1 - input))
    return std::nullopt;
  if (std::max({kernel, stride, dilation, before, after, input}) >= limit)
    return std::nullopt;
  int64_t room = input + before + after - ((kernel - 1) * dilation + 1);
  if (room < 0)
    return std::nullopt;
  return room / stride + 1;
}

std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      return std::nullopt;
  return count;
}

std::string shapeProblem(llvm::ArrayRef<int64_t> shape) {
  if (!elementCount(shape))
    return "has more than 2^63 elements";
  for (int64_t extent : shape)
    if (extent > maxExtent)
      return "has an extent " + std::to_string(extent) + ", above 2^31";
  return {};
}

} // namespace wsc::nn
