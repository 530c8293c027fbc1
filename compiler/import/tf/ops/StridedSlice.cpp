// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StridedSlice; see StridedSlice.h. Entry i of begin, end and strides stands for a dimension, unless bit i of a mask
// says otherwise: the ellipsis stands for all dimensions that no other entry has, a new axis for none; begin and end
// masks leave a bound open; a shrunk axis takes one element and goes.
#include "compiler/import/tf/ops/StridedSlice.h"
#include "absl/strings/str_cat.h"
#include "dialects/nn/Shape.h"
#include <algorithm>

namespace wsc::import::tf {

StridedBox readStridedBox(NodeContext &node, llvm::ArrayRef<int64_t> shape, size_t first) {
  std::vector<int64_t> begin = node.constantInts(first, "begin"), end = node.constantInts(first + 1, "end"),
                       strides = node.constantInts(first + 2, "strides");
  const int64_t beginMask = node.intAttribute("begin_mask", 0), endMask = node.intAttribute("end_mask", 0),
                ellipsisMask = node.intAttribute("ellipsis_mask", 0),
                newAxisMask = node.intAttribute("new_axis_mask", 0),
                shrinkMask = node.intAttribute("shrink_axis_mask", 0);
  StridedBox box;
  if (node.failed())
    return box;
  const size_t entries = begin.size(), rank = shape.size();
  if (end.size() != entries || strides.size() != entries || entries > 63) {
    node.fail(
        absl::StrCat("begin, end and strides have ", entries, ", ", end.size(), " and ", strides.size(), " numbers"));
    return box;
  }
  auto has = [](int64_t mask, size_t i) { return ((mask >> i) & 1) != 0; };
  size_t consumed = 0;
  for (size_t i = 0; i < entries; ++i)
    consumed += !has(ellipsisMask, i) && !has(newAxisMask, i);
  if (consumed > rank) {
    node.fail(absl::StrCat("has indices for ", consumed, " dimensions of ", nn::formatShape(shape)));
    return box;
  }
  auto whole = [&] {
    const int64_t extent = shape[box.starts.size()];
    box.starts.push_back(0);
    box.sizes.push_back(extent);
    box.steps.push_back(1);
    box.shape.push_back(extent);
  };
  bool hasEllipsis = false;
  for (size_t i = 0; i < entries; ++i) {
    if (has(ellipsisMask, i)) {
      if (hasEllipsis) {
        node.fail("has two ellipses");
        return box;
      }
      hasEllipsis = true;
      for (size_t k = 0; k < rank - consumed; ++k)
        whole();
      continue;
    }
    if (has(newAxisMask, i)) {
      box.shape.push_back(1);
      continue;
    }
    const size_t d = box.starts.size();
    const int64_t extent = shape[d], step = strides[i];
    if (has(shrinkMask, i)) {
      const int64_t index = begin[i] < 0 ? begin[i] + extent : begin[i];
      if (index < 0 || index >= extent) {
        node.fail(absl::StrCat("index ", begin[i], " of dimension ", d, " is outside [", -extent, ", ", extent, ")"));
        return box;
      }
      box.starts.push_back(index);
      box.sizes.push_back(1);
      box.steps.push_back(1);
      continue;
    }
    if (step == 0 || step < -extent - 1 - (int64_t{1} << 40)) {
      node.fail(absl::StrCat("stride ", step, " of dimension ", d, " is not valid"));
      return box;
    }
    // Positions count from the end if negative and are clamped: to [0, extent] forwards, to [-1, extent - 1] backwards.
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    auto clamp = [&](int64_t position) { return std::clamp(position < 0 ? position + extent : position, low, high); };
    const int64_t start = has(beginMask, i) ? (step > 0 ? low : high) : clamp(begin[i]);
    const int64_t stop = has(endMask, i) ? (step > 0 ? high : low) : clamp(end[i]);
    const int64_t span = step > 0 ? stop - start : start - stop, stride = step > 0 ? step : -step;
    const int64_t size = span > 0 ? (span - 1) / stride + 1 : 0;
    box.starts.push_back(size > 0 ? start : 0);
    box.sizes.push_back(size);
    box.steps.push_back(size > 1 ? step : 1);
    box.shape.push_back(size);
  }
  while (box.starts.size() < rank)
    whole();
  return box;
}

} // namespace wsc::import::tf
