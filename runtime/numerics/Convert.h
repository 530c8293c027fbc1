// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between element types. Towards a float type: nearest even, once. From float to integer: truncation,
// saturating, NaN gives 0. Between integers: two's complement wrap-around. To bool: 1 unless zero (NaN gives 1). The
// half types are held as uint16_t.
#pragma once

#include "runtime/numerics/Bits.h"

namespace wsc::numerics {

WSC_INLINE float f16ToF32(uint16_t half) {
  uint32_t magnitude = half & 0x7fffu;
  // The exponent is rebased by a multiplication, which also normalises denormals.
  float scaled = floatOf(magnitude << 13) * 0x1p112f;
  scaled = magnitude == 0x7c00u ? floatOf(0x7f800000u) : scaled;
  scaled = magnitude > 0x7c00u ? floatOf(kNanF32) : scaled;
  return floatOf(bitsOf(scaled) | (magnitude > 0x7c00u ? 0u : (half & 0x8000u) << 16));
}

WSC_INLINE uint16_t f32ToF16(float x) {
  uint32_t bits = bitsOf(x);
  uint32_t magnitude = bits & 0x7fffffffu;
  // Below 2^-14 the addition of ½ rounds to multiples of 2^-24, the step of denormal halves.
  uint32_t small = bitsOf(floatOf(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1)) >> 13;
  uint32_t result = magnitude < 0x38800000u ? small : normal;
  result = magnitude >= 0x47800000u ? 0x7c00u : result;
  return uint16_t(magnitude > 0x7f800000u ? kNanF16 : (result | (bits >> 16 & 0x8000u)));
}

WSC_INLINE float bf16ToF32(uint16_t x) { return canonical(floatOf(uint32_t(x) << 16)); }

WSC_INLINE uint16_t f32ToBF16(float x) {
  uint32_t bits = bitsOf(x);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return uint16_t((bits & 0x7fffffffu) > 0x7f800000u ? kNanBF16 : rounded);
}

// To float, rounded to odd: a following rounding to a type of at most 22 bits is then the only one that counts.
WSC_INLINE float f64ToF32Odd(double x) {
  float nearest = float(x);
  uint32_t bits = bitsOf(nearest);
  double difference = x - double(nearest);
  bool inexact = double(nearest) != x && x == x;
  bool towardsZero = bits >> 31 ? difference > 0 : difference < 0;
  uint32_t odd = (bits - (towardsZero ? 1u : 0u)) | 1u;
  return floatOf(inexact && (bits & 1) == 0 ? odd : bits);
}
WSC_INLINE uint16_t f64ToF16(double x) { return f32ToF16(f64ToF32Odd(x)); }
WSC_INLINE uint16_t f64ToBF16(double x) { return f32ToBF16(f64ToF32Odd(x)); }
WSC_INLINE float f64ToF32(double x) { return canonical(float(x)); }

// To double rounded to odd, for the half types.
WSC_INLINE double integerToF64Odd(uint64_t x) {
  uint64_t kept = x >> 53 ? (x & ~0x7ffull) | ((x & 0x7ff) ? 0x800 : 0) : x;
  return double(kept);
}
WSC_INLINE double integerToF64Odd(int64_t x) {
  double magnitude = integerToF64Odd(x < 0 ? 0 - uint64_t(x) : uint64_t(x));
  return x < 0 ? -magnitude : magnitude;
}

// Truncated and saturated to [low, high]; both bounds are integers of up to 53 bits that T holds.
template <typename T> WSC_INLINE T f64ToInteger(double x, double low, double high) {
  double inside = x <= low ? low : x >= high ? high : x;
  return T(x == x ? inside : 0.0);
}
WSC_INLINE int64_t f64ToI64(double x) {
  int64_t inside = f64ToInteger<int64_t>(x, -0x1p63, 0x1.fffffffffffffp62);
  return x >= 0x1p63 ? INT64_MAX : inside;
}
WSC_INLINE uint64_t f64ToU64(double x) {
  uint64_t inside = f64ToInteger<uint64_t>(x, 0.0, 0x1.fffffffffffffp63);
  return x >= 0x1p64 ? UINT64_MAX : inside;
}

} // namespace wsc::numerics
