// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposed convolution as a convolution: zeros between the elements of the input, weights reversed.
#pragma once
#include "compiler/import/common/Functions.h"

namespace wsc::import {

struct Deconvolution {
  std::vector<int64_t> strides, dilations; ///< per spatial dimension
  std::vector<int64_t> before, after;      ///< elements cut off the result, negative ones are added
  int64_t groups = 1;
};

/// Input [N, C, spatial…], weight [C, O/groups, kernel…], bias [O] or null. Each input element adds its kernel, scaled,
/// to the result at stride times its place; extents are (extent - 1)·stride + (kernel - 1)·dilation + 1 - before -
/// after.
Expression deconvolve(const Expression &x, const Expression &weight, const Tensor &bias, const Deconvolution &form);

} // namespace wsc::import
