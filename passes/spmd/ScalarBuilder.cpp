// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars as operations of arith and math; the sign of an integer chooses between operations, never the type.
#include "passes/spmd/ScalarBuilder.h"

#include "dialects/wafer/Wafer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace wsc::spmd {

Type signless(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer && !integer.isSignless() ? IntegerType::get(element.getContext(), integer.getWidth()) : element;
}

Type accumulatorOf(Type element) {
  return element.isF16() || element.isBF16() ? Float32Type::get(element.getContext()) : element;
}

static bool isUnsigned(Type type) { return type.isUnsignedInteger() || type.isInteger(1); }

Scalar ScalarBuilder::fromElement(Value element) {
  Type type = element.getType(), inside = signless(type);
  if (inside == type)
    return {element, type};
  return {UnrealizedConversionCastOp::create(builder, loc, inside, element).getResult(0), type};
}

Value ScalarBuilder::toElement(Scalar x) {
  if (x.value.getType() == x.type)
    return x.value;
  return UnrealizedConversionCastOp::create(builder, loc, x.type, x.value).getResult(0);
}

Scalar ScalarBuilder::constant(Type type, double value) {
  TypedAttr attribute =
      isa<FloatType>(type)
          ? TypedAttr(FloatAttr::get(type, value))
          : TypedAttr(IntegerAttr::get(signless(type), isUnsigned(type) ? int64_t(uint64_t(value)) : int64_t(value)));
  return {arith::ConstantOp::create(builder, loc, attribute), type};
}

Scalar ScalarBuilder::constant(Type type, TypedAttr value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    value = IntegerAttr::get(signless(type), integer.getValue());
  return {arith::ConstantOp::create(builder, loc, value), type};
}

template <typename FloatOp, typename SignedOp, typename UnsignedOp>
Scalar ScalarBuilder::arithmetic(Scalar a, Scalar b) {
  if (isa<FloatType>(a.type))
    return {FloatOp::create(builder, loc, a.value, b.value), a.type};
  if (isUnsigned(a.type))
    return {UnsignedOp::create(builder, loc, a.value, b.value), a.type};
  return {SignedOp::create(builder, loc, a.value, b.value), a.type};
}

template <typename Op> Scalar ScalarBuilder::unary(Scalar x) { return {Op::create(builder, loc, x.value), x.type}; }

Scalar ScalarBuilder::add(Scalar a, Scalar b) { return arithmetic<arith::AddFOp, arith::AddIOp, arith::AddIOp>(a, b); }
Scalar ScalarBuilder::sub(Scalar a, Scalar b) { return arithmetic<arith::SubFOp, arith::SubIOp, arith::SubIOp>(a, b); }
Scalar ScalarBuilder::mul(Scalar a, Scalar b) { return arithmetic<arith::MulFOp, arith::MulIOp, arith::MulIOp>(a, b); }
Scalar ScalarBuilder::div(Scalar a, Scalar b) {
  return arithmetic<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(a, b);
}
Scalar ScalarBuilder::rem(Scalar a, Scalar b) {
  return arithmetic<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(a, b);
}
Scalar ScalarBuilder::min(Scalar a, Scalar b) {
  return arithmetic<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(a, b);
}
Scalar ScalarBuilder::max(Scalar a, Scalar b) {
  return arithmetic<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(a, b);
}
Scalar ScalarBuilder::pow(Scalar a, Scalar b) { return arithmetic<math::PowFOp, math::IPowIOp, math::IPowIOp>(a, b); }

Scalar ScalarBuilder::fma(Scalar a, Scalar b, Scalar c) {
  if (isa<FloatType>(a.type))
    return {math::FmaOp::create(builder, loc, a.value, b.value, c.value), a.type};
  return add(c, mul(a, b));
}

Scalar ScalarBuilder::bitAnd(Scalar a, Scalar b) {
  return {arith::AndIOp::create(builder, loc, a.value, b.value), a.type};
}
Scalar ScalarBuilder::bitOr(Scalar a, Scalar b) {
  return {arith::OrIOp::create(builder, loc, a.value, b.value), a.type};
}
Scalar ScalarBuilder::bitXor(Scalar a, Scalar b) {
  return {arith::XOrIOp::create(builder, loc, a.value, b.value), a.type};
}

Scalar ScalarBuilder::shiftLeft(Scalar a, Scalar b) {
  return {arith::ShLIOp::create(builder, loc, a.value, b.value), a.type};
}
Scalar ScalarBuilder::shiftRight(Scalar a, Scalar b) {
  if (isUnsigned(a.type))
    return {arith::ShRUIOp::create(builder, loc, a.value, b.value), a.type};
  return {arith::ShRSIOp::create(builder, loc, a.value, b.value), a.type};
}

