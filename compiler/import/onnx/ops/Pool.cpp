// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools: maximum (with the places of the maxima), average, Lp norm, their global forms, and MaxUnpool.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Windows.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

/// Flat number (i64) of the maximum of each window, within its image if `columnMajor`, else within the whole tensor:
/// every tap is a slice of the padded tensor, its elements' numbers a slice of a constant, and the first tap that
/// reaches the maximum wins.
static Expression maximumPlaces(const Expression &x, const Expression &y, const SpatialWindow &window,
                                bool columnMajor) {
  LayerBuilder &layers = x.layers();
  const Window &w = window.window;
  size_t rank = window.kernel.size();
  mlir::Type i64 = layers.builder().getI64Type();
  Expression numbers = countingUp(layers, x.size(), i64).reshape(x.shape());
  if (columnMajor) {
    llvm::SmallVector<int64_t> order{0, 1}, shape(x.shape());
    for (size_t d = rank; d-- > 0;)
      order.push_back(static_cast<int64_t>(2 + d));
    for (size_t d = 0; d < rank; ++d)
      shape[2 + d] = x.shape()[x.rank() - 1 - static_cast<int64_t>(d)];
    // Numbers run along the first spatial dimension first.
    numbers = countingUp(layers, x.size(), i64).reshape(shape).transpose(order);
  }
  Expression padded = x, paddedNumbers = numbers;
  for (size_t d = 0; d < rank && !layers.failed(); ++d) {
    int64_t axis = static_cast<int64_t>(2 + d), low = w.pads[d], high = w.pads[rank + d];
    llvm::SmallVector<int64_t> lows(padded.shape()), highs(padded.shape());
    lows[axis] = low;
    highs[axis] = high;
    Expression filler = lowest(layers, x.elementType());
    padded = concat({filler.broadcast(lows), padded, filler.broadcast(highs)}, axis);
    paddedNumbers = paddedNumbers.pad(axis, low, high, 0);
  }
  if (layers.failed())
    return numbers;
  std::vector<Expression> taps, tapNumbers;
  llvm::SmallVector<int64_t> tap(rank, 0);
  for (bool more = true; more;) {
    Expression part = padded, partNumbers = paddedNumbers;
    for (size_t d = 0; d < rank; ++d) {
      int64_t axis = static_cast<int64_t>(2 + d);
      part = part.slice(axis, tap[d] * w.dilations[d], (y.shape()[axis] - 1) * w.strides[d] + 1)
                 .slice(axis, 0, y.shape()[axis], w.strides[d]);
      partNumbers = partNumbers.slice(axis, tap[d] * w.dilations[d], (y.shape()[axis] - 1) * w.strides[d] + 1)
                        .slice(axis, 0, y.shape()[axis], w.strides[d]);
    }
    taps.push_back(part.unsqueeze(0));
    tapNumbers.push_back(partNumbers.unsqueeze(0));
    more = false;
    for (size_t d = rank; d-- > 0 && !more;) {
      more = ++tap[d] < window.kernel[d];
      if (!more)
        tap[d] = 0;
    }
  }
  Expression best = select(equal(concat(taps, 0), y), concat(tapNumbers, 0), highest(layers, i64));
  return minOver(best, {0}, /*keepdims=*/false);
}

static void maxPool(NodeContext &node) {
  Expression x = node.in(0);
  SpatialWindow window = readWindow(node, x, readKernel(node, {}), /*pooling=*/true);
  bool columnMajor = node.intAttribute("storage_order", 0) != 0;
  if (node.failed())
    return;
  Expression y = poolOver(nn::PoolKind::Max, x, window, false);
  node.setResult(y);
  constexpr int64_t mostTaps = 4096;
  if (node.wantsOutput(1) && productOf(window.kernel) > mostTaps)
    return node.unsupported(
        absl::StrCat("places of the maxima of a window of more than ", mostTaps, " taps are not supported"));
  if (node.wantsOutput(1) && !node.failed())
    node.setResult(1, maximumPlaces(x, y, window, columnMajor));
}

