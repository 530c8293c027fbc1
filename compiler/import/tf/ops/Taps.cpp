// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of windows that are no convolution and no pool: the greatest sum of a window and a filter, the place of the
// greatest element. See Taps.h.
#include "compiler/import/tf/ops/Taps.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/ops/Layout.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {

using Extents = llvm::SmallVector<int64_t>;

Expression paddedBy(const Expression &x, const SpatialWindow &window, const Expression &filler) {
  Expression padded = x;
  const size_t rank = window.kernel.size();
  for (size_t d = 0; d < rank && !x.layers().failed(); ++d) {
    const int64_t axis = static_cast<int64_t>(2 + d);
    Extents low(padded.shape()), high(padded.shape());
    low[axis] = window.window.pads[d];
    high[axis] = window.window.pads[rank + d];
    std::vector<Expression> parts;
    if (low[axis] > 0)
      parts.push_back(filler.broadcast(low));
    parts.push_back(padded);
    if (high[axis] > 0)
      parts.push_back(filler.broadcast(high));
    if (parts.size() > 1)
      padded = concat(parts, axis);
  }
  return padded;
}

Expression underTap(const Expression &padded, const SpatialWindow &window, llvm::ArrayRef<int64_t> tap,
                    llvm::ArrayRef<int64_t> output) {
  Expression part = padded;
  const Window &w = window.window;
  for (size_t d = 0; d < tap.size(); ++d) {
    const int64_t axis = static_cast<int64_t>(2 + d), count = output[d],
                  dilation = w.dilations.empty() ? 1 : w.dilations[d];
    part = part.slice(axis, tap[d] * dilation, (count - 1) * w.strides[d] + 1).slice(axis, 0, count, w.strides[d]);
  }
  return part;
}

bool nextTap(llvm::MutableArrayRef<int64_t> tap, llvm::ArrayRef<int64_t> kernel) {
  for (size_t d = tap.size(); d-- > 0;) {
    if (++tap[d] < kernel[d])
      return true;
    tap[d] = 0;
  }
  return false;
}

namespace {

bool isSmall(NodeContext &node, const SpatialWindow &window) {
  if (!node.failed() && productOf(window.kernel) > mostTaps)
    node.unsupported(absl::StrCat("windows of more than ", mostTaps, " elements are not supported"));
  return !node.failed();
}

/// max over the window of x + filter, [kernel…, C]
void dilation(NodeContext &node) {
  Expression x = node.in(0), filter = node.in(1);
  std::vector<int64_t> rates = node.intsAttribute("rates");
  if (node.failed())
    return;
  if (x.rank() != 4 || filter.rank() != 3 || filter.shape()[2] != x.shape()[3])
    return node.fail(
        absl::StrCat("filter ", nn::formatShape(filter.shape()), " does not fit ", nn::formatShape(x.shape())));
  wsc::tf::NodeDef def = node.node();
  wsc::tf::AttrEntry &entry = *def.add_attr();
  entry.set_key("dilations");
  for (int64_t rate : rates)
    entry.mutable_value()->mutable_list()->add_i(rate);
  NodeContext with(def, node.layers, node.reader(), node.machine, {});
  node.ignoreAttributes({"strides", "padding"});
  Expression input = toChannelsFirst(x, true);
  SpatialWindow window =
      readWindow(with, input.shape().drop_front(2), filter.shape().drop_back(1).vec(), /*channelsLast=*/true);
  if (!isSmall(node, window))
    return;
  const std::vector<int64_t> output = outputExtents(window, input.shape().drop_front(2));
  Expression padded = paddedBy(input, window, lowest(node.layers, x.elementType()));
  std::optional<Expression> best;
  Extents tap(2, 0);
  do {
    Expression weight = filter.slice(0, tap[0], 1).slice(1, tap[1], 1).reshape({x.shape()[3], 1, 1});
    Expression sum = underTap(padded, window, tap, output) + weight;
    best = best ? maximum(*best, sum) : sum;
  } while (nextTap(tap, window.kernel) && !node.failed());
  node.setResult(fromChannelsFirst(*best, true));
}

/// The greatest element of each window and its number (y · W + x) · C + c, with the image's in front if asked for.
void maxPoolWithArgmax(NodeContext &node) {
  const bool withBatch = node.boolAttribute("include_batch_in_index", false);
  mlir::Type element = node.typeAttribute("Targmax", wsc::tf::DT_INT64);
  Expression x = node.in(0);
  if (node.failed())
    return;
  if (x.rank() != 4)
    return node.fail(absl::StrCat("needs images [N, H, W, C], found ", nn::formatShape(x.shape())));
  Expression input = toChannelsFirst(x, true);
  SpatialWindow window = readWindow(node, input.shape().drop_front(2), readSpatial(node, "ksize", 4, true, 1), true);
  if (!isSmall(node, window))
    return;
  const std::vector<int64_t> output = outputExtents(window, input.shape().drop_front(2));
  const int64_t channels = x.shape()[3], width = x.shape()[2], height = x.shape()[1];
  auto along = [&](int64_t count, int64_t axis) { return numbersAlong(node.layers, count, axis, 4, node.i32()); };
  Expression number = along(channels, 1);
  if (withBatch)
    number = number + along(x.shape()[0], 0) * (height * width * channels);
  Expression padded = paddedBy(input, window, lowest(node.layers, x.elementType()));
  std::optional<Expression> best, place;
  Extents tap(2, 0);
  do {
    Expression part = underTap(padded, window, tap, output);
    Expression row = along(output[0], 2) * window.window.strides[0] + (tap[0] - window.window.pads[0]),
               column = along(output[1], 3) * window.window.strides[1] + (tap[1] - window.window.pads[1]);
    Expression at = ((row * width + column) * channels + number).broadcast(part.shape());
    place = place ? select(less(*best, part), at, *place) : at;
    best = best ? maximum(*best, part) : part;
  } while (nextTap(tap, window.kernel) && !node.failed());
  node.setResult(0, fromChannelsFirst(*best, true));
  node.setResult(1, fromChannelsFirst(*place, true).cast(element));
}

} // namespace

static const Operator table[] = {
    {"Dilation2D", 2, 2, dilation},
    {"MaxPoolWithArgmax", 1, 1, maxPoolWithArgmax, "output,argmax"},
};
llvm::ArrayRef<Operator> tapOperators() { return table; }

} // namespace wsc::import::tf
