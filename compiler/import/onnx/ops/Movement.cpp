// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that take tensors apart and put them together.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

using Extents = llvm::SmallVector<int64_t>;

static void slice(NodeContext &node) {
  Tensor x = node.input(0);
  std::vector<int64_t> starts, ends, axes, steps;
  if (node.opset() < 10) {
    starts = node.intsAttribute("starts");
    ends = node.intsAttribute("ends");
    axes = node.intsAttribute("axes");
  } else {
    starts = node.constantInts(1, "starts");
    ends = node.constantInts(2, "ends");
    if (node.hasInput(3))
      axes = node.constantInts(3, "axes");
    if (node.hasInput(4))
      steps = node.constantInts(4, "steps");
  }
  if (axes.empty())
    for (size_t d = 0; d < starts.size(); ++d)
      axes.push_back(static_cast<int64_t>(d));
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (!node.failed() && (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()))
    node.fail(absl::StrCat("starts, ends, axes and steps have ", starts.size(), ", ", ends.size(), ", ", axes.size(),
                           " and ", steps.size(), " numbers"));
  axes = node.normalizedAxes(axes, x.rank());
  if (node.failed())
    return;
  Extents from(x.rank(), 0), sizes(x.shape()), by(x.rank(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t extent = x.shape()[axes[i]], step = steps[i];
    if (step == 0 || step == std::numeric_limits<int64_t>::min())
      return node.fail(absl::StrCat("step ", step, " is not valid"));
    // Positions count from the end if negative and are clamped: to [0, extent] forwards, to [-1, extent - 1] backwards.
    auto clamp = [&](int64_t position, int64_t low, int64_t high) {
      return std::clamp<int64_t>(position < 0 ? position + extent : position, low, high);
    };
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    int64_t start = clamp(starts[i], step > 0 ? 0 : std::min<int64_t>(0, extent - 1), high),
            end = clamp(ends[i], low, high);
    int64_t span = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
    int64_t size = span > 0 ? (span - 1) / stride + 1 : 0;
    from[axes[i]] = size > 0 ? start : 0;
    sizes[axes[i]] = size;
    by[axes[i]] = step;
  }
  node.setResult(node.layers.slice(x, from, sizes, by));
}

static void concatOf(NodeContext &node) {
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", 1), node.input(0).rank());
  std::vector<Tensor> parts;
  for (size_t i = 0; i < node.inputCount(); ++i)
    parts.push_back(node.input(i));
  if (!node.failed())
    node.setResult(node.layers.concat(parts, axis));
}

static void split(NodeContext &node) {
  Tensor x = node.input(0);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", 0), x.rank());
  std::vector<int64_t> sizes;
  if (node.opset() < 13 && !node.hasInput(1))
    sizes = node.intsAttribute("split");
  else if (node.hasInput(1))
    sizes = node.constantInts(1, "split");
  int64_t count = static_cast<int64_t>(node.outputCount());
  if (node.opset() >= 18 && sizes.empty() && node.intAttribute("num_outputs", count) != count)
    node.fail(absl::StrCat("num_outputs differs from the ", count, " outputs"));
  if (node.failed() || count == 0)
    return;
  int64_t extent = x.shape()[axis];
  if (sizes.empty()) {
    // Since opset 18 the last part may be smaller.
    if (node.opset() < 18 && extent % count != 0)
      return node.fail(absl::StrCat("extent ", extent, " does not split into ", count, " equal parts"));
    int64_t part = (extent + count - 1) / count;
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(std::clamp<int64_t>(extent - i * part, 0, part));
  }
  int64_t sum = 0;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_add_overflow(sum, size, &sum))
      return node.fail(absl::StrCat("split ", nn::formatShape(sizes), " is not valid"));
  if (static_cast<int64_t>(sizes.size()) != count || sum != extent)
    return node.fail(absl::StrCat("split ", nn::formatShape(sizes), " does not divide extent ", extent, " among ",
                                  count, " outputs"));
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    node.setResult(i, node.in(0).slice(axis, start, sizes[i]));
    start += sizes[i];
  }
}

