// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools and their gradients. The gradient of a maximum goes to the first element of its window that reaches it: for
// each tap of the window, in row-major order, the elements under it are a strided slice of the padded input, and the
// part of the gradient that belongs to them goes back to the same places. That of an average is a transposed
// convolution with ones of the gradient divided by the number of elements.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Deconv.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/ops/Layout.h"
#include "compiler/import/tf/ops/Taps.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

using Extents = llvm::SmallVector<int64_t>;

/// Kernel and window of a pool over `x`, channels first.
SpatialWindow readPool(NodeContext &node, llvm::ArrayRef<int64_t> x, bool channelsLast) {
  if (x.size() < 4) {
    node.fail(absl::StrCat("needs images [N, H, W, C], found ", nn::formatShape(x)));
    return {};
  }
  std::vector<int64_t> kernel = readSpatial(node, "ksize", static_cast<int64_t>(x.size()), channelsLast, 1);
  if (node.failed())
    return {};
  return readWindow(node, x.drop_front(2), std::move(kernel), channelsLast);
}

template <nn::PoolKind kind> void pool(NodeContext &node) {
  Expression x = node.in(0);
  const bool last = readChannelsLastOrJs(node, x.rank());
  if (node.failed())
    return;
  Expression input = toChannelsFirst(x, last);
  SpatialWindow window = readPool(node, input.shape(), last);
  if (!node.failed())
    node.setResult(fromChannelsFirst(poolOver(kind, input, window, false), last));
}

/// An axis' elements with `stride` - 1 zeros between neighbours, `low` in front, `extent` in all.
Expression spreadAlong(const Expression &x, int64_t axis, int64_t stride, int64_t low, int64_t extent) {
  Expression y = x;
  if (stride > 1 && x.shape()[axis] > 0 && !x.layers().failed()) {
    Extents shape(x.shape());
    shape[axis] *= stride;
    y = x.unsqueeze(axis + 1).pad(axis + 1, 0, stride - 1).reshape(shape).slice(axis, 0, shape[axis] - stride + 1);
  }
  return y.layers().failed() ? y : y.pad(axis, low, extent - low - y.shape()[axis]);
}

/// original input, original output, gradient
void maxPoolGrad(NodeContext &node) {
  const bool last = readChannelsLast(node, node.input(0).rank());
  Expression x = toChannelsFirst(node.in(0), last), y = toChannelsFirst(node.in(1), last),
             dy = toChannelsFirst(node.in(2), last);
  SpatialWindow window = readPool(node, x.shape(), last);
  if (node.failed())
    return;
  const size_t rank = window.kernel.size();
  const Window &w = window.window;
  llvm::ArrayRef<int64_t> spatial = x.shape().drop_front(2);
  if (y.rank() != x.rank() || y.shape() != dy.shape() ||
      y.shape().drop_front(2) != llvm::ArrayRef<int64_t>(outputExtents(window, spatial)))
    return node.fail(absl::StrCat("gradient ", nn::formatShape(node.input(2).shape()), " does not fit the pool of ",
                                  nn::formatShape(node.input(0).shape())));
  if (productOf(window.kernel) > mostTaps)
    return node.unsupported(absl::StrCat("windows of more than ", mostTaps, " elements are not supported"));
  Expression padded = paddedBy(x, window, lowest(node.layers, x.elementType())); // with what is no maximum
  std::optional<Expression> taken, sum;
  Extents tap(rank, 0);
  do {
    Expression part = underTap(padded, window, tap, y.shape().drop_front(2));
    Expression isBest = equal(part, y), isFirst = taken ? isBest & logicalNot(*taken) : isBest;
    taken = taken ? *taken | isBest : isBest;
    Expression share = select(isFirst, dy, 0);
    for (size_t d = 0; d < rank && !node.failed(); ++d)
      share = spreadAlong(share, static_cast<int64_t>(2 + d), w.strides[d], tap[d],
                          padded.shape()[static_cast<int64_t>(2 + d)]);
    sum = sum ? *sum + share : share;
  } while (!node.failed() && nextTap(tap, window.kernel));
  if (node.failed())
    return;
  Expression dx = *sum;
  for (size_t d = 0; d < rank; ++d)
    dx = dx.slice(static_cast<int64_t>(2 + d), w.pads[d], spatial[d]);
  node.setResult(fromChannelsFirst(dx, last));
}

/// The operator with the attributes ksize and strides where these are inputs from `first` on.
void withWindowInputs(NodeContext &node, size_t first, Handler handler) {
  std::vector<int64_t> kernel = node.constantInts(first, "ksize"), strides = node.constantInts(first + 1, "strides");
  if (node.failed())
    return;
  wsc::tf::NodeDef def = node.node();
  for (auto [name, numbers] : {std::pair("ksize", &kernel), std::pair("strides", &strides)}) {
    wsc::tf::AttrEntry &entry = *def.add_attr();
    entry.set_key(name);
    for (int64_t number : *numbers)
      entry.mutable_value()->mutable_list()->add_i(number);
  }
  NodeContext with(def, node.layers, node.reader(), node.machine, node.values());
  handler(with);
  node.ignoreAttributes({"data_format", "padding", "explicit_paddings"});
  for (Value &value : with.takeResults())
    node.setResult(std::move(value));
}
void maxPoolV2(NodeContext &node) { withWindowInputs(node, 1, pool<nn::PoolKind::Max>); }
void maxPoolGradV2(NodeContext &node) { withWindowInputs(node, 3, maxPoolGrad); }

