// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that are one opcode stand in a table (BodyOpcodes.cpp); comparisons, conversions and indices have rules of
// their own.
#include "passes/spmd/ReadBody.h"

#include "passes/spmd/BodyOpcodes.h"
#include "passes/spmd/ElementTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>

using namespace mlir;

namespace wsc::spmd {

using format::ElementType;
using format::Opcode;

namespace {

/// The type of `type` with the sign asked for; F32 where a core has none, which is refused before it matters.
ElementType typed(Type type, IntegerSign sign) {
  return elementTypeOf(type, sign == Unsigned).value_or(ElementType::F32);
}

bool isNumber(Attribute constant, double number) {
  if (auto real = dyn_cast_or_null<FloatAttr>(constant))
    return real.getValueAsDouble() == number;
  if (auto integer = dyn_cast_or_null<IntegerAttr>(constant))
    return integer.getType().isInteger(1) ? integer.getValue().getZExtValue() == uint64_t(number)
                                          : integer.getValue() == int64_t(number);
  return false;
}

/// Whether a user takes this integer as one without a sign.
bool isTakenUnsigned(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto cast = dyn_cast<UnrealizedConversionCastOp>(user); cast && cast.getType(0).isUnsignedInteger())
      return true;
    const BodyOpcode *entry = findBodyOpcode(user->getName().getStringRef());
    if ((entry && entry->sign == Unsigned) || isa<arith::UIToFPOp, arith::ExtUIOp>(user))
      return true;
  }
  return false;
}

} // namespace

void BodyReader::define(Value value, int32_t number, ElementType type) {
  known[value] = {BodyValue::operand(number), type, {}};
}

LogicalResult BodyReader::defineConstant(Value value, Attribute constant) {
  if (auto integer = dyn_cast<IntegerAttr>(constant); integer && integer.getType().isIndex()) {
    places[value] = {getAffineConstantExpr(integer.getInt(), value.getContext())};
    return success();
  }
  if (!isa<FloatAttr, IntegerAttr>(constant))
    return emitError(value.getLoc()) << "body has a constant that is no number: " << constant;
  known[value] = {{}, typed(value.getType(), Any), constant};
  return success();
}

ElementType BodyReader::typeOf(Value value) const {
  auto it = known.find(value);
  return it == known.end() ? typed(value.getType(), Any) : it->second.type;
}

BodyValue BodyReader::emit(Opcode opcode, ElementType type, BodyValue a, BodyValue b, BodyValue c) {
  BodyOp op;
  op.opcode = opcode;
  op.type = op.sourceType = type;
  op.a = a;
  op.b = b;
  op.c = c;
  ops.push_back(op);
  return BodyValue::operation(int32_t(ops.size()) - 1);
}

FailureOr<BodyValue> BodyReader::constant(Attribute number, ElementType type) {
  const Element element = elementOf(number, type);
  if (element.immediate)
    return BodyValue::constant(*element.immediate);
  FailureOr<int32_t> operand = constantOperand(element);
  if (failed(operand))
    return failure();
  return BodyValue::operand(*operand);
}

FailureOr<BodyValue> BodyReader::as(Value value, ElementType type) {
  // Constants may stand around the body: common subexpressions leave one for several bodies.
  if (auto constant = value.getDefiningOp<arith::ConstantOp>(); constant && !known.contains(value))
    if (failed(defineConstant(value, constant.getValue())))
      return failure();
  auto it = known.find(value);
  if (it == known.end())
    return emitError(value.getLoc()) << "body uses a value that is no element, constant or result of its own";
  const Known &from = it->second;
  if (from.constant)
    return constant(from.constant, type);
  if (from.type == type)
    return from.value;
  const BodyValue before = from.value;
  const ElementType sourceType = from.type;
  BodyValue after = emit(Opcode::Convert, type, before);
  ops.back().sourceType = sourceType;
  return after;
}

