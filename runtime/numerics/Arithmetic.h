// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each arithmetic opcode does to one value, as a template over the opcode and the type computed in: float, double,
// or an integer of 32 or 64 bits. applyScalar and the engine's array forms are both made from it, so they have the same
// bits.
//
// Narrower elements are computed in a wider type and cut or rounded at the end (ElementTraits.h): the integer results
// here are exact modulo the width of T, and counts of shifts beyond the narrow width shift everything out in the wider
// one, too.
#pragma once

#include "runtime/format/Isa.h"
#include "runtime/numerics/Float32.h"
#include "runtime/numerics/Float64.h"

#include <type_traits>

namespace wsc::numerics {

// Calls X(Opcode) for the opcodes that apply() knows: all but moves, conversions, bit logic, selection, indexed access
// and control.
// clang-format off
#define WSC_FOR_ARITHMETIC(X)                                                                                          \
  X(Add) X(Sub) X(Mul) X(Div) X(Min) X(Max) X(Pow) X(Mod) X(Neg) X(Abs) X(Exp) X(Log) X(Sqrt) X(Rsqrt) X(Reciprocal)   \
  X(Tanh) X(Erf) X(Sigmoid) X(Floor) X(Ceil) X(Round) X(Sign) X(Sin) X(Cos) X(Not) X(Fma) X(ReduceAdd) X(ReduceMul)    \
  X(ReduceMin) X(ReduceMax) X(CompareEq) X(CompareLt) X(CompareLe) X(ShiftLeft) X(ShiftRight)
// clang-format on

// Whether apply<O, T> exists: float routines on floats, shifts on integers, the others on both.
template <format::Opcode O, typename T> constexpr bool hasArithmetic() {
  using enum format::Opcode;
  if (O == ShiftLeft || O == ShiftRight)
    return std::is_integral_v<T>;
  constexpr format::Opcode routines[] = {Exp,     Log,   Sqrt, Rsqrt, Reciprocal, Tanh, Erf,
                                         Sigmoid, Floor, Ceil, Round, Sin,        Cos};
  for (format::Opcode routine : routines)
    if (O == routine)
      return std::is_floating_point_v<T>;
  return true;
}

// Whether b takes part.
constexpr bool hasTwoSources(format::Opcode opcode) {
  using enum format::Opcode;
  for (format::Opcode binary :
       {Add, Sub, Mul, Div, Min, Max, Pow, Mod, Fma, CompareEq, CompareLt, CompareLe, ShiftLeft, ShiftRight})
    if (opcode == binary)
      return true;
  return false;
}

// a^b with wrap-around; a negative exponent is the truncated reciprocal, 0 for a base of 0.
template <typename T> WSC_INLINE T wrappingPow(T base, T exponent) {
  using U = std::make_unsigned_t<T>;
  if constexpr (std::is_signed_v<T>)
    if (exponent < 0)
      return base == 1 ? 1 : base == -1 ? ((exponent & 1) ? -1 : 1) : 0;
  U result = 1, square = U(base);
  for (U rest = U(exponent); rest; rest >>= 1, square *= square)
    if (rest & 1)
      result *= square;
  return T(result);
}

template <format::Opcode O, typename T> WSC_INLINE T applyInteger(T dst, T a, T b) {
  using enum format::Opcode;
  using U = std::make_unsigned_t<T>;
  const U ua = U(a), ub = U(b), ud = U(dst);
  constexpr U kBits = 8 * sizeof(T);
  [[maybe_unused]] const bool minusOne = std::is_signed_v<T> && b == T(-1); // the one divisor that may overflow
  if constexpr (O == Add)
    return T(ua + ub);
  else if constexpr (O == Sub)
    return T(ua - ub);
  else if constexpr (O == Mul)
    return T(ua * ub);
  else if constexpr (O == Div)
    return b == 0 ? T(0) : minusOne ? T(U(0) - ua) : T(a / b);
  else if constexpr (O == Mod)
    return b == 0 || minusOne ? T(0) : T(a % b);
  else if constexpr (O == Min)
    return a < b ? a : b;
  else if constexpr (O == Max)
    return a > b ? a : b;
  else if constexpr (O == Pow)
    return wrappingPow(a, b);
  else if constexpr (O == Neg)
    return T(U(0) - ua);
  else if constexpr (O == Abs)
    return std::is_signed_v<T> && a < T(0) ? T(U(0) - ua) : a;
  else if constexpr (O == Sign)
    return a > T(0) ? T(1) : a == T(0) ? T(0) : T(-1);
  else if constexpr (O == Not)
    return a == 0;
  else if constexpr (O == Fma)
    return T(ud + ua * ub);
  else if constexpr (O == ReduceAdd)
    return T(ud + ua);
  else if constexpr (O == ReduceMul)
    return T(ud * ua);
  else if constexpr (O == ReduceMin)
    return dst < a ? dst : a;
  else if constexpr (O == ReduceMax)
    return dst > a ? dst : a;
  else if constexpr (O == CompareEq)
    return a == b;
  else if constexpr (O == CompareLt)
    return a < b;
  else if constexpr (O == CompareLe)
    return a <= b;
  else if constexpr (O == ShiftLeft)
    return ub >= kBits ? T(0) : T(ua << ub);
  else
    return ub >= kBits ? (a < T(0) ? T(-1) : T(0)) : T(a >> ub);
}

template <format::Opcode O, typename T> WSC_INLINE T applyFloat(T dst, T a, T b) {
  using enum format::Opcode;
  if constexpr (O == Add)
    return add(a, b);
  else if constexpr (O == Sub)
    return sub(a, b);
  else if constexpr (O == Mul)
    return mul(a, b);
  else if constexpr (O == Div)
    return div(a, b);
  else if constexpr (O == Min)
    return numerics::min(a, b);
  else if constexpr (O == Max)
    return numerics::max(a, b);
  else if constexpr (O == Pow)
    return numerics::pow(a, b);
  else if constexpr (O == Mod)
    return mod(a, b);
  else if constexpr (O == Neg)
    return neg(a);
  else if constexpr (O == Abs)
    return numerics::abs(a);
  else if constexpr (O == Exp)
    return numerics::exp(a);
  else if constexpr (O == Log)
    return numerics::log(a);
  else if constexpr (O == Sqrt)
    return numerics::sqrt(a);
  else if constexpr (O == Rsqrt)
    return rsqrt(a);
  else if constexpr (O == Reciprocal)
    return reciprocal(a);
  else if constexpr (O == Tanh)
    return numerics::tanh(a);
  else if constexpr (O == Erf)
    return numerics::erf(a);
  else if constexpr (O == Sigmoid)
    return sigmoid(a);
  else if constexpr (O == Floor)
    return numerics::floor(a);
  else if constexpr (O == Ceil)
    return numerics::ceil(a);
  else if constexpr (O == Round)
    return numerics::round(a);
  else if constexpr (O == Sign)
    return sign(a);
  else if constexpr (O == Sin)
    return numerics::sin(a);
  else if constexpr (O == Cos)
    return numerics::cos(a);
  else if constexpr (O == Not)
    return a == 0 ? T(1) : T(0);
  else if constexpr (O == Fma)
    return numerics::fma(a, b, dst);
  else if constexpr (O == ReduceAdd)
    return add(dst, a);
  else if constexpr (O == ReduceMul)
    return mul(dst, a);
  else if constexpr (O == ReduceMin)
    return numerics::min(dst, a);
  else if constexpr (O == ReduceMax)
    return numerics::max(dst, a);
  else if constexpr (O == CompareEq)
    return a == b ? T(1) : T(0);
  else if constexpr (O == CompareLt)
    return a < b ? T(1) : T(0);
  else
    return a <= b ? T(1) : T(0);
}

// The new dst of one element; where hasArithmetic<O, T>().
template <format::Opcode O, typename T> WSC_INLINE T apply(T dst, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return applyFloat<O>(dst, a, b);
  else
    return applyInteger<O>(dst, a, b);
}

} // namespace wsc::numerics
