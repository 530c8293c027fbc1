// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a linalg.generic does to its operands, as far as their precision matters.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace wsc::spmd {

enum class NestKind {
  Elementwise,
  Contraction, // multiply-adds
  Extremum,    // minimum or maximum of the elements of one operand, as they are
  Reduction,   // any other
};
NestKind kindOf(mlir::linalg::GenericOp generic);

/// The multiply-add of a contraction.
mlir::Operation *multiplyAddOf(mlir::linalg::GenericOp generic);

/// Whether the operand's elements are, as they are, factors of a contraction and nothing else.
bool isFactor(mlir::linalg::GenericOp generic, mlir::OpOperand &operand);

} // namespace wsc::spmd