/// The type of the first operand that is no constant; of i1 operands that were compared in different types, Bool.
ElementType BodyReader::commonType(Operation *op, OperandRange operands) const {
  std::optional<ElementType> common;
  for (Value operand : operands) {
    auto it = known.find(operand);
    if (it == known.end() || it->second.constant)
      continue;
    if (!common)
      common = it->second.type;
    else if (*common != it->second.type && operand.getType().isInteger(1))
      return ElementType::Bool;
  }
  return common.value_or(typed(operands[0].getType(), Any));
}

LogicalResult BodyReader::arithmetic(Operation *op, Opcode opcode, int sign) {
  Value result = op->getResult(0);
  const bool isBool = result.getType().isInteger(1);
  const bool isBitwise = opcode == Opcode::And || opcode == Opcode::Or || opcode == Opcode::Xor;
  const auto constantOf = [&](unsigned i) -> Attribute { return known.lookup(op->getOperand(i)).constant; };
  ElementType type =
      sign == Any || isBool ? commonType(op, op->getOperands()) : typed(result.getType(), IntegerSign(sign));
  if (isBool && !isBitwise)
    type = ElementType::Bool;

  OperandRange sources = op->getOperands();
  if (isBool && opcode == Opcode::Xor && (isNumber(constantOf(1), 1) || isNumber(constantOf(0), 1))) {
    opcode = Opcode::Not;
    sources = sources.slice(isNumber(constantOf(1), 1) ? 0 : 1, 1);
  } else if (isa<arith::DivFOp>(op) && isNumber(constantOf(0), 1)) {
    opcode = Opcode::Reciprocal;
    sources = sources.drop_front();
  } else if (isa<arith::SubIOp>(op) && isNumber(constantOf(0), 0)) {
    opcode = Opcode::Neg;
    sources = sources.drop_front();
  }
  BodyValue values[3] = {BodyValue::constant(0), BodyValue::constant(0), BodyValue::constant(0)};
  for (auto [i, source] : llvm::enumerate(sources)) {
    FailureOr<BodyValue> value = as(source, type);
    if (failed(value))
      return failure();
    values[i] = *value;
  }
  known[result] = {emit(opcode, type, values[0], values[1], values[2]), type, {}};
  return success();
}

/// a < b, a ≤ b, a = b and their negations, of which those of floats hold for a NaN. `x ≠ 0` is the conversion to Bool.
LogicalResult BodyReader::compare(Operation *op) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  struct Form {
    Opcode opcode;
    bool swapped = false, negated = false;
    IntegerSign sign = Any;
  };
  std::optional<Form> form;
  if (auto floats = dyn_cast<arith::CmpFOp>(op)) {
    static const std::pair<F, Form> forms[] = {
        {F::OEQ, {Opcode::CompareEq}},
        {F::UNE, {Opcode::CompareEq, false, true}},
        {F::OLT, {Opcode::CompareLt}},
        {F::OLE, {Opcode::CompareLe}},
        {F::OGT, {Opcode::CompareLt, true}},
        {F::OGE, {Opcode::CompareLe, true}},
        {F::ULT, {Opcode::CompareLe, true, true}},
        {F::ULE, {Opcode::CompareLt, true, true}},
        {F::UGT, {Opcode::CompareLe, false, true}},
        {F::UGE, {Opcode::CompareLt, false, true}},
    };
    for (const auto &[predicate, found] : forms)
      if (predicate == floats.getPredicate())
        form = found;
  } else {
    static const std::pair<I, Form> forms[] = {
        {I::eq, {Opcode::CompareEq}},
        {I::ne, {Opcode::CompareEq, false, true}},
        {I::slt, {Opcode::CompareLt, false, false, Signed}},
        {I::sle, {Opcode::CompareLe, false, false, Signed}},
        {I::sgt, {Opcode::CompareLt, true, false, Signed}},
        {I::sge, {Opcode::CompareLe, true, false, Signed}},
        {I::ult, {Opcode::CompareLt, false, false, Unsigned}},
        {I::ule, {Opcode::CompareLe, false, false, Unsigned}},
        {I::ugt, {Opcode::CompareLt, true, false, Unsigned}},
        {I::uge, {Opcode::CompareLe, true, false, Unsigned}},
    };
    for (const auto &[predicate, found] : forms)
      if (predicate == cast<arith::CmpIOp>(op).getPredicate())
        form = found;
  }
  if (!form)
    return op->emitError() << "body compares with a predicate that has no opcode: " << *op;
  Value a = op->getOperand(form->swapped ? 1 : 0), b = op->getOperand(form->swapped ? 0 : 1);
  const ElementType type = form->sign == Any ? commonType(op, op->getOperands()) : typed(a.getType(), form->sign);
  if (form->opcode == Opcode::CompareEq && form->negated && isNumber(known.lookup(b).constant, 0)) {
    auto value = as(a, ElementType::Bool);
    if (succeeded(value))
      known[op->getResult(0)] = {*value, ElementType::Bool, {}};
    return value;
  }
  auto left = as(a, type), right = as(b, type);
  if (failed(left) || failed(right))
    return failure();
  BodyValue value = emit(form->opcode, type, *left, *right);
  if (form->negated)
    value = emit(Opcode::Not, type, value);
  known[op->getResult(0)] = {value, type, {}};
  return success();
}