/// Blocks of channels become blocks of pixels. DCR orders channels as [b, b, C'], CRD as [C', b, b].
static void depthToSpace(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Tensor x = node.input(0);
  int64_t block = node.intAttribute("blocksize", 0);
  std::string mode = node.stringAttribute("mode", "DCR");
  if (node.failed())
    return;
  if (x.rank() != 4 || block < 1 || block > 65536 || x.shape()[1] % (block * block) != 0)
    return node.fail(absl::StrCat("blocksize ", block, " does not fit ", nn::formatShape(x.shape())));
  if (mode != "DCR" && mode != "CRD")
    return node.fail(absl::StrCat("mode '", mode, "' is neither DCR nor CRD"));
  int64_t n = x.shape()[0], c = x.shape()[1] / (block * block), h = x.shape()[2], w = x.shape()[3];
  bool dcr = mode == "DCR";
  Tensor y = dcr ? layers.reshape(x, {n, block, block, c, h, w}) : layers.reshape(x, {n, c, block, block, h, w});
  y = dcr ? layers.transpose(y, {0, 3, 4, 1, 5, 2}) : layers.transpose(y, {0, 1, 4, 2, 5, 3});
  node.setResult(layers.reshape(y, {n, c, h * block, w * block}));
}

static void spaceToDepth(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Tensor x = node.input(0);
  int64_t block = node.intAttribute("blocksize", 0);
  if (node.failed())
    return;
  if (x.rank() != 4 || block < 1 || block > 65536 || x.shape()[2] % block != 0 || x.shape()[3] % block != 0)
    return node.fail(absl::StrCat("blocksize ", block, " does not fit ", nn::formatShape(x.shape())));
  int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2] / block, w = x.shape()[3] / block;
  Tensor y = layers.transpose(layers.reshape(x, {n, c, h, block, w, block}), {0, 3, 5, 1, 2, 4});
  node.setResult(layers.reshape(y, {n, c * block * block, h, w}));
}

/// The elements on and below (or above) diagonal k of the last two dimensions, zeros elsewhere.
static void trilu(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0);
  bool upper = node.intAttribute("upper", 1) != 0;
  int64_t k = 0;
  if (node.hasInput(1)) {
    std::vector<int64_t> diagonal = node.constantInts(1, "k");
    if (!node.failed() && diagonal.size() != 1)
      return node.fail("k must be one number");
    k = diagonal.empty() ? 0 : diagonal.front();
  }
  if (node.failed())
    return;
  if (x.rank() < 2)
    return node.fail(absl::StrCat("needs matrices, found ", nn::formatShape(x.shape())));
  int64_t rows = x.shape()[x.rank() - 2], columns = x.shape()[x.rank() - 1];
  mlir::Type i32 = layers.builder().getI32Type();
  Expression row = countingUp(layers, rows, i32).reshape({rows, 1}), column = countingUp(layers, columns, i32);
  if (node.failed())
    return;
  Expression diagonal = row + std::clamp(k, -rows - 1, columns + 1);
  node.setResult(select(upper ? lessEqual(diagonal, column) : lessEqual(column, diagonal), x, x.filled(0)));
}

/// Cropped or padded with zeros around its centre to the extents given; an odd element goes behind.
static void centerCropPad(NodeContext &node) {
  Expression x = node.in(0);
  std::vector<int64_t> shape = node.constantInts(1, "the shape"), axes = node.intsAttribute("axes");
  if (axes.empty())
    for (int64_t d = 0; d < x.rank(); ++d)
      axes.push_back(d);
  axes = node.normalizedAxes(axes, x.rank());
  if (!node.failed() && axes.size() != shape.size())
    node.fail(absl::StrCat("shape ", nn::formatShape(shape), " does not fit the axes ", nn::formatShape(axes)));
  for (size_t i = 0; i < axes.size() && !node.failed(); ++i) {
    int64_t extent = x.shape()[axes[i]], wanted = shape[i];
    if (wanted < 0)
      return node.fail(absl::StrCat("the shape has a negative extent ", wanted));
    if (wanted < extent)
      x = x.slice(axes[i], (extent - wanted) / 2, wanted);
    else
      x = x.pad(axes[i], (wanted - extent) / 2, wanted - extent - (wanted - extent) / 2);
  }
  node.setResult(x);
}

static const Operator table[] = {
    {"Slice", 1, 9, 1, 1, slice, "", "starts, ends, axes and steps are known"},
    {"Slice", 10, newestOpset, 3, 5, slice, "", "starts, ends, axes and steps are known"},
    {"Concat", 1, newestOpset, 1, anyInputs, concatOf},
    {"Split", 1, 1, 1, 2, split, "", "split is known"},
    {"Split", 2, 12, 1, 1, split, "", "split is known"},
    {"Split", 13, newestOpset, 1, 2, split, "", "split is known"},
    {"DepthToSpace", 1, newestOpset, 1, 1, depthToSpace},
    {"SpaceToDepth", 1, newestOpset, 1, 1, spaceToDepth},
    {"Trilu", 14, newestOpset, 1, 2, trilu, "", "k is known"},
    {"CenterCropPad", 18, newestOpset, 2, 2, centerCropPad},
};
llvm::ArrayRef<Operator> movementOperators() { return table; }

} // namespace wsc::import
