// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pad in all modes: with a constant, or with elements of the tensor itself (edge, reflected, wrapped around), axis by
// axis. Negative pads remove elements.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"
#include "llvm/ADT/STLExtras.h"

namespace wsc::import {

/// Number in [0, extent) of the element at `position` of the tensor continued in a mode.
static int64_t continued(const std::string &mode, int64_t position, int64_t extent) {
  if (mode == "edge" || extent == 1)
    return std::clamp<int64_t>(position, 0, extent - 1);
  auto wrapped = [&](int64_t period) { return ((position % period) + period) % period; };
  if (mode == "wrap")
    return wrapped(extent);
  int64_t folded = wrapped(2 * (extent - 1)); // reflect
  return folded < extent ? folded : 2 * (extent - 1) - folded;
}

static void pad(NodeContext &node) {
  Expression x = node.in(0);
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
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    node.fail(absl::StrCat("mode '", mode, "' is none of constant, reflect, edge, wrap"));
  if (node.failed())
    return;
  llvm::SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t before = pads[i], after = pads[axes.size() + i], axis = axes[i], extent = x.shape()[axis];
    int64_t removedBefore = std::max<int64_t>(-std::max(before, -extent), 0);
    int64_t removedAfter = std::max<int64_t>(-std::max(after, -extent), 0);
    if (removedBefore + removedAfter > extent)
      return node.fail(absl::StrCat("pads ", before, " and ", after, " remove more than the extent ", extent,
                                    " of dimension ", axis));
    if (std::max(before, after) > nn::maxExtent)
      return node.fail(absl::StrCat("pads ", before, " and ", after, " of dimension ", axis, " are more than ",
                                    nn::maxExtent, " elements"));
    x = x.slice(axis, removedBefore, extent - removedBefore - removedAfter);
    low[axis] = std::max<int64_t>(before, 0);
    high[axis] = std::max<int64_t>(after, 0);
    if (mode == "constant" || low[axis] + high[axis] == 0)
      continue;
    int64_t kept = x.shape()[axis];
    if (kept == 0 || low[axis] + high[axis] > maxLiteralElements)
      return node.fail(absl::StrCat("pads ", before, " and ", after, " of dimension ", axis, " of extent ", kept,
                                    " are not valid in mode ", mode));
    auto continuedFrom = [&](int64_t first, int64_t count) {
      std::vector<int64_t> numbers;
      for (int64_t position = first; position < first + count; ++position)
        numbers.push_back(continued(mode, position, kept));
      return picked(x, axis, numbers);
    };
    llvm::SmallVector<Expression> parts;
    if (low[axis] > 0)
      parts.push_back(continuedFrom(-low[axis], low[axis]));
    parts.push_back(x);
    if (high[axis] > 0)
      parts.push_back(continuedFrom(kept, high[axis]));
    x = concat(parts, axis);
  }
  bool grows = mode == "constant" && llvm::any_of(llvm::concat<int64_t>(low, high), [](int64_t v) { return v > 0; });
  node.setResult(grows ? node.layers.pad(x, low, high, value) : x.tensor());
}

static const Operator table[] = {
    {"Pad", 1, 10, 1, 1, pad, "", "pads, constant_value and axes are known"},
    {"Pad", 11, 17, 2, 3, pad, "", "pads, constant_value and axes are known"},
    {"Pad", 18, newestOpset, 2, 4, pad, "", "pads, constant_value and axes are known"},
};
llvm::ArrayRef<Operator> padOperators() { return table; }

} // namespace wsc::import
