// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats rounded to the numbers that integers of few bits stand for, and the gradients of that, which pass inside of
// the range.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

/// The range moved so that 0 is a number of it, and the distance of neighbours.
struct Grid {
  Expression low, high, scale;
};

/// Attributes num_bits and narrow_range, and the ends of the range.
Grid gridOf(NodeContext &node, const Expression &low, const Expression &high) {
  Grid grid{low, high, low};
  const int64_t bits = node.intAttribute("num_bits", 8);
  const bool isNarrow = node.boolAttribute("narrow_range", false);
  if (node.failed())
    return grid;
  if (bits < 2 || bits > 16) {
    node.fail(absl::StrCat("num_bits ", bits, " is outside [2, 16]"));
    return grid;
  }
  auto from = node.layers.literal(low), to = node.layers.literal(high);
  for (size_t i = 0; from && to && i < std::min(from->floats.size(), to->floats.size()); ++i)
    if (!(from->floats[i] <= 0 && to->floats[i] >= 0 && from->floats[i] < to->floats[i])) {
      node.fail(absl::StrCat("the range [", from->floats[i], ", ", to->floats[i], "] does not hold 0"));
      return grid;
    }
  const double least = isNarrow ? 1 : 0, most = static_cast<double>((int64_t{1} << bits) - 1);
  grid.scale = (high - low) / (most - least);
  Expression zero = minimum(maximum(floor(least - low / grid.scale + 0.5), least), most);
  grid.low = (least - zero) * grid.scale;
  grid.high = (most - zero) * grid.scale;
  return grid;
}

void fakeQuantize(NodeContext &node, const Expression &x, const Expression &low, const Expression &high) {
  Grid grid = gridOf(node, low, high);
  if (!node.failed())
    node.setResult(floor((minimum(maximum(x, grid.low), grid.high) - grid.low) / grid.scale + 0.5) * grid.scale +
                   grid.low);
}

void fakeQuantizeArgs(NodeContext &node) {
  const double low = node.floatAttribute("min", -6), high = node.floatAttribute("max", 6);
  Expression x = node.in(0);
  if (!node.failed())
    fakeQuantize(node, x, x.number(low), x.number(high));
}
void fakeQuantizeVars(NodeContext &node) { fakeQuantize(node, node.in(0), node.in(1), node.in(2)); }

void fakeQuantizeArgsGradient(NodeContext &node) {
  const double low = node.floatAttribute("min", -6), high = node.floatAttribute("max", 6);
  Expression g = node.in(0), x = node.in(1);
  if (node.failed())
    return;
  Grid grid = gridOf(node, x.number(low), x.number(high));
  if (!node.failed())
    node.setResult(select(lessEqual(grid.low, x) & lessEqual(x, grid.high), g, 0));
}

/// Gradients of the input and of both ends of the range: what lies outside belongs to the end. `perChannel`: a range
/// for each channel, which is last.
template <bool perChannel> void fakeQuantizeVarsGradient(NodeContext &node) {
  Expression g = node.in(0), x = node.in(1), low = node.in(2), high = node.in(3);
  if (node.failed())
    return;
  Grid grid = gridOf(node, low, high);
  if (node.failed())
    return;
  Expression isBelow = less(x, grid.low), isAbove = less(grid.high, x);
  const llvm::SmallVector<int64_t> axes = axesBetween(0, perChannel ? x.rank() - 1 : x.rank());
  auto summed = [&](const Expression &part) { return axes.empty() ? part : sumOver(part, axes, /*keepdims=*/false); };
  node.setResult(0, select(isBelow | isAbove, 0, g));
  node.setResult(1, summed(select(isBelow, g, 0)));
  node.setResult(2, summed(select(isAbove, g, 0)));
}

