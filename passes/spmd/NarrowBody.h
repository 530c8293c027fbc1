// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies of nests that compute in f32 on elements of a 16-bit float type.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace wsc::spmd {

/// `value` as an element of a tensor of `type`, largest finite number where it is finite and beyond that; and whether
/// the type holds it.
mlir::FloatAttr narrowed(mlir::FloatAttr value, mlir::FloatType type);
bool isHeld(const llvm::APFloat &value, mlir::FloatType type);

/// Elements that `generic` takes and gives as `type` inside of an f32 body: arguments and elements of tables whose
/// tensors are of that type are widened, and what is yielded to a result of that type is rounded.
void convertAtBorders(mlir::linalg::GenericOp generic, mlir::FloatType type);

/// Computes in `type` what computes in f32 between conversions from and to it, where that gives the same bits: no
/// operation takes a rounded value, but for those that only choose, negate or lose the sign.
void computeNarrow(mlir::linalg::GenericOp generic, mlir::FloatType type);

} // namespace wsc::spmd