LogicalResult BodyReader::conversion(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  const bool fromBool = source.getType().isInteger(1);
  const bool asUnsigned = isa<arith::FPToUIOp>(op) || isTakenUnsigned(result);
  const ElementType to = typed(result.getType(), asUnsigned ? Unsigned : Signed);
  ElementType from = typeOf(source);
  if (!fromBool && isa<arith::ExtSIOp, arith::SIToFPOp>(op))
    from = typed(source.getType(), Signed);
  if (!fromBool && isa<arith::ExtUIOp, arith::UIToFPOp>(op))
    from = typed(source.getType(), Unsigned);
  auto value = as(source, from);
  if (failed(value))
    return failure();
  if (result.getType().isInteger(1)) { // the lowest bit, by arith.trunci
    known[result] = {emit(Opcode::And, from, *value, BodyValue::constant(1)), from, {}};
    return success();
  }
  if (fromBool && isa<arith::ExtSIOp, arith::SIToFPOp>(op)) // true is -1
    return op->emitError() << "body extends an i1 with its sign; extend it without (arith.extui)";
  if (from == to && !known.lookup(source).constant) {
    known[result] = {*value, to, {}};
    return success();
  }
  BodyValue converted = emit(Opcode::Convert, to, *value);
  ops.back().sourceType = from;
  known[result] = {converted, to, {}};
  return success();
}

/// Floats as integers of their width or the other way round.
LogicalResult BodyReader::bitcast(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  const ElementType to = typed(result.getType(), isTakenUnsigned(result) ? Unsigned : Signed), from = typeOf(source);
  if (Attribute number = known.lookup(source).constant) {
    auto real = dyn_cast<FloatAttr>(number);
    const APInt bits = real ? real.getValue().bitcastToAPInt() : cast<IntegerAttr>(number).getValue();
    auto type = dyn_cast<FloatType>(result.getType());
    return defineConstant(result, type ? Attribute(FloatAttr::get(type, APFloat(type.getFloatSemantics(), bits)))
                                       : Attribute(IntegerAttr::get(result.getType(), bits)));
  }
  auto value = as(source, from);
  if (failed(value))
    return failure();
  BodyValue moved = emit(Opcode::Move, to, *value);
  ops.back().sourceType = from;
  known[result] = {moved, to, {}};
  return success();
}

