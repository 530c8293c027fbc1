// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// applyScalar: every opcode on one element. Floats compute in f64 or f32 (f16 and bf16 widened, rounded once at the
// end), integers in 64 bits, sign- or zero-extended, cut to the element type at the end.
#include "runtime/numerics/Elements.h"

#include "runtime/numerics/Arithmetic.h"
#include "runtime/numerics/Convert.h"

namespace wsc::numerics {

using format::ElementType;
using format::Opcode;

namespace {

// Arithmetic and routines on T = float, double, int64_t or uint64_t. Moves and bit logic never come here.
template <typename T> T applyTo(Opcode opcode, T dst, T a, T b) {
  switch (opcode) {
#define WSC_CASE(OPCODE)                                                                                               \
  case Opcode::OPCODE:                                                                                                 \
    if constexpr (hasArithmetic<Opcode::OPCODE, T>())                                                                  \
      return apply<Opcode::OPCODE>(dst, a, b);                                                                         \
    break;
    WSC_FOR_ARITHMETIC(WSC_CASE)
#undef WSC_CASE
  default:
    break;
  }
  return 0;
}

float widenHalf(uint64_t payload, ElementType type) {
  return type == ElementType::F16 ? f16ToF32(uint16_t(payload)) : bf16ToF32(uint16_t(payload));
}

uint64_t cut(uint64_t value, ElementType type) {
  if (type == ElementType::Bool)
    return value != 0;
  int64_t bytes = format::elementBytes(type);
  return bytes == 8 ? value : value & ((1ull << (8 * bytes)) - 1);
}

} // namespace

bool isDefined(Opcode opcode, ElementType type) {
  switch (opcode) {
  case Opcode::Loop:
  case Opcode::EndLoop:
  case Opcode::SendControl:
    return false;
  case Opcode::ShiftLeft:
  case Opcode::ShiftRight:
    return !isFloat(type);
  default:
    return isFloat(type) || !format::opcodeInfo(opcode).floatOnly;
  }
}

uint64_t applyScalar(Opcode opcode, ElementType type, uint64_t dst, uint64_t a, uint64_t b, ElementType sourceType) {
  if (!isDefined(opcode, type))
    return 0;
  if (sourceType != type && format::mayMix(opcode, sourceType, type)) {
    if (type == ElementType::Bool)
      return applyScalar(opcode, sourceType, 0, a, b) != 0;
    return applyScalar(opcode, type, dst, convertElement(a, sourceType, type), convertElement(b, sourceType, type));
  }
  switch (opcode) { // what works on bits, for every type
  case Opcode::Move:
  case Opcode::Gather:
  case Opcode::Scatter:
    return cut(a, type);
  case Opcode::Convert:
    return convertElement(a, sourceType, type);
  case Opcode::And:
    return cut(a & b, type);
  case Opcode::Or:
    return cut(a | b, type);
  case Opcode::Xor:
    return cut(a ^ b, type);
  case Opcode::Select: {
    // -0 counts as zero, NaN does not.
    uint64_t condition = isFloat(type) ? b & ~(1ull << (8 * format::elementBytes(type) - 1)) : b;
    return cut(condition ? a : dst, type);
  }
  default:
    break;
  }
  switch (type) {
  case ElementType::F32:
    return bitsOf(applyTo(opcode, floatOf(uint32_t(dst)), floatOf(uint32_t(a)), floatOf(uint32_t(b))));
  case ElementType::F64:
    return bitsOf(applyTo(opcode, doubleOf(dst), doubleOf(a), doubleOf(b)));
  case ElementType::F16:
    return f32ToF16(applyTo(opcode, widenHalf(dst, type), widenHalf(a, type), widenHalf(b, type)));
  case ElementType::BF16:
    return f32ToBF16(applyTo(opcode, widenHalf(dst, type), widenHalf(a, type), widenHalf(b, type)));
  default: {
    const int64_t d = integerValue(dst, type), x = integerValue(a, type), y = integerValue(b, type);
    if (isUnsigned(type))
      return cut(applyTo(opcode, uint64_t(d), uint64_t(x), uint64_t(y)), type);
    return cut(uint64_t(applyTo(opcode, d, x, y)), type);
  }
  }
}

} // namespace wsc::numerics
