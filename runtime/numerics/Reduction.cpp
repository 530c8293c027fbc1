// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// M. Payne, R. Hanek, "Radian reduction for trigonometric functions", SIGNUM 18(1), 1983, on integers. x = m·2^e; of
// the bits of 2/π those that contribute multiples of 4 to x·2/π are skipped, the next 192 are multiplied by m modulo
// 2^192: two bits of quadrant and 190 bits of fraction, of which cancellation eats at most about 62 for a double.
#include "runtime/numerics/Reduction.h"

#include "runtime/numerics/Constants.h"

#include <bit>

namespace wsc::numerics {

namespace {

using uint128 = unsigned __int128;

// The first 1280 bits of 2/π after the binary point.
constexpr uint64_t kTwoOverPiBits[20] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull,
};

// 64 bits of 2/π beginning at bit `first` (0: the first after the point; negative: zeros before it).
uint64_t bitsOfTwoOverPi(int first) {
  auto word = [](int i) { return i < 0 || i >= 20 ? 0 : kTwoOverPiBits[i]; };
  int index = first >= 0 ? first / 64 : -((63 - first) / 64);
  int offset = first - index * 64;
  return offset == 0 ? word(index) : word(index) << offset | word(index + 1) >> (64 - offset);
}

} // namespace

Angle reduceAngle(double x) {
  uint64_t bits = bitsOf(x);
  int biased = int(bits >> 52 & 0x7ff);
  if (biased == 0x7ff)
    return {doubleOf(kNanF64), doubleOf(kNanF64), 0};
  uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
  int exponent = biased - 1075;

  // Bit i has weight 2^-(i+1); from i = exponent - 2 on m·bit is below 4·m·….
  int first = exponent - 2;
  uint64_t w2 = bitsOfTwoOverPi(first), w1 = bitsOfTwoOverPi(first + 64), w0 = bitsOfTwoOverPi(first + 128);
  uint128 low = uint128(w0) * mantissa;
  uint128 middle = uint128(w1) * mantissa + uint64_t(low >> 64);
  uint64_t p0 = uint64_t(low), p1 = uint64_t(middle), p2 = w2 * mantissa + uint64_t(middle >> 64);

  // p2:p1:p0 is x·2/π modulo 4 in units of 2^-190.
  int quadrant = int(p2 >> 62);
  uint128 fraction = uint128(p2) << 66 | uint128(p1) << 2 | p0 >> 62; // units of 2^-128
  uint64_t rest = p0 << 2;
  bool negative = fraction >> 127; // a half or more: the next quadrant less the complement
  if (negative) {
    quadrant = (quadrant + 1) & 3;
    fraction = ~fraction;
    rest = ~rest; // one unit of 2^-192 less than the exact complement
  }
  int exponentOfTop = -1;
  while (fraction >> 127 == 0 && exponentOfTop > -128) {
    fraction = fraction << 1 | rest >> 63;
    rest <<= 1;
    --exponentOfTop;
  }
  // fraction = f·2^(exponentOfTop - 127): split into two doubles, then times π/2.
  auto top = uint64_t(fraction >> 75);
  auto next = uint64_t(fraction >> 22) & ((1ull << 53) - 1);
  double scale = doubleOf(uint64_t(exponentOfTop + 1023) << 52);
  double high = double(top) * (scale * 0x1p-52);
  double tail = double(next) * (scale * 0x1p-105);

  // (high + tail)·(π/2) as a double-double; the product's error by Dekker's splitting.
  double product = high * detail::kHalfPiHigh;
  auto splitHigh = [](double v) { return doubleOf(bitsOf(v) & 0xfffffffff8000000ull); };
  double ha = splitHigh(high), la = high - ha;
  double hb = splitHigh(detail::kHalfPiHigh), lb = detail::kHalfPiHigh - hb;
  double error = ((ha * hb - product) + ha * lb + la * hb) + la * lb;
  error += high * detail::kHalfPiLow + tail * detail::kHalfPiHigh;
  double sum = product + error;
  double low2 = error - (sum - product);
  bool flip = negative != (bits >> 63 != 0);
  if (bits >> 63)
    quadrant = (4 - quadrant) & 3;
  return flip ? Angle{-sum, -low2, quadrant} : Angle{sum, low2, quadrant};
}

} // namespace wsc::numerics