/// Rounded to integers of num_bits and back, the scale being that of the end which needs the most. A range that is
/// given and num_bits are inputs from 1 on, or attributes.
void quantizeAndDequantize(NodeContext &node, bool rangeInputs, bool bitsInput) {
  const bool isSigned = node.boolAttribute("signed_input", true);
  const bool isGiven = node.boolAttribute("range_given", false);
  const double ends[] = {rangeInputs ? 0 : node.floatAttribute("input_min", 0),
                         rangeInputs ? 0 : node.floatAttribute("input_max", 0)};
  const bool isNarrow = node.boolAttribute("narrow_range", false);
  const int64_t axis = node.intAttribute("axis", -1);
  const std::string mode = node.stringAttribute("round_mode", "HALF_TO_EVEN");
  const int64_t bits = bitsInput ? node.constantInt(3, "num_bits") : node.intAttribute("num_bits", 8);
  Expression x = node.in(0);
  if (node.failed())
    return;
  if (bits < 2 || bits > 24 || axis < -1 || axis >= x.rank())
    return node.fail(absl::StrCat("num_bits ", bits, " or axis ", axis, " are not valid"));
  if (mode != "HALF_TO_EVEN" && mode != "HALF_UP")
    return node.fail(absl::StrCat("round_mode '", mode, "' is none of HALF_TO_EVEN, HALF_UP"));
  llvm::SmallVector<int64_t> along(x.rank(), 1), axes;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d == axis)
      along[d] = x.shape()[d];
    else
      axes.push_back(d);
  auto end = [&](size_t i, nn::ReduceKind kind) {
    if (isGiven && !rangeInputs)
      return x.number(ends[i - 1]);
    if (isGiven)
      return axis < 0 ? node.in(i) : node.in(i).reshape(along);
    return axes.empty() ? x : reduce(kind, x, axes);
  };
  Expression low = end(1, nn::ReduceKind::Min), high = end(2, nn::ReduceKind::Max);
  const double most = static_cast<double>((int64_t{1} << (isSigned ? bits - 1 : bits)) - 1);
  const double least = isSigned ? (isNarrow ? -most : -most - 1) : 0;
  // Distance of neighbours that the least and the greatest element need.
  Expression fromLow = least < 0 ? maximum(low / least, 0) : low.filled(0), fromHigh = maximum(high / most, 0);
  Expression distance = maximum(fromLow, fromHigh), isNone = lessEqual(distance, 0);
  distance = select(isNone, 1, distance);
  Expression number = x / distance;
  if (isGiven) {
    Expression isFromLow = less(fromHigh, fromLow);
    Expression from = select(isFromLow, low, distance * least), to = select(isFromLow, distance * most, high);
    number = minimum(maximum(x, from), to) / distance;
  }
  Expression rounded = mode == "HALF_UP" ? floor(number + 0.5) : round(number);
  node.setResult(select(isNone, x, rounded * distance));
}

} // namespace

static const Operator table[] = {
    {"FakeQuantWithMinMaxArgs", 1, 1, fakeQuantizeArgs},
    {"FakeQuantWithMinMaxVars", 3, 3, fakeQuantizeVars},
    {"FakeQuantWithMinMaxVarsPerChannel", 3, 3, fakeQuantizeVars},
    {"FakeQuantWithMinMaxArgsGradient", 2, 2, fakeQuantizeArgsGradient},
    {"FakeQuantWithMinMaxVarsGradient", 4, 4, fakeQuantizeVarsGradient<false>,
     "backprops_wrt_input,backprop_wrt_min,backprop_wrt_max"},
    {"FakeQuantWithMinMaxVarsPerChannelGradient", 4, 4, fakeQuantizeVarsGradient<true>,
     "backprops_wrt_input,backprop_wrt_min,backprop_wrt_max"},
    {"QuantizeAndDequantize", 1, 1, [](NodeContext &node) { quantizeAndDequantize(node, false, false); }},
    {"QuantizeAndDequantizeV2", 3, 3, [](NodeContext &node) { quantizeAndDequantize(node, true, false); }},
    {"QuantizeAndDequantizeV3", 4, 4, [](NodeContext &node) { quantizeAndDequantize(node, true, true); }},
    {"QuantizeAndDequantizeV4", 3, 3, [](NodeContext &node) { quantizeAndDequantize(node, true, false); }},
};
llvm::ArrayRef<Operator> quantizeOperators() { return table; }

} // namespace wsc::import::tf
