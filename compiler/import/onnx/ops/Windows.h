// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The window attributes that ONNX's convolution and pooling share. auto_pad and ceil_mode become explicit pads.
#pragma once
#include "compiler/import/common/Windows.h"
#include "compiler/import/onnx/NodeContext.h"

namespace wsc::import {

/// An attribute with `count` numbers in [low, 2^31), or that many times `otherwise`.
std::vector<int64_t> readExtents(NodeContext &node, const char *name, size_t count, int64_t otherwise, int64_t low);

/// Extents of the window: the attribute kernel_shape, which must agree with `known` where that is not empty.
std::vector<int64_t> readKernel(NodeContext &node, llvm::ArrayRef<int64_t> known);

/// Reads strides, dilations, pads, auto_pad (and ceil_mode, if `pooling`) for a window over the spatial dimensions of
/// `x`, one or more behind [N, C].
SpatialWindow readWindow(NodeContext &node, const Tensor &x, std::vector<int64_t> kernel, bool pooling);

/// The convolution of inputs 0 (tensor), 1 (weight) and 2 (bias, if there) with a node's window attributes and groups.
Expression convolution(NodeContext &node);

} // namespace wsc::import
