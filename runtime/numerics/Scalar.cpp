// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// applyScalar: every opcode on one element, written once for floats (f16 and bf16 widened to f32 and rounded once at the end) and once
// for integers (computed on sign- or zero-extended int64, wrapped to the element type at the end).
#include "runtime/numerics/Elements.h"

#include "runtime/numerics/Convert.h"
#include "runtime/numerics/Float32.h"
#include "runtime/numerics/Float64.h"

namespace wsc::numerics {

using format::ElementType;
using format::Opcode;

namespace {

// Arithmetic and routines on T = float or double. Moves and bit logic never come here.
template <typename T> T applyFloat(Opcode opcode, T dst, T a, T b) {
  switch (opcode) {
  case Opcode::Add:
    return add(a, b);
  case Opcode::Sub:
    return sub(a, b);
  case Opcode::Mul:
    return mul(a, b);
  case Opcode::Div:
    return div(a, b);
  case Opcode::Min:
    return numerics::min(a, b);
  case Opcode::Max:
    return numerics::max(a, b);
  case Opcode::Pow:
    return numerics::pow(a, b);
  case Opcode::Mod:
    return mod(a, b);
  case Opcode::Neg:
    return neg(a);
  case Opcode::Abs:
    return numerics::abs(a);
  case Opcode::Exp:
    return numerics::exp(a);
  case Opcode::Log:
    return numerics::log(a);
  case Opcode::Sqrt:
    return numerics::sqrt(a);
  case Opcode::Rsqrt:
    return rsqrt(a);
  case Opcode::Reciprocal:
    return reciprocal(a);
  case Opcode::Tanh:
    return numerics::tanh(a);
  case Opcode::Erf:
    return numerics::erf(a);
  case Opcode::Sigmoid:
    return sigmoid(a);
  case Opcode::Floor:
    return numerics::floor(a);
  case Opcode::Ceil:
    return numerics::ceil(a);
  case Opcode::Round:
    return numerics::round(a);
  case Opcode::Sign:
    return sign(a);
  case Opcode::Sin:
    return numerics::sin(a);
  case Opcode::Cos:
    return numerics::cos(a);
  case Opcode::Not:
    return a == 0 ? 1 : 0;
  case Opcode::Fma:
    return numerics::fma(a, b, dst);
  case Opcode::ReduceAdd:
    return add(dst, a);
  case Opcode::ReduceMul:
    return mul(dst, a);
  case Opcode::ReduceMin:
    return numerics::min(dst, a);
  case Opcode::ReduceMax:
    return numerics::max(dst, a);
  case Opcode::CompareEq:
    return a == b;
  case Opcode::CompareLt:
    return a < b;
  case Opcode::CompareLe:
    return a <= b;
  default:
    return 0;
  }
}

uint64_t wrappingPow(int64_t base, int64_t exponent) {
  if (exponent < 0) // the truncated reciprocal; 0 to a negative power counts as a division by 0
    return base == 1 ? 1 : base == -1 ? ((exponent & 1) ? ~0ull : 1) : 0;
  uint64_t result = 1;
  for (uint64_t square = uint64_t(base); exponent; exponent >>= 1, square *= square)
    if (exponent & 1)
      result *= square;
  return result;
}

uint64_t dividing(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? 0 - uint64_t(a) : uint64_t(a / b); }
uint64_t remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : uint64_t(a % b); }

// Results are exact modulo 2^64; the caller cuts them to the element.
uint64_t applyInteger(Opcode opcode, int bits, int64_t dst, int64_t a, int64_t b) {
  auto ua = uint64_t(a), ub = uint64_t(b), ud = uint64_t(dst);
  switch (opcode) {
  case Opcode::Add:
    return ua + ub;
  case Opcode::Sub:
    return ua - ub;
  case Opcode::Mul:
    return ua * ub;
  case Opcode::Div:
    return dividing(a, b);
  case Opcode::Min:
    return uint64_t(a < b ? a : b);
  case Opcode::Max:
    return uint64_t(a > b ? a : b);
  case Opcode::Pow:
    return wrappingPow(a, b);
  case Opcode::Mod:
    return remainder(a, b);
  case Opcode::Neg:
    return 0 - ua;
  case Opcode::Abs:
    return a < 0 ? 0 - ua : ua;
  case Opcode::Sign:
    return a > 0 ? 1 : a < 0 ? ~0ull : 0;
  case Opcode::Not:
    return a == 0;
  case Opcode::Fma:
    return ud + ua * ub;
  case Opcode::ReduceAdd:
    return ud + ua;
  case Opcode::ReduceMul:
    return ud * ua;
  case Opcode::ReduceMin:
    return uint64_t(dst < a ? dst : a);
  case Opcode::ReduceMax:
    return uint64_t(dst > a ? dst : a);
  case Opcode::CompareEq:
    return a == b;
  case Opcode::CompareLt:
    return a < b;
  case Opcode::CompareLe:
    return a <= b;
  case Opcode::ShiftLeft:
    return b < 0 || b >= bits ? 0 : ua << b;
  case Opcode::ShiftRight:
    return uint64_t(b < 0 || b >= bits ? (a < 0 ? -1 : 0) : a >> b);
  default:
    return 0;
  }
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
    return bitsOf(applyFloat(opcode, floatOf(uint32_t(dst)), floatOf(uint32_t(a)), floatOf(uint32_t(b))));
  case ElementType::F64:
    return bitsOf(applyFloat(opcode, doubleOf(dst), doubleOf(a), doubleOf(b)));
  case ElementType::F16:
    return f32ToF16(applyFloat(opcode, widenHalf(dst, type), widenHalf(a, type), widenHalf(b, type)));
  case ElementType::BF16:
    return f32ToBF16(applyFloat(opcode, widenHalf(dst, type), widenHalf(a, type), widenHalf(b, type)));
  default:
    return cut(applyInteger(opcode, int(8 * format::elementBytes(type)), integerValue(dst, type), integerValue(a, type),
                            integerValue(b, type)),
               type);
  }
}

} // namespace wsc::numerics
