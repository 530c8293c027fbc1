// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of the named routines, correctly rounded, and the reduction helpers f32 and f64 share.
#pragma once

#include "runtime/numerics/Bits.h"

namespace wsc::numerics::detail {

// Adding this to |x| < 2^51 rounds x to an integer (nearest even) and leaves that integer in the low bits of the sum.
constexpr double kRoundShift = 0x1.8p52;

constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
// ln 2 in two parts; products of the first with |k| < 2^11 are exact.
constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;

// π/2 as a sum of 33-bit parts (products with |k| < 2^20 are exact) and a tail; kHalfPi3f is the tail after two parts.
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kHalfPi1 = 0x1.921fb54400000p+0, kHalfPi2 = 0x1.0b4611a600000p-34, kHalfPi3 = 0x1.3198a2e000000p-69,
                 kHalfPi4 = 0x1.b839a252049c1p-104;
constexpr double kHalfPi3f = 0x1.3198a2e037073p-69;
constexpr double kHalfPiHigh = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;
// Above this magnitude angles are reduced on integers (Reduction.h).
constexpr double kCodyWaiteLimit = 0x1.8p20;

// 2^k for the integer k in the low bits of a sum with kRoundShift, -1022 <= k <= 1023.
WSC_INLINE double powerOfTwo(double shifted) { return doubleOf((bitsOf(shifted) + 1023) << 52); }

// x = m · 2^k with m in [√½, √2), for normal positive x; k as a double.
WSC_INLINE double splitAtSqrtHalf(double x, double &k) {
  uint64_t offset = bitsOf(x) - 0x3fe6a09e667f3bcdull;
  uint64_t biased = (offset + (1024ull << 52)) >> 52; // k + 1024
  k = doubleOf(biased | 0x4330000000000000ull) - (0x1p52 + 1024);
  return doubleOf(bitsOf(x) - (offset & 0xfff0000000000000ull));
}

// Numerator and denominator coefficients, highest power first, of W. J. Cody, "Rational Chebyshev approximations for
// the error function", Math. Comp. 23, 1969: erf x = x·A(x²)/B(x²) for |x| <= 0.46875; erfc x = exp(-x²)·C(x)/D(x) up
// to 4.
constexpr double kErfA[5] = {1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2,
                             3.77485237685302021e2, 3.20937758913846947e3};
constexpr double kErfB[5] = {1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
                             2.84423683343917062e3};
constexpr double kErfC[9] = {2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
                             6.61191906371416295e1,  2.98635138197400131e2,  8.81952221241769090e2,
                             1.71204761263407058e3,  2.05107837782607147e3,  1.23033935479799725e3};
constexpr double kErfD[9] = {1.0,
                             1.57449261107098347e1,
                             1.17693950891312499e2,
                             5.37181101862009858e2,
                             1.62138957456669019e3,
                             3.29079923573345963e3,
                             4.36261909014324716e3,
                             3.43936767414372164e3,
                             1.23033935480374942e3};

// Horner's rule, highest power first, with separate multiplications and additions.
template <int N> WSC_INLINE double polynomial(const double (&coefficients)[N], double x) {
  double sum = coefficients[0];
  for (int i = 1; i < N; ++i)
    sum = sum * x + coefficients[i];
  return sum;
}

} // namespace wsc::numerics::detail
