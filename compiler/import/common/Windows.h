// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows over spatial dimensions, as convolution and pooling of all front ends have them.
#pragma once
#include "compiler/import/common/Functions.h"

namespace wsc::import {

struct SpatialWindow {
  std::vector<int64_t> kernel;
  Window window; ///< over the spatial dimensions of the tensor
  /// What ceil_mode added behind each spatial dimension, beyond the pads the model asks for.
  std::vector<int64_t> overhang;
  bool overhangs() const;
};

/// nn.conv and nn.pool of a window. One spatial dimension is lifted to two, [N, C, L] to [N, C, 1, L], since images
/// have more kernels.
Expression convolve(const Expression &x, const Expression &weight, const Tensor &bias, const Window &window,
                    int64_t groups);
Expression poolOver(nn::PoolKind kind, const Expression &x, const SpatialWindow &window, bool countIncludePad);

/// Number of taps of the window inside [-before, extent + after) of one spatial dimension, for each output place.
std::vector<int64_t> countTaps(const SpatialWindow &window, size_t dimension, int64_t extent, int64_t before,
                               int64_t after);

} // namespace wsc::import
