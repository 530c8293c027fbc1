// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposed convolution; see Deconv.h.
#include "compiler/import/common/Deconv.h"
#include "compiler/import/common/Windows.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace wsc::import {

/// `dilation` - 1 zeros between neighbours along an axis: [.., n, ..] as [.., n, 1, ..], padded to [.., n, dilation,
/// ..].
static Expression spread(const Expression &x, int64_t axis, int64_t dilation) {
  if (dilation == 1 || x.layers().failed() || x.shape()[axis] == 0)
    return x;
  llvm::SmallVector<int64_t> shape(x.shape());
  shape[axis] *= dilation;
  return x.unsqueeze(axis + 1).pad(axis + 1, 0, dilation - 1).reshape(shape).slice(axis, 0, shape[axis] - dilation + 1);
}

namespace {

/// One spatial dimension: result elements [first·stride, end·stride) are computed, those from `cut` on are asked for.
struct Dimension {
  int64_t stride, taps, first, end, cut, extent;
};

} // namespace

/// Weight [C, O', kernel…] of `groups` groups as [groups·O'·Πstride, C / groups, taps…], taps reversed. Kernels are
/// whole multiples of their strides.
static Expression asChannels(const Expression &weight, llvm::ArrayRef<Dimension> dims, int64_t groups) {
  const int64_t outputs = weight.shape()[1], inputs = weight.shape()[0] / groups;
  llvm::SmallVector<int64_t> split{groups, inputs, outputs}, order{0, 2}, joined{groups * outputs, inputs};
  for (const Dimension &dim : dims) {
    split.append({dim.taps, dim.stride});
    order.push_back(static_cast<int64_t>(split.size()) - 1);
    joined[0] *= dim.stride;
    joined.push_back(dim.taps);
  }
  order.push_back(1);
  for (size_t d = 0; d < dims.size(); ++d)
    order.push_back(static_cast<int64_t>(3 + 2 * d));
  Expression turned = weight.reshape(split).transpose(order).reshape(joined);
  for (size_t d = 0; d < dims.size(); ++d)
    turned = turned.reverse(static_cast<int64_t>(2 + d));
  return turned;
}

/// [N, O·Πstride, places…] as [N, O, extents…].
static Expression asPlaces(const Expression &y, llvm::ArrayRef<Dimension> dims, int64_t outputs) {
  llvm::SmallVector<int64_t> split{y.shape()[0], outputs}, order{0, 1}, joined{y.shape()[0], outputs};
  for (const Dimension &dim : dims)
    split.push_back(dim.stride);
  for (size_t d = 0; d < dims.size(); ++d) {
    split.push_back(y.shape()[2 + d]);
    order.append({static_cast<int64_t>(2 + dims.size() + d), static_cast<int64_t>(2 + d)});
    joined.push_back(y.shape()[2 + d] * dims[d].stride);
  }
  Expression whole = y.reshape(split).transpose(order).reshape(joined);
  for (size_t d = 0; d < dims.size(); ++d)
    whole = whole.slice(static_cast<int64_t>(2 + d), dims[d].cut, dims[d].extent);
  return whole;
}

Expression deconvolve(const Expression &x, const Expression &weight, const Tensor &bias, const Deconvolution &form) {
  LayerBuilder &layers = x.layers();
  if (layers.failed())
    return x;
  const size_t rank = form.strides.size();
  const int64_t outputs = form.groups * weight.shape()[1];
  Expression kernel = weight;
  Window window;
  window.strides.assign(rank, 1);
  window.dilations.assign(rank, 1);
  window.pads.assign(2 * rank, 0);
  llvm::SmallVector<Dimension> dims;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t axis = static_cast<int64_t>(2 + d), stride = form.strides[d], places = x.shape()[axis];
    const int64_t span = (kernel.shape()[axis] - 1) * form.dilations[d] + 1;
    const int64_t extent = (places - 1) * stride + span - form.before[d] - form.after[d];
    // Of dilated kernels with a stride some taps of some results are zeros.
    const int64_t dilation = stride == 1 ? form.dilations[d] : 1;
    if (stride > 1)
      kernel = spread(kernel, axis, form.dilations[d]);
    const int64_t taps = llvm::divideCeil(kernel.shape()[axis], stride);
    kernel = kernel.pad(axis, 0, taps * stride - kernel.shape()[axis]);
    Dimension dim{stride, taps, llvm::divideFloorSigned(form.before[d], stride), 0, 0, extent};
    dim.end = llvm::divideCeilSigned(form.before[d] + extent, stride);
    dim.cut = form.before[d] - dim.first * stride;
    const int64_t reach = (taps - 1) * dilation;
    window.dilations[d] = dilation;
    window.pads[d] = reach - dim.first;
    window.pads[rank + d] = dim.end - places;
    dims.push_back(dim);
  }
  const auto isOne = [](int64_t stride) { return stride == 1; };
  const bool scatters = !llvm::all_of(form.strides, isOne);
  Tensor biases = bias;
  if (bias && scatters) {
    const int64_t each = productOf(form.strides);
    biases = Expression(layers, bias).unsqueeze(1).broadcast({outputs, each}).reshape({outputs * each});
  }
  const Expression y = convolve(x, asChannels(kernel, dims, form.groups), biases, window, form.groups);
  return scatters && !layers.failed() ? asPlaces(y, dims, outputs) : y;
}

} // namespace wsc::import