/// original input, original output, gradient of the input: of each window what belongs to the element taken
void maxPoolGradGrad(NodeContext &node) {
  const bool last = readChannelsLast(node, node.input(0).rank());
  Expression x = toChannelsFirst(node.in(0), last), y = toChannelsFirst(node.in(1), last),
             dx = toChannelsFirst(node.in(2), last);
  SpatialWindow window = readPool(node, x.shape(), last);
  if (node.failed())
    return;
  if (y.rank() != x.rank() || x.shape() != dx.shape() ||
      y.shape().drop_front(2) != llvm::ArrayRef<int64_t>(outputExtents(window, x.shape().drop_front(2))))
    return node.fail(absl::StrCat("gradient ", nn::formatShape(node.input(2).shape()), " does not fit the pool of ",
                                  nn::formatShape(node.input(0).shape())));
  if (productOf(window.kernel) > mostTaps)
    return node.unsupported(absl::StrCat("windows of more than ", mostTaps, " elements are not supported"));
  Expression padded = paddedBy(x, window, lowest(node.layers, x.elementType()));
  Expression gradient = paddedBy(dx, window, dx.number(0));
  std::optional<Expression> taken, result;
  Extents tap(window.kernel.size(), 0);
  do {
    Expression isBest = equal(underTap(padded, window, tap, y.shape().drop_front(2)), y);
    Expression isFirst = taken ? isBest & logicalNot(*taken) : isBest;
    Expression part = underTap(gradient, window, tap, y.shape().drop_front(2));
    taken = taken ? *taken | isBest : isBest;
    result = result ? select(isFirst, part, *result) : select(isFirst, part, 0);
  } while (!node.failed() && nextTap(tap, window.kernel));
  if (!node.failed())
    node.setResult(fromChannelsFirst(*result, last));
}

/// shape of the original input, gradient
void avgPoolGrad(NodeContext &node) {
  std::vector<int64_t> shape = node.constantInts(0, "the input's shape");
  for (int64_t extent : shape)
    if (extent < 1 || extent >= (int64_t{1} << 31))
      node.fail(absl::StrCat("the input's shape ", nn::formatShape(shape), " has an extent outside [1, 2^31)"));
  const bool last = readChannelsLast(node, static_cast<int64_t>(shape.size()));
  Extents input = toChannelsFirst(shape, last);
  Expression dy = toChannelsFirst(node.in(1), last);
  SpatialWindow window = readPool(node, input, last);
  if (node.failed())
    return;
  const size_t rank = window.kernel.size();
  llvm::ArrayRef<int64_t> spatial = llvm::ArrayRef<int64_t>(input).drop_front(2);
  if (dy.rank() != static_cast<int64_t>(input.size()) ||
      dy.shape().drop_front(2) != llvm::ArrayRef<int64_t>(outputExtents(window, spatial)) || dy.shape()[1] != input[1])
    return node.fail(absl::StrCat("gradient ", nn::formatShape(node.input(1).shape()), " does not fit the pool of ",
                                  nn::formatShape(shape)));
  Deconvolution form;
  form.groups = input[1];
  Extents weight{input[1], 1};
  for (size_t d = 0; d < rank; ++d) {
    std::vector<int64_t> counts = countTaps(window, d, spatial[d], 0, 0);
    Extents along(rank, 1);
    along[d] = static_cast<int64_t>(counts.size());
    dy = dy / constant(node.layers, along, std::vector<double>(counts.begin(), counts.end()), dy.elementType());
    if (node.failed())
      return;
    form.strides.push_back(window.window.strides[d]);
    form.dilations.push_back(1);
    form.before.push_back(window.window.pads[d]);
    const int64_t whole = (dy.shape()[2 + d] - 1) * form.strides[d] + window.kernel[d];
    form.after.push_back(whole - spatial[d] - form.before[d]);
    weight.push_back(window.kernel[d]);
  }
  Expression ones = dy.number(1).broadcast(weight);
  node.setResult(fromChannelsFirst(deconvolve(dy, ones, {}, form), last));
}

} // namespace

static const Operator table[] = {
    {"MaxPool", 1, 1, pool<nn::PoolKind::Max>},   {"MaxPoolV2", 3, 3, maxPoolV2},
    {"MaxPool3D", 1, 1, pool<nn::PoolKind::Max>}, {"AvgPool", 1, 1, pool<nn::PoolKind::Avg>},
    {"AvgPool3D", 1, 1, pool<nn::PoolKind::Avg>}, {"MaxPoolGrad", 3, 3, maxPoolGrad},
    {"MaxPool3DGrad", 3, 3, maxPoolGrad},         {"AvgPoolGrad", 2, 2, avgPoolGrad},
    {"AvgPool3DGrad", 2, 2, avgPoolGrad},         {"MaxPoolGradV2", 5, 5, maxPoolGradV2},
    {"MaxPoolGradGrad", 3, 3, maxPoolGradGrad},   {"MaxPool3DGradGrad", 3, 3, maxPoolGradGrad},
};
llvm::ArrayRef<Operator> poolOperators() { return table; }

} // namespace wsc::import::tf
