// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions and their gradients. The gradient with respect to the input is a transposed convolution; that with
// respect to the filter a convolution of the input, images being its channels, with the result's gradient, whose
// elements lie as far apart as the strides.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Deconv.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/ops/Layout.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

using Extents = llvm::SmallVector<int64_t>;

/// A depthwise filter [kernel…, C, M] as one of C groups, [kernel…, 1, C·M], and back.
Expression joinDepth(const Expression &filter) {
  Extents shape(filter.shape());
  if (shape.size() < 3)
    return filter;
  shape.back() *= shape[shape.size() - 2];
  shape[shape.size() - 2] = 1;
  return filter.reshape(shape);
}

/// Extents of a filter as joinDepth gives it.
Extents joinDepth(llvm::ArrayRef<int64_t> filter) {
  Extents shape(filter);
  shape.back() *= shape[shape.size() - 2];
  shape[shape.size() - 2] = 1;
  return shape;
}

/// Checks extents of input channels and filter; gives the number of groups.
int64_t groupsOf(NodeContext &node, llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> filter) {
  const bool fits = input.size() == filter.size() && input.size() >= 4;
  const int64_t perGroup = fits ? filter[filter.size() - 2] : 0;
  if (!fits || perGroup < 1 || input[1] % perGroup != 0 || input[1] == 0) {
    node.fail(absl::StrCat("input [N, C, …] ", nn::formatShape(input), " and filter [kernel, I, O] ",
                           nn::formatShape(filter), " do not fit"));
    return 0;
  }
  const int64_t groups = input[1] / perGroup;
  if (filter.back() % groups != 0)
    node.fail(absl::StrCat("filter ", nn::formatShape(filter), " does not divide into ", groups, " groups"));
  return groups;
}

/// Extents that an input gives; fails where one is no extent.
std::vector<int64_t> extentsIn(NodeContext &node, size_t i, const char *what) {
  std::vector<int64_t> extents = node.constantInts(i, what);
  for (int64_t extent : extents)
    if (extent < 1 || extent >= (int64_t{1} << 31))
      node.fail(absl::StrCat(what, " ", nn::formatShape(extents), " hold ", extent, ", which is outside [1, 2^31)"));
  return extents;
}

std::vector<int64_t> kernelOf(llvm::ArrayRef<int64_t> filter) { return filter.drop_back(2).vec(); }

template <bool isDepthwise> void conv(NodeContext &node) {
  Expression x = node.in(0), filter = node.in(1);
  const bool last = readChannelsLast(node, x.rank());
  if (node.failed())
    return;
  if (isDepthwise)
    filter = joinDepth(filter);
  Expression input = toChannelsFirst(x, last);
  const int64_t groups = groupsOf(node, input.shape(), filter.shape());
  if (node.failed())
    return;
  SpatialWindow window = readWindow(node, input.shape().drop_front(2), kernelOf(filter.shape()), last);
  if (!node.failed())
    node.setResult(fromChannelsFirst(convolve(input, filterFirst(filter), {}, window.window, groups), last));
}

/// input_sizes (the shape itself, or with two numbers the spatial extents), filter, gradient.
template <bool isDepthwise> void convBackpropInput(NodeContext &node) {
  std::vector<int64_t> sizes = extentsIn(node, 0, "input_sizes");
  Expression filter = node.in(1), dy = node.in(2);
  const bool last = readChannelsLast(node, dy.rank());
  if (node.failed())
    return;
  if (isDepthwise)
    filter = joinDepth(filter);
  Expression gradient = toChannelsFirst(dy, last);
  if (static_cast<int64_t>(sizes.size()) == dy.rank() - 2 && !isDepthwise && filter.rank() == dy.rank()) {
    sizes.insert(last ? sizes.end() : sizes.begin(), filter.shape()[filter.rank() - 2]);
    sizes.insert(sizes.begin(), dy.shape()[0]);
  }
  Extents input = toChannelsFirst(sizes, last);
  const int64_t groups = groupsOf(node, input, filter.shape());
  if (node.failed())
    return;
  llvm::ArrayRef<int64_t> spatial = llvm::ArrayRef<int64_t>(input).drop_front(2);
  SpatialWindow window = readWindow(node, spatial, kernelOf(filter.shape()), last);
  if (node.failed())
    return;
  if (llvm::ArrayRef<int64_t>(outputExtents(window, spatial)) != gradient.shape().drop_front(2) ||
      gradient.shape()[1] != filter.shape().back())
    return node.fail(absl::StrCat("the gradient ", nn::formatShape(dy.shape()), " is not the result's of input ",
                                  nn::formatShape(sizes), " and filter ", nn::formatShape(filter.shape())));
  Deconvolution form;
  form.groups = groups;
  const size_t rank = spatial.size();
  for (size_t d = 0; d < rank; ++d) {
    form.strides.push_back(window.window.strides[d]);
    form.dilations.push_back(window.window.dilations[d]);
    const int64_t whole =
        (gradient.shape()[2 + d] - 1) * form.strides[d] + (window.kernel[d] - 1) * form.dilations[d] + 1;
    form.before.push_back(window.window.pads[d]);
    form.after.push_back(whole - spatial[d] - form.before[d]);
  }
  node.setResult(fromChannelsFirst(deconvolve(gradient, filterFirst(filter), {}, form), last));
}

