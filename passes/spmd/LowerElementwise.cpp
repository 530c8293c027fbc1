// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise layers: one nest each, operands broadcast by their maps.
#include "dialects/nn/Nn.h"
#include "passes/spmd/NestBuilder.h"
#include "passes/spmd/NestLowering.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

using nn::BinaryKind;
using nn::UnaryKind;

Scalar unary(ScalarBuilder &scalars, UnaryKind kind, Scalar x) {
  switch (kind) {
  case UnaryKind::Relu:
    return scalars.max(x, scalars.constant(x.type, 0.0));
  case UnaryKind::Neg:
    return scalars.neg(x);
  case UnaryKind::Abs:
    return scalars.abs(x);
  case UnaryKind::Exp:
    return scalars.exp(x);
  case UnaryKind::Log:
    return scalars.log(x);
  case UnaryKind::Sqrt:
    return scalars.sqrt(x);
  case UnaryKind::Rsqrt:
    return scalars.rsqrt(x);
  case UnaryKind::Reciprocal:
    return scalars.reciprocal(x);
  case UnaryKind::Tanh:
    return scalars.tanh(x);
  case UnaryKind::Erf:
    return scalars.erf(x);
  case UnaryKind::Sigmoid:
    return scalars.sigmoid(x);
  case UnaryKind::Floor:
    return scalars.floor(x);
  case UnaryKind::Ceil:
    return scalars.ceil(x);
  case UnaryKind::Round:
    return scalars.round(x);
  case UnaryKind::Sign:
    return scalars.sign(x);
  case UnaryKind::Sin:
    return scalars.sin(x);
  case UnaryKind::Cos:
    return scalars.cos(x);
  case UnaryKind::Not:
    return scalars.logicalNot(x);
  }
  llvm_unreachable("a kind of nn.unary");
}

/// The remainder moved to the divisor's side of zero: b is added where it is not 0 and the signs differ.
Scalar mod(ScalarBuilder &scalars, Scalar a, Scalar b) {
  const Scalar remainder = scalars.rem(a, b);
  if (a.type.isUnsignedInteger())
    return remainder;
  const Scalar zero = scalars.constant(a.type, 0.0);
  const Scalar differ =
      scalars.bitXor(scalars.compare(Compare::Less, remainder, zero), scalars.compare(Compare::Less, b, zero));
  const Scalar move = scalars.bitAnd(differ, scalars.compare(Compare::NotEqual, remainder, zero));
  return scalars.select(move, scalars.add(remainder, b), remainder);
}

Scalar binary(ScalarBuilder &scalars, BinaryKind kind, Scalar a, Scalar b) {
  switch (kind) {
  case BinaryKind::Add:
    return scalars.add(a, b);
  case BinaryKind::Sub:
    return scalars.sub(a, b);
  case BinaryKind::Mul:
    return scalars.mul(a, b);
  case BinaryKind::Div:
    return scalars.div(a, b);
  case BinaryKind::Min:
    return scalars.min(a, b);
  case BinaryKind::Max:
    return scalars.max(a, b);
  case BinaryKind::Pow:
    return scalars.pow(a, b);
  case BinaryKind::Mod:
    return mod(scalars, a, b);
  case BinaryKind::Rem:
    return scalars.rem(a, b);
  case BinaryKind::Equal:
    return scalars.compare(Compare::Equal, a, b);
  case BinaryKind::Less:
    return scalars.compare(Compare::Less, a, b);
  case BinaryKind::LessEqual:
    return scalars.compare(Compare::LessEqual, a, b);
  case BinaryKind::And:
    return scalars.bitAnd(a, b);
  case BinaryKind::Or:
    return scalars.bitOr(a, b);
  case BinaryKind::Xor:
    return scalars.bitXor(a, b);
  case BinaryKind::ShiftLeft:
    return scalars.shiftLeft(a, b);
  case BinaryKind::ShiftRight:
    return scalars.shiftRight(a, b);
  }
  llvm_unreachable("a kind of nn.binary");
}

struct UnaryNests : NestLowering::ExternalModel<UnaryNests, nn::UnaryOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::UnaryOp>(op);
    NestBuilder nests(builder, op->getLoc());
    return nests.aligned(layer.getType(), layer.getInput(), [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) {
      return unary(scalars, layer.getKind(), x[0]);
    });
  }
};

struct BinaryNests : NestLowering::ExternalModel<BinaryNests, nn::BinaryOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::BinaryOp>(op);
    NestBuilder nests(builder, op->getLoc());
    return nests.aligned(
        layer.getType(), {layer.getLhs(), layer.getRhs()},
        [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) { return binary(scalars, layer.getKind(), x[0], x[1]); });
  }
};

struct SelectNests : NestLowering::ExternalModel<SelectNests, nn::SelectOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::SelectOp>(op);
    NestBuilder nests(builder, op->getLoc());
    return nests.aligned(layer.getType(), {layer.getCondition(), layer.getTrueValue(), layer.getFalseValue()},
                         [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) { return scalars.select(x[0], x[1], x[2]); });
  }
};

struct CastNests : NestLowering::ExternalModel<CastNests, nn::CastOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::CastOp>(op);
    return NestBuilder(builder, op->getLoc()).convert(layer.getInput(), layer.getType().getElementType());
  }
};

struct BitcastNests : NestLowering::ExternalModel<BitcastNests, nn::BitcastOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::BitcastOp>(op);
    const Type element = layer.getType().getElementType();
    NestBuilder nests(builder, op->getLoc());
    return nests.aligned(layer.getType(), layer.getInput(),
                         [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) { return scalars.bitcast(x[0], element); });
  }
};

} // namespace

void attachElementwiseLowerings(MLIRContext &context) {
  nn::UnaryOp::attachInterface<UnaryNests>(context);
  nn::BinaryOp::attachInterface<BinaryNests>(context);
  nn::SelectOp::attachInterface<SelectNests>(context);
  nn::CastOp::attachInterface<CastNests>(context);
  nn::BitcastOp::attachInterface<BitcastNests>(context);
}

} // namespace wsc::spmd
