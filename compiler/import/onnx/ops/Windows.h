// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The window attributes that convolution and pooling share, brought to two spatial dimensions: a one-dimensional window over [L] becomes
// one over [1, L]. auto_pad and ceil_mode become explicit pads.
#pragma once
#include "compiler/import/onnx/NodeContext.h"

namespace wsc::import {

struct SpatialWindow {
  llvm::SmallVector<int64_t, 2> kernel;
  Window window;
  /// ceil_mode added rows or columns behind the pads the model asks for.
  bool overhangs = false;
};

/// Adds a spatial dimension of extent 1 to a tensor [N, C, L]; [N, C, H, W] stays. Others are refused.
Tensor liftSpatial(NodeContext &node, const Tensor &x);
/// Undoes liftSpatial on a result, `like` being the operand before it.
Tensor lowerSpatial(NodeContext &node, const Tensor &y, const Tensor &like);

/// Reads strides, dilations, pads, auto_pad (and ceil_mode, if `pooling`) for a window of `kernel` (1 or 2 extents) over the spatial
/// dimensions of `x`, before lifting.
SpatialWindow readWindow(NodeContext &node, const Tensor &x, std::vector<int64_t> kernel, bool pooling);

} // namespace wsc::import
