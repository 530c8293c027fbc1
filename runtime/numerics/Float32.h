// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The named routines for f32, inline and without data-dependent branches so that loops over them vectorise with the
// same bits.
//
// All compute in double with plain + - * / and round to float once at the end. Double's 29 spare bits swallow the
// errors of reduction and polynomial, so results are within 0.501 ulp (docs/Numerics.md has the measured values),
// denormal results come out right by themselves, and no step needs a fused operation.
//  exp      Cody-Waite reduction x = k·ln 2 + r, Taylor polynomial of degree 9 on |r| <= ½ ln 2
//  log      x = m·2^k, s = (m-1)/(m+1), the series 2·artanh s to s^13
//  tanh     (e^2|x| - 1)/(e^2|x| + 1), the numerator without cancellation
//  erf      Cody's rational approximations (1969)
//  pow      exp(b · log |a|), IEEE 754 special cases
//  sin cos  Cody-Waite reduction by π/2 in three parts, Taylor polynomials on |r| <= π/4; from 1.5·2^20 on Payne-Hanek
#pragma once

#include "runtime/numerics/Constants.h"
#include "runtime/numerics/Reduction.h"

namespace wsc::numerics {

namespace detail {

constexpr float kInfinityF = __builtin_inff();

// (e^r - 1)/r, Taylor to degree 8: relative error 1e-11 for |r| <= ½ ln 2.
constexpr double kExpm1Over[9] = {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                                  1.0 / 24,     1.0 / 6,     1.0 / 2,    1.0};
constexpr double kArtanh[7] = {2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0};
constexpr double kSinOver[6] = {-1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0};
constexpr double kCosine[7] = {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2, 1.0};

// e^x in double, good to about 1e-11, saturating far outside float's range. NaN stays NaN.
WSC_INLINE double expCore(double x) {
  x = x < -160.0 ? -160.0 : x;
  x = x > 130.0 ? 130.0 : x;
  double shifted = x * kLog2E + kRoundShift;
  double r = x - (shifted - kRoundShift) * kLn2;
  return (r * polynomial(kExpm1Over, r) + 1.0) * powerOfTwo(shifted);
}

// ln x in double, good to about 1e-12 relative; x is a float's value, widened (so never denormal).
WSC_INLINE double logCore(double x) {
  double k;
  double m = splitAtSqrtHalf(x, k);
  double s = (m - 1.0) / (m + 1.0);
  double result = k * kLn2 + s * polynomial(kArtanh, s * s);
  result = x == double(kInfinityF) ? x : result;
  result = x == 0 ? -double(kInfinityF) : result;
  return x >= 0 ? result : doubleOf(kNanF64);
}

// sin (quadrant 0) or cos (quadrant 1) of k·π/2 + r, k in the low bits of `quadrant`.
WSC_INLINE float sinOfQuadrant(double r, uint64_t quadrant) {
  double z = r * r;
  double sine = r * polynomial(kSinOver, z);
  double cosine = polynomial(kCosine, z);
  double value = (quadrant & 1) ? cosine : sine;
  return canonical(float((quadrant & 2) ? -value : value));
}

// sin(x + shift·π/2) for |x| < kCodyWaiteLimit.
WSC_INLINE float sinSmall(float x, uint64_t shift) {
  double wide = double(x);
  double shifted = wide * kTwoOverPi + kRoundShift;
  double k = shifted - kRoundShift;
  double r = ((wide - k * kHalfPi1) - k * kHalfPi2) - k * kHalfPi3f;
  return sinOfQuadrant(r, bitsOf(shifted) + shift);
}

inline float sinLarge(float x, uint64_t shift) {
  Angle angle = reduceAngle(double(x));
  return sinOfQuadrant(angle.high, uint64_t(angle.quadrant) + shift);
}

WSC_INLINE bool needsLargeReduction(float x) { return !(x > -float(kCodyWaiteLimit) && x < float(kCodyWaiteLimit)); }

} // namespace detail

WSC_INLINE float add(float a, float b) { return canonical(a + b); }
WSC_INLINE float sub(float a, float b) { return canonical(a - b); }
WSC_INLINE float mul(float a, float b) { return canonical(a * b); }
WSC_INLINE float div(float a, float b) { return canonical(a / b); }
WSC_INLINE float reciprocal(float x) { return canonical(1.0f / x); }
// Square root and quotient in double, then one rounding to float.
WSC_INLINE float rsqrt(float x) { return canonical(float(1.0 / numerics::sqrt(double(x)))); }

WSC_INLINE float exp(float x) { return canonical(float(detail::expCore(double(x)))); }
WSC_INLINE float log(float x) { return canonical(float(detail::logCore(double(x)))); }
WSC_INLINE float sigmoid(float x) { return canonical(float(1.0 / (1.0 + detail::expCore(-double(x))))); }

WSC_INLINE float tanh(float x) {
  double y = double(floatOf(bitsOf(x) & 0x7fffffffu));
  y = y > 20.0 ? 40.0 : y + y;
  double shifted = y * detail::kLog2E + detail::kRoundShift;
  double r = y - (shifted - detail::kRoundShift) * detail::kLn2;
  double scale = detail::powerOfTwo(shifted);
  double expm1 = scale * (r * detail::polynomial(detail::kExpm1Over, r)) + (scale - 1.0);
  return canonical(copySign(float(expm1 / (expm1 + 2.0)), x));
}

WSC_INLINE float erf(float x) {
  double y = double(floatOf(bitsOf(x) & 0x7fffffffu));
  y = y > 6.0 ? 6.0 : y;
  double z = y * y;
  double near = y * (detail::polynomial(detail::kErfA, z) / detail::polynomial(detail::kErfB, z));
  double far =
      1.0 - detail::expCore(-z) * (detail::polynomial(detail::kErfC, y) / detail::polynomial(detail::kErfD, y));
  return canonical(copySign(float(y <= 0.46875 ? near : far), x));
}

// Halves to even; zeros keep the sign of x.
WSC_INLINE float round(float x) {
  float magnitude = floatOf(bitsOf(x) & 0x7fffffffu);
  float nearest = copySign((magnitude + 0x1p23f) - 0x1p23f, x);
  return canonical(magnitude < 0x1p23f ? nearest : x);
}
WSC_INLINE float floor(float x) {
  float nearest = round(x);
  return canonical(copySign(nearest > x ? nearest - 1.0f : nearest, x));
}
WSC_INLINE float ceil(float x) {
  float nearest = round(x);
  return canonical(copySign(nearest < x ? nearest + 1.0f : nearest, x));
}

WSC_INLINE float pow(float a, float b) {
  float magnitudeA = floatOf(bitsOf(a) & 0x7fffffffu), magnitudeB = floatOf(bitsOf(b) & 0x7fffffffu);
  double magnitude = detail::expCore(double(b) * detail::logCore(double(magnitudeA)));
  float result = magnitudeA == 1 ? 1.0f : float(magnitude);
  result = a != a || b != b ? floatOf(kNanF32) : result;
  float half = magnitudeB * 0.5f;
  bool integer = round(magnitudeB) == magnitudeB;
  bool odd = integer && round(half) != half; // a float above 2^24 is even, halving denormals never meets an integer
  uint32_t signBit = odd ? bitsOf(a) & 0x80000000u : 0;
  result = floatOf(bitsOf(result) | signBit);
  bool negativeFinite = a < 0 && magnitudeA < detail::kInfinityF;
  result = negativeFinite && !integer ? floatOf(kNanF32) : result;
  return canonical(a == 1 || b == 0 ? 1.0f : result);
}

inline float sin(float x) { return detail::needsLargeReduction(x) ? detail::sinLarge(x, 0) : detail::sinSmall(x, 0); }
inline float cos(float x) { return detail::needsLargeReduction(x) ? detail::sinLarge(x, 1) : detail::sinSmall(x, 1); }

// Remainder of a / b with the sign of a, exact (C's fmod).
float mod(float a, float b);

} // namespace wsc::numerics