/// input, filter_sizes, gradient.
template <bool isDepthwise> void convBackpropFilter(NodeContext &node) {
  Expression x = node.in(0), dy = node.in(2);
  std::vector<int64_t> sizes = extentsIn(node, 1, "filter_sizes");
  const bool last = readChannelsLast(node, x.rank());
  if (node.failed())
    return;
  if (static_cast<int64_t>(sizes.size()) != x.rank() || x.rank() != dy.rank() || x.rank() < 4)
    return node.fail(absl::StrCat("filter_sizes ", nn::formatShape(sizes), " do not fit ", nn::formatShape(x.shape())));
  Extents filter = isDepthwise ? joinDepth(sizes) : Extents(sizes.begin(), sizes.end());
  Expression input = toChannelsFirst(x, last), gradient = toChannelsFirst(dy, last);
  const int64_t groups = groupsOf(node, input.shape(), filter);
  if (node.failed())
    return;
  llvm::ArrayRef<int64_t> spatial = input.shape().drop_front(2);
  SpatialWindow window = readWindow(node, spatial, kernelOf(filter), last);
  if (node.failed())
    return;
  if (llvm::ArrayRef<int64_t>(outputExtents(window, spatial)) != gradient.shape().drop_front(2) ||
      gradient.shape()[0] != input.shape()[0] || gradient.shape()[1] != filter.back())
    return node.fail(absl::StrCat("the gradient ", nn::formatShape(dy.shape()), " is not the result's of input ",
                                  nn::formatShape(x.shape()), " and filter ", nn::formatShape(sizes)));
  // Images [N, g·I, …] as [I, g·N, …], gradients [N, O, …] as weights [O, N, …].
  const int64_t images = input.shape()[0], perGroup = input.shape()[1] / groups;
  const size_t rank = spatial.size();
  Extents split{images, groups, perGroup}, order{2, 1, 0}, joined{perGroup, groups * images}, swap{1, 0};
  Window turned;
  turned.strides.assign(window.window.dilations.begin(), window.window.dilations.end());
  turned.dilations.assign(window.window.strides.begin(), window.window.strides.end());
  turned.pads.assign(2 * rank, 0);
  for (size_t d = 0; d < rank; ++d) {
    split.push_back(spatial[d]);
    joined.push_back(spatial[d]);
    order.push_back(static_cast<int64_t>(3 + d));
    swap.push_back(static_cast<int64_t>(2 + d));
    const int64_t reach = (gradient.shape()[2 + d] - 1) * window.window.strides[d] + 1;
    turned.pads[d] = window.window.pads[d];
    turned.pads[rank + d] =
        (window.kernel[d] - 1) * window.window.dilations[d] + reach - spatial[d] - window.window.pads[d];
  }
  Expression rows = input.reshape(split).transpose(order).reshape(joined);
  Expression weight = convolve(rows, gradient.transpose(swap), {}, turned, groups); // [I, O, kernel…]
  node.setResult(filterLast(weight.transpose(swap)).reshape(sizes));
}

} // namespace

static const Operator table[] = {
    {"Conv2D", 2, 2, conv<false>},
    {"Conv3D", 2, 2, conv<false>},
    {"DepthwiseConv2dNative", 2, 2, conv<true>},
    {"Conv2DBackpropInput", 3, 3, convBackpropInput<false>},
    {"Conv3DBackpropInputV2", 3, 3, convBackpropInput<false>},
    {"DepthwiseConv2dNativeBackpropInput", 3, 3, convBackpropInput<true>},
    {"Conv2DBackpropFilter", 3, 3, convBackpropFilter<false>},
    {"Conv3DBackpropFilterV2", 3, 3, convBackpropFilter<false>},
    {"DepthwiseConv2dNativeBackpropFilter", 3, 3, convBackpropFilter<true>},
};
llvm::ArrayRef<Operator> convOperators() { return table; }

} // namespace wsc::import::tf
