// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type rules and folders of the elementwise operations.
#include "dialects/nn/Nn.h"
#include "dialects/nn/Shape.h"
#include "dialects/nn/Storage.h"

using namespace mlir;

namespace wsc::nn {

LogicalResult UnaryOp::verify() {
  Type element = getInput().getType().getElementType();
  StringRef kind = stringifyUnaryKind(getKind());
  switch (getKind()) {
  case UnaryKind::Not:
    if (!element.isInteger(1))
      return emitOpError() << kind << " needs element type i1, found " << element;
    return success();
  case UnaryKind::Relu:
  case UnaryKind::Neg:
  case UnaryKind::Abs:
  case UnaryKind::Sign:
    if (element.isInteger(1))
      return emitOpError() << kind << " needs a numeric element type, found i1";
    return success();
  default:
    if (!isa<FloatType>(element))
      return emitOpError() << kind << " needs a float element type, found " << element;
    return success();
  }
}

OpFoldResult UnaryOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<UnaryOp>();
  if (!inner || inner.getKind() != getKind())
    return {};
  switch (getKind()) {
  case UnaryKind::Relu:
  case UnaryKind::Abs:
  case UnaryKind::Floor:
  case UnaryKind::Ceil:
  case UnaryKind::Round:
  case UnaryKind::Sign:
    return inner.getResult(); // idempotent
  case UnaryKind::Neg:
  case UnaryKind::Not:
    return inner.getInput(); // involutions
  default:
    return {};
  }
}

static bool isComparison(BinaryKind kind) {
  return kind == BinaryKind::Equal || kind == BinaryKind::Less || kind == BinaryKind::LessEqual;
}

static bool isBitwise(BinaryKind kind) {
  return kind == BinaryKind::And || kind == BinaryKind::Or || kind == BinaryKind::Xor;
}

static bool isShift(BinaryKind kind) { return kind == BinaryKind::ShiftLeft || kind == BinaryKind::ShiftRight; }

LogicalResult BinaryOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto lhs = dyn_cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = dyn_cast<RankedTensorType>(adaptor.getRhs().getType());
  BinaryKind kind = adaptor.getKind();
  if (!lhs || !rhs || lhs.getElementType() != rhs.getElementType())
    return emitOptionalError(loc, "nn.binary ", stringifyBinaryKind(kind), " needs equal element types, found ",
                             adaptor.getLhs().getType(), " and ", adaptor.getRhs().getType());
  Type element = lhs.getElementType();
  if ((isBitwise(kind) || isShift(kind)) && !isa<IntegerType>(element))
    return emitOptionalError(loc, "nn.binary ", stringifyBinaryKind(kind), " needs an integer element type, found ",
                             element);
  if (!isBitwise(kind) && kind != BinaryKind::Equal && element.isInteger(1))
    return emitOptionalError(loc, "nn.binary ", stringifyBinaryKind(kind), " needs a numeric element type, found i1");
  auto shape = broadcastShapes(lhs.getShape(), rhs.getShape());
  if (!shape)
    return emitOptionalError(loc, "nn.binary ", stringifyBinaryKind(kind),
                             ": shapes do not broadcast: ", formatShape(lhs.getShape()), " and ",
                             formatShape(rhs.getShape()));
  results.push_back(RankedTensorType::get(*shape, isComparison(kind) ? IntegerType::get(context, 1) : element));
  return success();
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto condition = dyn_cast<RankedTensorType>(adaptor.getCondition().getType());
  auto a = dyn_cast<RankedTensorType>(adaptor.getTrueValue().getType());
  auto b = dyn_cast<RankedTensorType>(adaptor.getFalseValue().getType());
  if (!condition || !a || !b || a.getElementType() != b.getElementType())
    return emitOptionalError(loc, "nn.select needs two values of one element type, found ",
                             adaptor.getTrueValue().getType(), " and ", adaptor.getFalseValue().getType());
  auto shape = broadcastShapes(a.getShape(), b.getShape());
  if (shape)
    shape = broadcastShapes(condition.getShape(), *shape);
  if (!shape)
    return emitOptionalError(loc, "nn.select: shapes do not broadcast: ", formatShape(condition.getShape()), ", ",
                             formatShape(a.getShape()), " and ", formatShape(b.getShape()));
  results.push_back(RankedTensorType::get(*shape, a.getElementType()));
  return success();
}

LogicalResult BitcastOp::verify() {
  Type from = getInput().getType().getElementType(), to = getResult().getType().getElementType();
  const bool isStored = byteTypeOf(from) == to || byteTypeOf(to) == from;
  if (from.isInteger(1) || to.isInteger(1) || (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth() && !isStored))
    return emitOpError() << "needs element types of equal width, not i1, found " << from << " and " << to;
  return success();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<BitcastOp>()) {
    if (inner.getInput().getType() == getResult().getType())
      return inner.getInput();
    if (inner.getInput().getType().getElementTypeBitWidth() != getResult().getType().getElementTypeBitWidth())
      return {};
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  return {};
}

} // namespace wsc::nn
