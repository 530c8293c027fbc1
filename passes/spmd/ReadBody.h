// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a linalg.generic as opcodes. Bodies have signless integers: which sign a value has is told by the tensors
// and by the operations that need one, and where two disagree a conversion goes between. An i1 is 1 or 0 of the type
// that was compared, or Bool.
#pragma once

#include "compiler/spmd/network/Network.h"
#include "passes/spmd/Immediates.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace wsc::spmd {

/// Reads one body, operation by operation, into `ops`. Errors are diagnostics at the operation.
class BodyReader {
public:
  /// What reads tensor `table` at `indices`, where one of them may be the value of operand `gatherIndices` (along
  /// `gatherDim`; -1: none): the operand's number.
  using Extract = llvm::function_ref<mlir::FailureOr<int32_t>(
      mlir::Value table, llvm::ArrayRef<mlir::AffineExpr> indices, int32_t gatherDim, int32_t gatherIndices)>;

  /// The number of the operand that is a constant which no immediate is.
  using ConstantOperand = std::function<mlir::FailureOr<int32_t>(const Element &)>;

  BodyReader(std::vector<BodyOp> &ops, ConstantOperand constantOperand)
      : ops(ops), constantOperand(std::move(constantOperand)) {}

  /// `value` is operand `number`, of `type`, or a constant.
  void define(mlir::Value value, int32_t number, format::ElementType type);
  mlir::LogicalResult defineConstant(mlir::Value value, mlir::Attribute constant);

  mlir::LogicalResult read(mlir::Operation *op, Extract extract);

  /// A float, integer or i1 attribute as an operand of an operation on `type`.
  mlir::FailureOr<BodyValue> constant(mlir::Attribute number, format::ElementType type);
  /// The value as an operand of an operation on `type`, converted if need be.
  mlir::FailureOr<BodyValue> as(mlir::Value value, format::ElementType type);
  /// The type it has before that; for a constant, the one that its own type says.
  format::ElementType typeOf(mlir::Value value) const;

private:
  struct Known {
    BodyValue value;
    format::ElementType type = format::ElementType::F32;
    mlir::Attribute constant; // of float, integer or i1; null: `value`
  };
  /// A number of index type: affine in the iterators, or the value of an operand.
  struct Place {
    mlir::AffineExpr affine;
    int32_t operand = -1;
  };

  mlir::LogicalResult arithmetic(mlir::Operation *op, format::Opcode opcode, int sign);
  mlir::LogicalResult compare(mlir::Operation *op);
  mlir::LogicalResult conversion(mlir::Operation *op);
  mlir::LogicalResult bitcast(mlir::Operation *op);
  mlir::LogicalResult place(mlir::Operation *op);
  mlir::LogicalResult extractElement(mlir::Operation *op, Extract extract);
  format::ElementType commonType(mlir::Operation *op, mlir::OperandRange operands) const;
  /// Sources that the opcode does not take are the number 0, which names nothing.
  BodyValue emit(format::Opcode opcode, format::ElementType type, BodyValue a, BodyValue b = BodyValue::constant(0),
                 BodyValue c = BodyValue::constant(0));

  std::vector<BodyOp> &ops;
  ConstantOperand constantOperand;
  llvm::DenseMap<mlir::Value, Known> known;
  llvm::DenseMap<mlir::Value, Place> places;
};

} // namespace wsc::spmd
