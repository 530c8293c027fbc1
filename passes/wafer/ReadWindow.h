// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that slide over an image, as code generation sees them: convolutions, pools, slices and padding.
#pragma once

#include "compiler/kernels/network/Spec.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace wsc::wafer {

bool isWindowLayer(mlir::Operation *layer);

// Sets kind, window or contraction, and multiply-adds of `spec`; `finish` receives the operation on the result (value
// 0) that completes an average. Fails with a diagnostic on what code generation has no form for.
mlir::LogicalResult readWindowLayer(mlir::Operation *layer, kernels::KernelSpec &spec,
                                    std::optional<kernels::TileOp> &finish);

// The bias of a layer, if it has one: a constant of f32, or a diagnostic.
mlir::LogicalResult readBias(mlir::Value bias, std::optional<kernels::ConstantView> &view, mlir::Operation *layer);

} // namespace wsc::wafer