/// A window over padding alone has no average; what ceil_mode adds behind the pads does not count even with
/// count_include_pad, so the divisor differs from place to place.
static void averagePool(NodeContext &node) {
  Expression x = node.in(0);
  SpatialWindow window = readWindow(node, x, readKernel(node, {}), /*pooling=*/true);
  bool countIncludePad = node.intAttribute("count_include_pad", 0) != 0;
  if (node.failed())
    return;
  if (!countIncludePad || !window.overhangs())
    return node.setResult(poolOver(nn::PoolKind::Avg, x, window, countIncludePad));
  Expression y = poolOver(nn::PoolKind::Sum, x, window, false);
  size_t rank = window.kernel.size();
  for (size_t d = 0; d < rank && !node.failed(); ++d) {
    if (y.shape()[2 + d] > maxConstantElements / window.kernel[d])
      return node.unsupported(absl::StrCat("a window of ", window.kernel[d], " taps in ", y.shape()[2 + d],
                                           " places beyond the pads is not supported; up to ", maxConstantElements,
                                           " taps are"));
    const auto &pads = window.window.pads;
    std::vector<int64_t> counts = countTaps(window, d, x.shape()[2 + d], pads[d], pads[rank + d] - window.overhang[d]);
    llvm::SmallVector<int64_t> shape(rank, 1);
    shape[d] = static_cast<int64_t>(counts.size());
    y = y / constant(node.layers, shape, std::vector<double>(counts.begin(), counts.end()), x.elementType());
  }
  node.setResult(y);
}

/// |x|^p, and its inverse for sums.
static Expression powerOfNorm(const Expression &x, int64_t p) {
  return p == 1 ? abs(x) : p == 2 ? x * x : power(abs(x), p);
}
static Expression rootOfNorm(const Expression &y, int64_t p) {
  return p == 1 ? y : p == 2 ? sqrt(y) : power(y, 1.0 / static_cast<double>(p));
}

static void lpPool(NodeContext &node) {
  Expression x = node.in(0);
  SpatialWindow window = readWindow(node, x, readKernel(node, {}), /*pooling=*/true);
  int64_t p = node.intAttribute("p", 2);
  if (node.failed())
    return;
  node.setResult(rootOfNorm(poolOver(nn::PoolKind::Sum, powerOfNorm(x, p), window, false), p));
}

/// Applies function(tensor, spatial axes).
template <typename Function> static void globally(NodeContext &node, Function function) {
  Expression x = node.in(0);
  if (x.rank() < 3)
    return node.fail("needs a tensor with spatial dimensions, rank 3 or more");
  node.setResult(function(x, axesBetween(2, x.rank())));
}

using Axes = llvm::ArrayRef<int64_t>;
static void globalAveragePool(NodeContext &node) {
  globally(node, [](const Expression &x, Axes axes) { return meanOver(x, axes); });
}
static void globalMaxPool(NodeContext &node) {
  globally(node, [](const Expression &x, Axes axes) { return maxOver(x, axes); });
}
static void globalLpPool(NodeContext &node) {
  int64_t p = node.intAttribute("p", 2);
  globally(node, [p](const Expression &x, Axes axes) { return rootOfNorm(sumOver(powerOfNorm(x, p), axes), p); });
}

/// Elements go to the places (flat numbers in the result) that a MaxPool took them from, zeros elsewhere. The numbers
/// are those of the tensor the pool read; another output_shape takes them as they are.
static void maxUnpool(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0), places = node.in(1);
  size_t rank = static_cast<size_t>(std::max<int64_t>(x.rank() - 2, 0));
  std::vector<int64_t> kernel = readKernel(node, {}), strides = readExtents(node, "strides", rank, 1, 1);
  std::vector<int64_t> pads = readExtents(node, "pads", 2 * rank, 0, 0), shape;
  if (node.hasInput(2))
    shape = node.constantInts(2, "output_shape");
  if (node.failed())
    return;
  if (kernel.size() != rank || rank == 0 || (!shape.empty() && static_cast<int64_t>(shape.size()) != x.rank()))
    return node.fail(absl::StrCat("kernel ", nn::formatShape(kernel), " and output_shape ", nn::formatShape(shape),
                                  " do not fit ", nn::formatShape(x.shape())));
  for (int64_t extent : shape)
    if (extent < 0 || extent > nn::maxExtent)
      return node.fail(absl::StrCat("output_shape ", nn::formatShape(shape), " holds ", extent, ", outside [0, 2^31]"));
  llvm::SmallVector<int64_t> inferred(x.shape());
  for (size_t d = 0; d < rank; ++d)
    inferred[2 + d] = (x.shape()[2 + d] - 1) * strides[d] + kernel[d] - pads[d] - pads[rank + d];
  llvm::ArrayRef<int64_t> numbered = inferred;
  int64_t elements = productOf(numbered), count = x.size();
  Expression isThere =
      equal(countingUp(layers, elements, places.elementType()).reshape({elements, 1}), places.reshape({1, count}));
  Expression y = sumOver(select(isThere, x.reshape({1, count}), 0), {1}, /*keepdims=*/false).reshape(inferred);
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t axis = static_cast<int64_t>(d), missing = shape[d] - inferred[d];
    y = missing >= 0 ? y.pad(axis, 0, missing) : y.slice(axis, 0, shape[d]);
  }
  node.setResult(y);
}

