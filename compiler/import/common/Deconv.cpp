// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposed convolution; see Deconv.h.
#include "compiler/import/common/Deconv.h"
#include "compiler/import/common/Windows.h"

namespace wsc::import {

/// `stride` - 1 zeros between neighbours along an axis: [.., n, ..] as [.., n, 1, ..], padded to [.., n, stride, ..].
static Expression spread(const Expression &x, int64_t axis, int64_t stride) {
  if (stride == 1 || x.layers().failed() || x.shape()[axis] == 0)
    return x;
  llvm::SmallVector<int64_t> shape(x.shape());
  shape[axis] *= stride;
  return x.unsqueeze(axis + 1).pad(axis + 1, 0, stride - 1).reshape(shape).slice(axis, 0, shape[axis] - stride + 1);
}

Expression deconvolve(const Expression &x, const Expression &weight, const Tensor &bias, const Deconvolution &form) {
  LayerBuilder &layers = x.layers();
  if (layers.failed())
    return x;
  size_t rank = form.strides.size();
  int64_t groups = form.groups, perGroup = weight.shape()[1];
  // [g·C', O', k…] as [g·O', C', k…], reversed.
  llvm::SmallVector<int64_t> split{groups, weight.shape()[0] / groups, perGroup}, order{0, 2, 1},
      joined{groups * perGroup, weight.shape()[0] / groups};
  for (size_t d = 0; d < rank; ++d) {
    split.push_back(weight.shape()[2 + d]);
    order.push_back(static_cast<int64_t>(3 + d));
    joined.push_back(weight.shape()[2 + d]);
  }
  Expression turned = weight.reshape(split).transpose(order).reshape(joined), input = x;
  Window window;
  window.strides.assign(rank, 1);
  window.dilations.assign(form.dilations.begin(), form.dilations.end());
  window.pads.assign(2 * rank, 0);
  for (size_t d = 0; d < rank; ++d) {
    int64_t axis = static_cast<int64_t>(2 + d), reach = (weight.shape()[axis] - 1) * form.dilations[d];
    turned = turned.reverse(axis);
    input = spread(input, axis, form.strides[d]);
    window.pads[d] = reach - form.before[d];
    window.pads[rank + d] = reach - form.after[d];
  }
  return convolve(input, turned, bias, window, groups);
}

} // namespace wsc::import