/// Numbers of index type.
LogicalResult BodyReader::place(Operation *op) {
  Value result = op->getResult(0);
  if (auto iterator = dyn_cast<linalg::IndexOp>(op)) {
    places[result] = {getAffineDimExpr(unsigned(iterator.getDim()), op->getContext())};
    return success();
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    const AffineMap map = apply.getAffineMap();
    SmallVector<AffineExpr> arguments;
    for (Value argument : apply.getMapOperands())
      arguments.push_back(places.lookup(argument).affine);
    if (llvm::is_contained(arguments, AffineExpr()))
      return op->emitError() << "body computes an index from a gathered one";
    const ArrayRef<AffineExpr> all(arguments);
    places[result] = {
        map.getResult(0).replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()))};
    return success();
  }
  if (auto constant = op->getOperand(0).getDefiningOp<arith::ConstantOp>()) // all indices are the same
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue())) {
      places[result] = {getAffineConstantExpr(number.getValue().getSExtValue(), op->getContext())};
      return success();
    }
  const Known &index = known[op->getOperand(0)];
  if (index.constant || index.value.kind != BodyValue::Kind::Operand || index.type != ElementType::I32)
    return op->emitError()
           << "body gathers by a computed index; indices are elements of an i32 tensor, converted before";
  places[result] = {{}, index.value.index};
  return success();
}

LogicalResult BodyReader::extractElement(Operation *op, Extract extract) {
  auto element = cast<tensor::ExtractOp>(op);
  SmallVector<AffineExpr> indices;
  int32_t gatherDim = -1, gatherIndices = -1;
  for (auto [d, number] : llvm::enumerate(element.getIndices())) {
    const Place at = places.lookup(number);
    if (!at.affine && (at.operand < 0 || gatherDim >= 0))
      return op->emitError() << "body gathers along dimensions " << gatherDim << " and " << d
                             << "; one index may come from a tensor";
    if (!at.affine) {
      gatherDim = int32_t(d);
      gatherIndices = at.operand;
    }
    AffineExpr index = at.affine ? at.affine : getAffineConstantExpr(0, op->getContext());
    if (auto same = dyn_cast<AffineConstantExpr>(index)) { // clamped as gathered ones are
      const int64_t last = cast<RankedTensorType>(element.getTensor().getType()).getDimSize(unsigned(d)) - 1;
      index = getAffineConstantExpr(std::clamp<int64_t>(same.getValue(), 0, last), op->getContext());
    }
    indices.push_back(index);
  }
  FailureOr<int32_t> operand = extract(element.getTensor(), indices, gatherDim, gatherIndices);
  if (failed(operand))
    return failure();
  define(element, *operand, typed(element.getType(), Any));
  return success();
}

LogicalResult BodyReader::read(Operation *op, Extract extract) {
  for (Type type : op->getResultTypes())
    if (!type.isIndex() && !elementTypeOf(type))
      return op->emitError() << "body computes with " << type
                             << "; cores compute with f16, bf16, f32, f64, integers of 8 to 64 bits and i1";
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return defineConstant(constant, constant.getValue());
  if (const BodyOpcode *entry = findBodyOpcode(op->getName().getStringRef());
      entry && !op->getResult(0).getType().isIndex())
    return arithmetic(op, entry->opcode, entry->sign);
  if (isa<arith::SelectOp>(op)) {
    const ElementType type = commonType(op, op->getOperands().drop_front());
    auto condition = as(op->getOperand(0), type), a = as(op->getOperand(1), type), b = as(op->getOperand(2), type);
    if (failed(condition) || failed(a) || failed(b))
      return failure();
    known[op->getResult(0)] = {emit(Opcode::Select, type, *a, *b, *condition), type, {}};
    return success();
  }
  if (isa<arith::CmpFOp, arith::CmpIOp>(op))
    return compare(op);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp,
          arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(op))
    return conversion(op);
  if (isa<arith::BitcastOp>(op))
    return bitcast(op);
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op);
      cast && cast.getNumOperands() == 1 && cast.getNumResults() == 1) {
    // Between ui8 and i8: the same value; where its sign matters, `as` converts.
    known[cast.getResult(0)] = Known(known.lookup(cast.getOperand(0)));
    return success();
  }
  if (isa<linalg::IndexOp, affine::AffineApplyOp, arith::IndexCastOp>(op))
    return place(op);
  if (isa<tensor::ExtractOp>(op))
    return extractElement(op, extract);
  return op->emitError() << "body has operation " << op->getName() << ", which is no opcode of a core";
}

} // namespace wsc::spmd
