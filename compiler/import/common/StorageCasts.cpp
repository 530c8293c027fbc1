// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of 8 and 4 bits, from and to f32 or f64 bits. A code without its sign is exponent and mantissa side by side,
// as in the wider type, so a number whose exponent both types have moves by a shift and a difference of biases;
// rounding to nearest even adds half of the last place (a little less to even codes) before the shift, and a carry runs
// into the exponent as it should. Subnormal codes count multiples of the smallest number: they come from rounding |x|
// divided by it and go back as a product with it.
#include "compiler/import/common/StorageCasts.h"
#include "dialects/nn/Storage.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

namespace wsc::import {
namespace {

/// The layout of a float: codes are without the sign, and -1 stands for none.
struct Layout {
  int mantissa, bias;
  int64_t signBit;
  int64_t greatest; ///< code of the greatest finite value
  int64_t infinity; ///< code of infinity, or -1
  int64_t nan;      ///< code of NaN; with the sign bit set it may be the only one
  bool nanIsMinusZero;
};

Layout layoutOf(mlir::Type element) {
  if (mlir::isa<mlir::Float8E4M3FNType>(element))
    return {3, 7, 0x80, 0x7e, -1, 0x7f, false};
  if (mlir::isa<mlir::Float8E4M3FNUZType>(element))
    return {3, 8, 0x80, 0x7f, -1, 0x80, true};
  if (mlir::isa<mlir::Float8E5M2Type>(element))
    return {2, 15, 0x80, 0x7b, 0x7c, 0x7e, false};
  if (mlir::isa<mlir::Float8E5M2FNUZType>(element))
    return {2, 16, 0x80, 0x7f, -1, 0x80, true};
  return {1, 1, 0x8, 0x7, -1, -1, false}; // f4E2M1FN
}

/// The wide float a code comes from or goes to, f32 or f64, and the integer of as many bits.
struct Wide {
  mlir::Type element, bits;
  int width, mantissa, bias;
};

Wide wideOf(LayerBuilder &layers, bool isDouble) {
  mlir::OpBuilder &builder = layers.builder();
  if (isDouble)
    return {builder.getF64Type(), builder.getI64Type(), 64, 52, 1023};
  return {builder.getF32Type(), builder.getI32Type(), 32, 23, 127};
}

Expression bitcast(const Expression &x, mlir::Type element) { return {x.layers(), x.layers().bitcast(x, element)}; }

/// An integer constant of x's type; numbers of 64 bits pass through no double.
Expression whole(const Expression &x, int64_t value) {
  if (!x.elementType())
    return x;
  Literal literal = Literal::zeros(mlir::RankedTensorType::get({}, x.elementType()));
  literal.ints[0] = value;
  literal.normalize();
  return {x.layers(), x.layers().fromLiteral(literal)};
}
Expression shiftLeft(const Expression &x, int64_t count) {
  return binary(nn::BinaryKind::ShiftLeft, x, whole(x, count));
}
/// The sign of a signless integer is copied.
Expression shiftRight(const Expression &x, int64_t count) {
  return binary(nn::BinaryKind::ShiftRight, x, whole(x, count));
}

/// Bits of an infinity of the wide type, above which only NaNs lie.
int64_t infinityBits(const Wide &wide) {
  return ((int64_t{1} << (wide.width - 1 - wide.mantissa)) - 1) << wide.mantissa;
}

Expression encodeFloat(const Expression &x, const Wide &wide, const Layout &to, bool saturate) {
  Expression bits = bitcast(x, wide.bits);
  Expression size = bits & whole(bits, ~(int64_t{1} << (wide.width - 1)));
  Expression isNegative = less(bits, whole(bits, 0));
  // Numbers that are subnormal in the narrow type, then all others.
  const int smallest = 1 - to.bias;
  Expression small = round(bitcast(size, wide.element) * std::ldexp(1.0, to.mantissa - smallest)).cast(wide.bits);
  const int64_t dropped = wide.mantissa - to.mantissa;
  Expression last = shiftRight(size, dropped) & whole(size, 1);
  Expression normal = shiftRight(size + whole(size, (int64_t{1} << (dropped - 1)) - 1) + last, dropped) -
                      whole(size, (int64_t{wide.bias} - to.bias) << to.mantissa);
  Expression code = select(less(size, whole(size, (int64_t{wide.bias} + smallest) << wide.mantissa)), small, normal);
  const bool saturates = saturate || (to.infinity < 0 && to.nan < 0);
  const int64_t beyond = saturates ? to.greatest : to.infinity >= 0 ? to.infinity : to.nan;
  code = select(lessEqual(code, whole(code, to.greatest)), code, whole(code, beyond));
  Expression sign = select(isNegative, whole(code, to.signBit), whole(code, 0));
  if (to.nanIsMinusZero) // no minus zero, and one NaN
    sign = select(equal(code, whole(code, 0)), whole(code, 0), sign);
  code = code | sign;
  if (to.nan < 0)
    return select(less(whole(size, infinityBits(wide)), size), whole(code, to.signBit), code);
  Expression nan = to.nanIsMinusZero ? whole(code, to.nan) : whole(code, to.nan) | sign;
  return select(less(whole(size, infinityBits(wide)), size), nan, code);
}

Expression decodeFloat(const Expression &code, const Wide &wide, const Layout &from) {
  Expression size = code & whole(code, from.signBit - 1);
  const int smallest = 1 - from.bias;
  Expression small = bitcast(size.cast(wide.element) * std::ldexp(1.0, smallest - from.mantissa), wide.bits);
  Expression normal =
      shiftLeft(size, wide.mantissa - from.mantissa) + whole(size, (int64_t{wide.bias} - from.bias) << wide.mantissa);
  Expression bits = select(less(size, whole(size, int64_t{1} << from.mantissa)), small, normal);
  const int64_t quiet = infinityBits(wide) | int64_t{1} << (wide.mantissa - 1);
  if (from.infinity >= 0)
    bits = select(equal(size, whole(size, from.infinity)), whole(bits, infinityBits(wide)), bits);
  if (from.nan >= 0 && !from.nanIsMinusZero)
    bits = select(less(whole(size, std::max(from.greatest, from.infinity)), size), whole(bits, quiet), bits);
  Expression isNegative = less(whole(code, from.signBit - 1), code);
  bits = bits | select(isNegative, whole(bits, int64_t{1} << (wide.width - 1)), whole(bits, 0));
  if (from.nanIsMinusZero)
    bits = select(equal(code, whole(code, from.nan)), whole(bits, quiet), bits);
  return bitcast(bits, wide.element);
}

/// f8E8M0FNU is the exponent of f32 and no more: 0xff is NaN, there is no sign.
Expression encodeExponent(const Expression &x, const StorageRounding &rounding) {
  const Wide wide = wideOf(x.layers(), false);
  Expression bits = bitcast(x.cast(wide.element), wide.bits);
  Expression exponent = shiftRight(bits & whole(bits, 0x7f800000), 23), rest = bits & whole(bits, 0x7fffff);
  Expression none = whole(bits, 0), one = whole(bits, 1), special = equal(exponent, whole(bits, 0xff));
  Expression more = none;
  if (rounding.direction == StorageRounding::Up) {
    more = select(less(none, rest), one, none);
  } else if (rounding.direction == StorageRounding::Nearest) {
    // A tie goes up, except between 0 and the smallest number.
    Expression half = select(equal(exponent, none), whole(bits, 0x400001), whole(bits, 0x400000));
    more = select(lessEqual(half, rest), one, none);
  }
  Expression code = exponent + more;
  if (rounding.saturate)
    code = minimum(code, whole(bits, 0xfe));
  return select(special, whole(bits, 0xff), code);
}

Expression decodeExponent(const Expression &code) {
  const Wide wide = wideOf(code.layers(), false);
  Expression bits = shiftLeft(code, 23);
  bits = select(equal(code, whole(code, 0)), whole(code, 0x00400000), bits);
  return bitcast(select(equal(code, whole(code, 0xff)), whole(code, 0x7fc00000), bits), wide.element);
}

/// A byte of an integer type with fewer bits.
Expression encodeInteger(const Expression &x, mlir::Type element, mlir::Type byte) {
  const int64_t width = element.getIntOrFloatBitWidth();
  Expression y = (x.isFloat() ? x.cast(x.layers().builder().getI32Type()) : x).cast(byte);
  if (!element.isUnsignedInteger())
    return shiftRight(shiftLeft(y, 8 - width), 8 - width);
  return y & whole(y, (int64_t{1} << width) - 1);
}

} // namespace

static Expression decoded(const Expression &x, mlir::Type element) {
  LayerBuilder &layers = x.layers();
  mlir::Type from = x.elementType();
  Expression byte = bitcast(x, nn::byteTypeOf(from));
  if (mlir::isa<mlir::IntegerType>(from))
    return byte.cast(element);
  if (mlir::isa<mlir::Float8E8M0FNUType>(from))
    return decodeExponent(byte.cast(layers.builder().getI32Type())).cast(element);
  const Wide wide = wideOf(layers, false);
  return decodeFloat(byte.cast(wide.bits), wide, layoutOf(from)).cast(element);
}

Expression castStorage(const Expression &x, mlir::Type element, const StorageRounding &rounding) {
  LayerBuilder &layers = x.layers();
  if (layers.failed() || x.elementType() == element)
    return x;
  if (nn::isStorage(x.elementType())) {
    const bool isInteger = mlir::isa<mlir::IntegerType>(x.elementType());
    if (!nn::isStorage(element))
      return decoded(x, element);
    return castStorage(decoded(x, isInteger ? nn::byteTypeOf(x.elementType()) : layers.builder().getF32Type()), element,
                       rounding);
  }
  mlir::Type byte = nn::byteTypeOf(element);
  if (mlir::isa<mlir::IntegerType>(element))
    return bitcast(encodeInteger(x, element, byte), element);
  if (mlir::isa<mlir::Float8E8M0FNUType>(element))
    return bitcast(encodeExponent(x, rounding).cast(byte), element);
  const bool isDouble = x.elementType().getIntOrFloatBitWidth() >= 32 && !x.elementType().isF32();
  const Wide wide = wideOf(layers, isDouble);
  Expression code = encodeFloat(x.cast(wide.element), wide, layoutOf(element), rounding.saturate);
  return bitcast(code.cast(byte), element);
}

} // namespace wsc::import
