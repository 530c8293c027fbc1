// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The window attributes that convolution and pooling share. auto_pad and ceil_mode become explicit pads.
#pragma once
#include "compiler/import/onnx/NodeContext.h"

namespace wsc::import {

struct SpatialWindow {
  std::vector<int64_t> kernel;
  Window window; ///< over the spatial dimensions of the tensor
  /// What ceil_mode added behind each spatial dimension, beyond the pads the model asks for.
  std::vector<int64_t> overhang;
  bool overhangs() const;
};

/// An attribute with `count` numbers in [low, 2^31), or that many times `otherwise`.
std::vector<int64_t> readExtents(NodeContext &node, const char *name, size_t count, int64_t otherwise, int64_t low);

/// Extents of the window: the attribute kernel_shape, which must agree with `known` where that is not empty.
std::vector<int64_t> readKernel(NodeContext &node, llvm::ArrayRef<int64_t> known);

/// Reads strides, dilations, pads, auto_pad (and ceil_mode, if `pooling`) for a window over the spatial dimensions of
/// `x`, one or more behind [N, C].
SpatialWindow readWindow(NodeContext &node, const Tensor &x, std::vector<int64_t> kernel, bool pooling);

/// nn.conv and nn.pool of a window. One spatial dimension is lifted to two, [N, C, L] to [N, C, 1, L], since images
/// have more kernels.
Expression convolve(const Expression &x, const Expression &weight, const Tensor &bias, const Window &window,
                    int64_t groups);
Expression poolOver(nn::PoolKind kind, const Expression &x, const SpatialWindow &window, bool countIncludePad);

/// The convolution of inputs 0 (tensor), 1 (weight) and 2 (bias, if there) with a node's window attributes and groups.
Expression convolution(NodeContext &node);

/// Number of taps of the window inside [-before, extent + after) of one spatial dimension, for each output place.
std::vector<int64_t> countTaps(const SpatialWindow &window, size_t dimension, int64_t extent, int64_t before,
                               int64_t after);

} // namespace wsc::import