Scalar ScalarBuilder::compare(Compare kind, Scalar a, Scalar b) {
  // In the order of Compare.
  static constexpr arith::CmpFPredicate floats[] = {arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
                                                    arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE};
  static constexpr arith::CmpIPredicate signedOnes[] = {arith::CmpIPredicate::eq, arith::CmpIPredicate::ne,
                                                        arith::CmpIPredicate::slt, arith::CmpIPredicate::sle};
  static constexpr arith::CmpIPredicate unsignedOnes[] = {arith::CmpIPredicate::eq, arith::CmpIPredicate::ne,
                                                          arith::CmpIPredicate::ult, arith::CmpIPredicate::ule};
  const Type i1 = builder.getI1Type();
  if (isa<FloatType>(a.type))
    return {arith::CmpFOp::create(builder, loc, floats[int(kind)], a.value, b.value), i1};
  const auto *predicates = isUnsigned(a.type) ? unsignedOnes : signedOnes;
  return {arith::CmpIOp::create(builder, loc, predicates[int(kind)], a.value, b.value), i1};
}

Scalar ScalarBuilder::select(Scalar condition, Scalar a, Scalar b) {
  return {arith::SelectOp::create(builder, loc, condition.value, a.value, b.value), a.type};
}

Scalar ScalarBuilder::convert(Scalar x, Type to) {
  if (x.type == to)
    return x;
  if (to.isInteger(1))
    return compare(Compare::NotEqual, x, constant(x.type, 0.0));
  const Type inside = signless(to);
  const bool fromFloat = isa<FloatType>(x.type), toFloat = isa<FloatType>(to);
  const unsigned fromBits = x.type.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (fromFloat && toFloat) {
    if (fromBits == toBits) // f16 and bf16: f32 holds both, so only the second step rounds
      return convert(convert(x, builder.getF32Type()), to);
    if (fromBits < toBits)
      return {arith::ExtFOp::create(builder, loc, inside, x.value), to};
    return {arith::TruncFOp::create(builder, loc, inside, x.value), to};
  }
  if (fromFloat) {
    if (isUnsigned(to))
      return {arith::FPToUIOp::create(builder, loc, inside, x.value), to};
    return {arith::FPToSIOp::create(builder, loc, inside, x.value), to};
  }
  if (toFloat) {
    if (isUnsigned(x.type))
      return {arith::UIToFPOp::create(builder, loc, inside, x.value), to};
    return {arith::SIToFPOp::create(builder, loc, inside, x.value), to};
  }
  if (fromBits == toBits)
    return {x.value, to};
  if (fromBits > toBits)
    return {arith::TruncIOp::create(builder, loc, inside, x.value), to};
  if (isUnsigned(x.type))
    return {arith::ExtUIOp::create(builder, loc, inside, x.value), to};
  return {arith::ExtSIOp::create(builder, loc, inside, x.value), to};
}

Scalar ScalarBuilder::bitcast(Scalar x, Type to) {
  if (isa<IntegerType>(x.type) && isa<IntegerType>(to))
    return {x.value, to};
  return {arith::BitcastOp::create(builder, loc, signless(to), x.value), to};
}

Scalar ScalarBuilder::neg(Scalar x) {
  return isa<FloatType>(x.type) ? unary<arith::NegFOp>(x) : sub(constant(x.type, 0.0), x);
}
Scalar ScalarBuilder::abs(Scalar x) {
  if (isUnsigned(x.type))
    return x;
  return isa<FloatType>(x.type) ? unary<math::AbsFOp>(x) : unary<math::AbsIOp>(x);
}
Scalar ScalarBuilder::sign(Scalar x) {
  return isUnsigned(x.type) ? min(x, constant(x.type, 1.0)) : unary<wafer::SignOp>(x);
}
Scalar ScalarBuilder::logicalNot(Scalar x) { return bitXor(x, constant(x.type, 1.0)); }
Scalar ScalarBuilder::exp(Scalar x) { return unary<math::ExpOp>(x); }
Scalar ScalarBuilder::log(Scalar x) { return unary<math::LogOp>(x); }
Scalar ScalarBuilder::sqrt(Scalar x) { return unary<math::SqrtOp>(x); }
Scalar ScalarBuilder::rsqrt(Scalar x) { return unary<math::RsqrtOp>(x); }
Scalar ScalarBuilder::reciprocal(Scalar x) { return div(constant(x.type, 1.0), x); }
Scalar ScalarBuilder::tanh(Scalar x) { return unary<math::TanhOp>(x); }
Scalar ScalarBuilder::erf(Scalar x) { return unary<math::ErfOp>(x); }
Scalar ScalarBuilder::sigmoid(Scalar x) { return unary<wafer::SigmoidOp>(x); }
Scalar ScalarBuilder::floor(Scalar x) { return unary<math::FloorOp>(x); }
Scalar ScalarBuilder::ceil(Scalar x) { return unary<math::CeilOp>(x); }
Scalar ScalarBuilder::round(Scalar x) { return unary<math::RoundEvenOp>(x); }
Scalar ScalarBuilder::sin(Scalar x) { return unary<math::SinOp>(x); }
Scalar ScalarBuilder::cos(Scalar x) { return unary<math::CosOp>(x); }

} // namespace wsc::spmd
