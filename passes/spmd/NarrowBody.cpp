// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core computes an operation of f16 or bf16 in f32 and rounds once (docs/Numerics.md). So one operation on widened
// elements, rounded, is the operation of the narrow type; and since rounding is monotone and odd, minima, maxima,
// negations, absolute values and selections behind it may come after the rounding as well as before.
#include "passes/spmd/NarrowBody.h"

#include "dialects/wafer/Wafer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace wsc::spmd {

FloatAttr narrowed(FloatAttr value, FloatType type) {
  APFloat number = value.getValue();
  bool inexact = false;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  if (number.isInfinity() && !value.getValue().isInfinity())
    number = APFloat::getLargest(type.getFloatSemantics(), number.isNegative());
  return FloatAttr::get(type, number);
}

bool isHeld(const APFloat &value, FloatType type) {
  APFloat number = value;
  bool inexact = false;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  return !inexact && !value.isNaN();
}

void convertAtBorders(linalg::GenericOp generic, FloatType type) {
  Block *body = generic.getBody();
  OpBuilder builder(generic.getContext());
  const Type wide = builder.getF32Type();
  const auto widen = [&](Value element) {
    if (element.use_empty())
      return;
    auto widened = arith::ExtFOp::create(builder, element.getLoc(), wide, element);
    element.replaceAllUsesExcept(widened, widened);
  };
  builder.setInsertionPointToStart(body);
  for (OpOperand &operand : generic->getOpOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(&operand);
    if (getElementTypeOrSelf(operand.get().getType()) != type || argument.getType() == type)
      continue;
    argument.setType(type);
    widen(argument);
  }
  body->walk([&](tensor::ExtractOp extract) {
    if (getElementTypeOrSelf(extract.getTensor().getType()) != type || extract.getType() == type)
      return;
    extract.getResult().setType(type);
    builder.setInsertionPointAfter(extract);
    widen(extract);
  });
  Operation *yield = body->getTerminator();
  Value result = yield->getOperand(0);
  if (getElementTypeOrSelf(generic.getResult(0).getType()) == type && result.getType() != type) {
    builder.setInsertionPoint(yield);
    yield->setOperand(0, arith::TruncFOp::create(builder, yield->getLoc(), type, result));
  }
}

namespace {

/// What an f32 value of a body is, as a number of the narrow type.
enum class Form {
  Held,    // it has it
  Rounded, // rounded, it is what the operations of that type give
  Other
};

bool onlyChooses(Operation *op) {
  return isa<arith::MaximumFOp, arith::MinimumFOp, arith::NegFOp, math::AbsFOp, arith::SelectOp>(op);
}

/// Operations of elements that have one opcode in every float type.
bool hasNarrowForm(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, math::FmaOp, math::ExpOp, math::LogOp,
             math::SqrtOp, math::RsqrtOp, math::TanhOp, math::ErfOp, math::SinOp, math::CosOp, math::FloorOp,
             math::CeilOp, math::RoundEvenOp, math::PowFOp, wafer::SigmoidOp, wafer::SignOp>(op);
}

class Body {
public:
  Body(linalg::GenericOp generic, FloatType type) : generic(generic), type(type) {}

  bool mayBeNarrow() {
    return llvm::all_of(generic.getBody()->getOperations(), [&](Operation &op) { return mayBeNarrow(&op); });
  }

  void makeNarrow() {
    for (Operation &op : llvm::make_early_inc_range(generic.getBody()->getOperations())) {
      for (OpOperand &operand : op.getOpOperands())
        operand.set(narrow(operand.get()));
      if (isa<arith::ExtFOp, arith::TruncFOp>(op) && op.getOperand(0).getType() == type) {
        op.getResult(0).replaceAllUsesWith(op.getOperand(0));
        op.erase();
      } else if (!isa<arith::ConstantOp>(op)) {
        for (Value result : op.getResults())
          if (result.getType().isF32())
            result.setType(type);
      }
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(generic.getBody()->getOperations())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

private:
  Form formOf(Value value) const {
    if (!value.getType().isF32())
      return Form::Held;
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      return isHeld(cast<FloatAttr>(constant.getValue()).getValue(), type) ? Form::Held : Form::Other;
    auto known = forms.find(value);
    return known == forms.end() ? Form::Other : known->second;
  }

  bool mayBeNarrow(Operation *op) {
    if (isa<linalg::YieldOp>(op))
      return op->getOperand(0).getType() == type;
    if (isa<arith::ConstantOp>(op)) // judged where it is used
      return true;
    const bool givesFloat = op->getNumResults() == 1 && op->getResult(0).getType().isF32();
    if (isa<arith::ExtFOp>(op) && op->getOperand(0).getType() == type) {
      forms[op->getResult(0)] = Form::Held;
      return true;
    }
    if (isa<arith::TruncFOp>(op))
      return op->getResult(0).getType() == type && formOf(op->getOperand(0)) != Form::Other;
    bool allHeld = true;
    for (Value operand : op->getOperands()) {
      if (formOf(operand) == Form::Other)
        return false;
      allHeld &= formOf(operand) == Form::Held;
    }
    if (!givesFloat) // comparisons and the like of elements as they are
      return allHeld &&
             (isa<arith::CmpFOp>(op) || llvm::none_of(op->getOperandTypes(), [](Type each) { return each.isF32(); }));
    if (onlyChooses(op))
      forms[op->getResult(0)] = allHeld ? Form::Held : Form::Rounded;
    else if (allHeld && hasNarrowForm(op))
      forms[op->getResult(0)] = Form::Rounded;
    else
      return false;
    return true;
  }

  /// Constants may stand around the body, and have other users there.
  Value narrow(Value value) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    if (!constant || !value.getType().isF32())
      return value;
    OpBuilder builder = OpBuilder::atBlockBegin(generic.getBody());
    return arith::ConstantOp::create(builder, constant.getLoc(), narrowed(cast<FloatAttr>(constant.getValue()), type));
  }

  linalg::GenericOp generic;
  FloatType type;
  llvm::DenseMap<Value, Form> forms;
};

} // namespace

void computeNarrow(linalg::GenericOp generic, FloatType type) {
  Body body(generic, type);
  if (body.mayBeNarrow())
    body.makeNarrow();
}

} // namespace wsc::spmd
