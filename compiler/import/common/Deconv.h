// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposed convolution as a convolution of the input as it is: what a stride puts between the places of the input are
// channels of the result first ("sub-pixel" convolution: Shi et al., "Real-Time Single Image and Video Super-Resolution
// Using an Efficient Sub-Pixel Convolutional Neural Network", 2016).
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
///
/// Result element q·stride + p of a dimension is the sum over u of input element q - u times kernel element
/// u·stride + p: a convolution with ⌈kernel / stride⌉ taps for each p, of as many multiply-adds as the kernel's
/// elements ask for.
Expression deconvolve(const Expression &x, const Expression &weight, const Tensor &bias, const Deconvolution &form);

} // namespace wsc::import
