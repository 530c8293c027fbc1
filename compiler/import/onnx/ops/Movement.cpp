// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that take tensors apart and put them together.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

using Extents = llvm::SmallVector<int64_t>;

/// Part of a tensor along one axis.
static Tensor sliceAlong(LayerBuilder &layers, const Tensor &x, int64_t axis, int64_t start, int64_t size) {
  Extents starts(x.rank(), 0), sizes(x.shape()), steps(x.rank(), 1);
  starts[axis] = start;
  sizes[axis] = size;
  return layers.slice(x, starts, sizes, steps);
}

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
    node.fail(absl::StrCat("starts, ends, axes and steps have ", starts.size(), ", ", ends.size(), ", ", axes.size(), " and ",
                           steps.size(), " numbers"));
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
    int64_t start = clamp(starts[i], step > 0 ? 0 : std::min<int64_t>(0, extent - 1), high), end = clamp(ends[i], low, high);
    int64_t span = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
    int64_t size = span > 0 ? (span - 1) / stride + 1 : 0;
    from[axes[i]] = size > 0 ? start : 0;
    sizes[axes[i]] = size;
    by[axes[i]] = step;
  }
  node.setResult(node.layers.slice(x, from, sizes, by));
}

/// Constant padding; negative pads remove elements.
static void pad(NodeContext &node) {
  Tensor x = node.input(0);
  std::string mode = node.stringAttribute("mode", "constant");
  std::vector<int64_t> pads, axes;
  double value = 0;
  if (node.opset() < 11) {
    pads = node.intsAttribute(node.opset() < 2 ? "paddings" : "pads");
    value = node.floatAttribute("value", 0);
  } else {
    pads = node.constantInts(1, "pads");
    if (node.hasInput(2))
      value = node.constantScalar(2, "constant_value");
  }
  if (node.hasInput(3))
    axes = node.constantInts(3, "axes");
  else
    for (int64_t d = 0; d < x.rank(); ++d)
      axes.push_back(d);
  axes = node.normalizedAxes(axes, x.rank());
  if (!node.failed() && pads.size() != 2 * axes.size())
    node.fail(absl::StrCat("needs ", 2 * axes.size(), " pads, found ", pads.size()));
  if (node.failed())
    return;
  if (mode != "constant")
    return node.unsupported(absl::StrCat("mode '", mode, "' is not supported; constant is"));
  Extents low(x.rank(), 0), high(x.rank(), 0), starts(x.rank(), 0), sizes(x.shape()), steps(x.rank(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t before = pads[i], after = pads[axes.size() + i], d = axes[i], removed = 0;
    low[d] = std::max<int64_t>(before, 0);
    high[d] = std::max<int64_t>(after, 0);
    starts[d] = before < 0 ? -std::max(before, -sizes[d]) : 0;
    removed = starts[d] + (after < 0 ? -std::max(after, -sizes[d]) : 0);
    if (removed > sizes[d])
      return node.fail(absl::StrCat("pads ", before, " and ", after, " remove more than the extent ", sizes[d], " of dimension ", d));
    sizes[d] -= removed;
  }
  Tensor cropped = llvm::ArrayRef<int64_t>(sizes) == x.shape() ? x : node.layers.slice(x, starts, sizes, steps);
  bool grows = llvm::any_of(low, [](int64_t v) { return v > 0; }) || llvm::any_of(high, [](int64_t v) { return v > 0; });
  node.setResult(grows ? node.layers.pad(cropped, low, high, value) : cropped);
}

static void concat(NodeContext &node) {
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
  if (node.opset() < 13)
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
    return node.fail(absl::StrCat("split ", nn::formatShape(sizes), " does not divide extent ", extent, " among ", count, " outputs"));
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    node.setResult(i, count == 1 ? x : sliceAlong(node.layers, x, axis, start, sizes[i]));
    start += sizes[i];
  }
}

/// Negative indices count from the end; nn.gather knows none.
static void gather(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Tensor x = node.input(0), indices = node.input(1);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", 0), x.rank());
  if (node.failed())
    return;
  int64_t extent = x.shape()[axis];
  if (auto known = layers.literal(indices); known && !known->isFloat()) {
    for (int64_t &index : known->ints) {
      if (index < -extent || index >= extent)
        return node.fail(absl::StrCat("index ", index, " is outside [", -extent, ", ", extent, ")"));
      index += index < 0 ? extent : 0;
    }
    indices = layers.fromLiteral(*known);
    // One known index is a slice.
    if (known->size() == 1) {
      Extents shape(x.shape().take_front(axis));
      shape.append(known->type.getShape().begin(), known->type.getShape().end());
      shape.append(x.shape().begin() + axis + 1, x.shape().end());
      return node.setResult(layers.reshape(sliceAlong(layers, x, axis, known->ints[0], 1), shape));
    }
  } else {
    Tensor negative = layers.binary(nn::BinaryKind::Less, indices, 0.0);
    Tensor wrapped = layers.binary(nn::BinaryKind::Add, indices, static_cast<double>(extent));
    indices = layers.select(negative, wrapped, indices);
  }
  node.setResult(layers.gather(x, indices, axis));
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

static const Operator table[] = {
    {"Slice", 1, 9, 1, 1, slice},
    {"Slice", 10, newestOpset, 3, 5, slice},
    {"Pad", 1, 10, 1, 1, pad},
    {"Pad", 11, 17, 2, 3, pad},
    {"Pad", 18, newestOpset, 2, 4, pad},
    {"Concat", 1, newestOpset, 1, anyInputs, concat},
    {"Split", 2, 12, 1, 1, split},
    {"Split", 13, newestOpset, 1, 2, split},
    {"Gather", 1, newestOpset, 2, 2, gather},
    {"DepthToSpace", 1, newestOpset, 1, 1, depthToSpace},
    {"SpaceToDepth", 1, newestOpset, 1, 1, spaceToDepth},
};
llvm::ArrayRef<Operator> movementOperators() { return table; }

} // namespace wsc::import
