// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ground rules of arithmetic, as inline helpers: bit views, the one NaN, min and max, and the single-rounded
// multiply-add. Everything here is built from IEEE-754 + - * / and square root in the default rounding mode (nearest
// even, denormals kept), so it has the same bits on every host. Build with -ffp-contract=off (the project's flags do).
#pragma once

#include <bit>
#include <cstdint>

#if defined(__clang__)
#define WSC_INLINE inline __attribute__((always_inline))
#else
#define WSC_INLINE inline
#endif

namespace wsc::numerics {

constexpr uint16_t kNanF16 = 0x7e00;
constexpr uint16_t kNanBF16 = 0x7fc0;
constexpr uint32_t kNanF32 = 0x7fc00000;
constexpr uint64_t kNanF64 = 0x7ff8000000000000;

WSC_INLINE uint32_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }
WSC_INLINE uint64_t bitsOf(double x) { return std::bit_cast<uint64_t>(x); }
WSC_INLINE float floatOf(uint32_t bits) { return std::bit_cast<float>(bits); }
WSC_INLINE double doubleOf(uint64_t bits) { return std::bit_cast<double>(bits); }

// x, or the canonical NaN in place of any NaN. Every arithmetic result passes through it before it is stored; since NaN
// goes on to NaN through
// + - * / and fma, an engine may apply it once at the end of a chain instead of at every step.
// It works on the bits because compilers may assume that nobody looks at the payload of a computed NaN: LLVM drops `x
// != x ? nan : x` after a square root.
WSC_INLINE float canonical(float x) {
  uint32_t bits = bitsOf(x);
  return floatOf((bits & 0x7fffffffu) > 0x7f800000u ? kNanF32 : bits);
}
WSC_INLINE double canonical(double x) {
  uint64_t bits = bitsOf(x);
  return doubleOf((bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? kNanF64 : bits);
}

WSC_INLINE float copySign(float magnitude, float sign) {
  return floatOf((bitsOf(magnitude) & 0x7fffffffu) | (bitsOf(sign) & 0x80000000u));
}
WSC_INLINE double copySign(double magnitude, double sign) {
  return doubleOf((bitsOf(magnitude) & 0x7fffffffffffffffull) | (bitsOf(sign) & 0x8000000000000000ull));
}
WSC_INLINE float abs(float x) { return canonical(floatOf(bitsOf(x) & 0x7fffffffu)); }
WSC_INLINE double abs(double x) { return canonical(doubleOf(bitsOf(x) & 0x7fffffffffffffffull)); }
WSC_INLINE float neg(float x) { return canonical(floatOf(bitsOf(x) ^ 0x80000000u)); }
WSC_INLINE double neg(double x) { return canonical(doubleOf(bitsOf(x) ^ 0x8000000000000000ull)); }

// -1, +0 or +1; both zeros give +0.
WSC_INLINE float sign(float x) { return canonical(x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? 0.0f : x); }
WSC_INLINE double sign(double x) { return canonical(x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x); }

// IEEE 754-2019 minimum and maximum: a NaN on either side gives the canonical NaN, -0 < +0.
WSC_INLINE float min(float a, float b) {
  float least = a < b ? a : b < a ? b : floatOf(bitsOf(a) | bitsOf(b)); // equal: only zeros differ in bits
  return a != a || b != b ? floatOf(kNanF32) : least;
}
WSC_INLINE float max(float a, float b) {
  float greatest = a > b ? a : b > a ? b : floatOf(bitsOf(a) & bitsOf(b));
  return a != a || b != b ? floatOf(kNanF32) : greatest;
}
WSC_INLINE double min(double a, double b) {
  double least = a < b ? a : b < a ? b : doubleOf(bitsOf(a) | bitsOf(b));
  return a != a || b != b ? doubleOf(kNanF64) : least;
}
WSC_INLINE double max(double a, double b) {
  double greatest = a > b ? a : b > a ? b : doubleOf(bitsOf(a) & bitsOf(b));
  return a != a || b != b ? doubleOf(kNanF64) : greatest;
}

// Square root, correctly rounded; the form without errno keeps array loops vectorisable.
#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_sqrt)
#define WSC_HAS_ELEMENTWISE_SQRT 1
#endif
#endif
#ifdef WSC_HAS_ELEMENTWISE_SQRT
WSC_INLINE float sqrt(float x) { return canonical(__builtin_elementwise_sqrt(x)); }
WSC_INLINE double sqrt(double x) { return canonical(__builtin_elementwise_sqrt(x)); }
#else
WSC_INLINE float sqrt(float x) { return canonical(__builtin_sqrtf(x)); }
WSC_INLINE double sqrt(double x) { return canonical(__builtin_sqrt(x)); }
#endif

// a*b + c with one rounding, without hardware for it. The product of two floats is exact in double; the sum is formed
// in double and rounded to odd (the error of the addition, by Knuth's TwoSum, moves an even last bit towards the exact
// value), which makes the final rounding to float the only one that counts: double has more than 2 bits beyond float,
// also for denormal results. Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE ToC 57(4), 2008.
WSC_INLINE float fmaPortable(float a, float b, float c) {
  double product = double(a) * double(b);
  double addend = double(c);
  double sum = product + addend;
  double part = sum - product;
  double error = (product - (sum - part)) + (addend - part);
  uint64_t bits = bitsOf(sum);
  // Step towards zero when the exact value is nearer to zero than `sum`, then set the last bit.
  bool inexact = error != 0 && (bits & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
  bool towardsZero = (error < 0) != (sum < 0);
  uint64_t odd = (bits - (towardsZero ? 1 : 0)) | 1;
  return canonical(float(doubleOf(inexact && (bits & 1) == 0 ? odd : bits)));
}

WSC_INLINE float fma(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return canonical(__builtin_fmaf(a, b, c));
#else
  return fmaPortable(a, b, c);
#endif
}

// The same for double, on integers of 128 bits; independent of the host's libm.
double fmaPortable(double a, double b, double c);

WSC_INLINE double fma(double a, double b, double c) {
#if defined(__FMA__) || defined(__aarch64__)
  return canonical(__builtin_fma(a, b, c));
#else
  return fmaPortable(a, b, c);
#endif
}

} // namespace wsc::numerics
