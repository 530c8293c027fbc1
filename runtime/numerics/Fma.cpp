// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiply-add of doubles with a single rounding, on integers: the 106-bit product and the addend are aligned in 128
// bits with everything below kept as one sticky bit, added, and rounded once to nearest even.
#include "runtime/numerics/Bits.h"

#include <bit>

namespace wsc::numerics {

namespace {

using uint128 = unsigned __int128;

constexpr uint64_t kFraction = (1ull << 52) - 1;
constexpr uint64_t kSignBit = 1ull << 63;
constexpr int kTopBit = 125; // highest bit of an aligned magnitude; two bits of headroom for the sum

// |x| = mantissa · 2^exponent.
struct Magnitude {
  uint64_t mantissa;
  int exponent;
};

Magnitude split(double x) {
  uint64_t bits = bitsOf(x);
  int biased = int(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & kFraction;
  return biased == 0 ? Magnitude{fraction, -1074} : Magnitude{fraction | 1ull << 52, biased - 1075};
}

int highestBit(uint128 x) {
  auto high = uint64_t(x >> 64);
  return high ? 127 - std::countl_zero(high) : 63 - std::countl_zero(uint64_t(x));
}

// x / 2^shift, with a lost remainder or'ed into the last bit.
uint128 shiftRightSticky(uint128 x, int shift) {
  if (shift <= 0)
    return x;
  if (shift > 127)
    return x != 0;
  return x >> shift | uint128((x & ((uint128(1) << shift) - 1)) != 0);
}

// ± magnitude · 2^exponent rounded to double; the last bit of `magnitude` may be sticky. magnitude ≠ 0.
double roundToDouble(uint64_t sign, uint128 magnitude, int exponent) {
  int lowest = highestBit(magnitude) + exponent - 52; // exponent of the result's last bit
  if (lowest < -1074)
    lowest = -1074;
  int drop = lowest - exponent;
  uint64_t kept;
  if (drop <= 0) {
    kept = uint64_t(magnitude << -drop);
  } else {
    // Result, half bit, sticky bit; the top two bits of `magnitude` are free.
    uint128 reduced = drop == 1 ? magnitude << 1 : shiftRightSticky(magnitude, drop - 2);
    auto tail = unsigned(uint64_t(reduced) & 3);
    kept = uint64_t(reduced >> 2);
    kept += tail > 2 || (tail == 2 && (kept & 1));
  }
  // kept below 2^52 means a denormal, and then lowest is -1074. A carry moves into the exponent, at the top to
  // infinity, by itself.
  auto biased = uint64_t(lowest + 1074);
  if (biased >= 0x7fe)
    return doubleOf(sign | 0x7ff0000000000000ull);
  return doubleOf(sign | ((biased << 52) + kept));
}

} // namespace

double fmaPortable(double a, double b, double c) {
  constexpr uint64_t kInfinity = 0x7ff0000000000000ull;
  auto finite = [](double x) { return (bitsOf(x) & kInfinity) != kInfinity; };
  if (!finite(a) || !finite(b))
    return canonical(a * b + c);
  if (!finite(c))
    return canonical(c);
  if (a == 0 || b == 0)
    return a * b + c; // exact
  uint64_t productSign = (bitsOf(a) ^ bitsOf(b)) & kSignBit;
  uint64_t addendSign = bitsOf(c) & kSignBit;

  Magnitude ma = split(a), mb = split(b), mc = split(c);
  uint128 product = uint128(ma.mantissa) * mb.mantissa;
  int shift = kTopBit - highestBit(product);
  product <<= shift;
  int exponent = ma.exponent + mb.exponent - shift;
  if (mc.mantissa == 0)
    return roundToDouble(productSign, product, exponent);
  uint128 addend = mc.mantissa;
  shift = kTopBit - highestBit(addend);
  addend <<= shift;
  int addendExponent = mc.exponent - shift;

  // Align to the larger exponent. Bits are lost only past 20 zero bits of the smaller one, so cancellation never
  // reaches the sticky bit.
  if (exponent >= addendExponent) {
    addend = shiftRightSticky(addend, exponent - addendExponent);
  } else {
    product = shiftRightSticky(product, addendExponent - exponent);
    exponent = addendExponent;
  }
  if (productSign == addendSign)
    return roundToDouble(productSign, product + addend, exponent);
  if (product == addend)
    return 0.0;
  return product > addend ? roundToDouble(productSign, product - addend, exponent)
                          : roundToDouble(addendSign, addend - product, exponent);
}

} // namespace wsc::numerics