/// Halves away from zero.
static Expression roundedAway(const Expression &x) { return sign(x) * floor(abs(x) + 0.5); }

/// Each region of interest in bins, each bin the maximum of the elements that it covers, 0 where there are none. A
/// region is [image, x1, y1, x2, y2], ends included.
static void maxRoiPool(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0), rois = widened(node.in(1));
  std::vector<int64_t> bins = node.intsAttribute("pooled_shape");
  double scale = node.floatAttribute("spatial_scale", 1);
  if (node.failed())
    return;
  if (x.rank() != 4 || rois.rank() != 2 || rois.shape()[1] != 5 || bins.size() != 2)
    return node.fail(absl::StrCat("regions ", nn::formatShape(rois.shape()), " and pooled_shape ",
                                  nn::formatShape(bins), " do not fit ", nn::formatShape(x.shape())));
  for (int64_t extent : bins)
    if (extent < 1 || extent > maxConstantElements)
      return node.fail(absl::StrCat("pooled_shape holds ", extent, ", outside [1, ", maxConstantElements, "]"));
  const int64_t count = rois.shape()[0];
  mlir::Type element = rois.elementType();
  llvm::SmallVector<Expression> covers; // of a dimension: i1 [regions, bins, elements]
  for (int64_t d = 0; d < 2; ++d) {
    Expression start = roundedAway(rois.slice(1, 2 - d, 1) * scale), end = roundedAway(rois.slice(1, 4 - d, 1) * scale);
    Expression bin = maximum(end - start + 1, 1) / static_cast<double>(bins[static_cast<size_t>(d)]);
    Expression number = countingUp(layers, bins[static_cast<size_t>(d)], element);
    Expression first = (start + floor(number * bin)).unsqueeze(2),
               last = (start + ceil((number + 1) * bin)).unsqueeze(2);
    Expression place = countingUp(layers, x.shape()[2 + d], element);
    covers.push_back(lessEqual(first, place) & less(place, last));
  }
  Expression images = rois.slice(1, 0, 1).reshape({count}).cast(layers.builder().getI32Type());
  Expression y = gather(x, images, 0), least = lowest(layers, x.elementType());
  // [regions, channels, rows, bins, columns], then [regions, channels, bins, bins, rows].
  y = reduceAny(nn::ReduceKind::Max, select(covers[1].unsqueeze(1).unsqueeze(1), y.unsqueeze(3), least), {4}, false);
  y = reduceAny(nn::ReduceKind::Max,
                select(covers[0].unsqueeze(2).unsqueeze(1), y.transpose({0, 1, 3, 2}).unsqueeze(2), least), {4}, false);
  auto isCovered = [&](int64_t d) { return reduceAny(nn::ReduceKind::Max, covers[d], {2}, false); };
  Expression counts = isCovered(0).unsqueeze(2) & isCovered(1).unsqueeze(1);
  node.setResult(select(counts.unsqueeze(1), y, 0));
}

static const Operator table[] = {
    {"MaxPool", 1, newestOpset, 1, 1, maxPool},
    {"AveragePool", 1, newestOpset, 1, 1, averagePool},
    {"LpPool", 2, newestOpset, 1, 1, lpPool},
    {"GlobalAveragePool", 1, newestOpset, 1, 1, globalAveragePool},
    {"GlobalMaxPool", 1, newestOpset, 1, 1, globalMaxPool},
    {"GlobalLpPool", 2, newestOpset, 1, 1, globalLpPool},
    {"MaxRoiPool", 1, newestOpset, 2, 2, maxRoiPool},
    {"MaxUnpool", 9, newestOpset, 2, 3, maxUnpool, "", "output_shape is known"},
};
llvm::ArrayRef<Operator> poolOperators() { return table; }

} // namespace wsc::import
