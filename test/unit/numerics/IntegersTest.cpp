// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every integer type and conversion against references in __int128 and long double: all pairs of 8-bit values, edge
// cases and random values of the wider types.
#include "runtime/numerics/Elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

namespace wsc::numerics {
namespace {

using format::ElementType;
using format::Opcode;
using Wide = __int128;

constexpr ElementType kIntegers[] = {ElementType::I8, ElementType::I16, ElementType::I32, ElementType::I64,
                                     ElementType::U8, ElementType::U16, ElementType::U32, ElementType::U64};
constexpr ElementType kFloats[] = {ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::F64};

std::string name(ElementType type) { return std::string(format::elementTypeName(type)); }
int bitsIn(ElementType type) { return int(8 * format::elementBytes(type)); }
uint64_t maskOf(ElementType type) { return ~0ull >> (64 - bitsIn(type)); }
bool isSigned(ElementType type) {
  return type == ElementType::I8 || type == ElementType::I16 || type == ElementType::I32 || type == ElementType::I64;
}
Wide lowest(ElementType type) { return isSigned(type) ? -(Wide(1) << (bitsIn(type) - 1)) : Wide(0); }
Wide highest(ElementType type) { return lowest(type) + Wide(maskOf(type)); }
Wide valueOf(uint64_t payload, ElementType type) {
  return isSigned(type) && payload >> (bitsIn(type) - 1) & 1 ? Wide(payload) - Wide(maskOf(type)) - 1 : Wide(payload);
}

Wide power(Wide base, Wide exponent) { // modulo 2^64
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1;
  for (auto square = uint64_t(base); exponent; exponent /= 2, square *= square)
    if (exponent % 2)
      result *= square;
  return result;
}

// Exact, or right modulo 2^64; `bits` is the element's width.
Wide reference(Opcode opcode, int bits, Wide d, Wide a, Wide b) {
  auto times = [](Wide x, Wide y) { return Wide(uint64_t(x) * uint64_t(y)); };
  switch (opcode) {
  case Opcode::Add:
    return a + b;
  case Opcode::Sub:
    return a - b;
  case Opcode::Mul:
    return times(a, b);
  case Opcode::Div:
    return b == 0 ? 0 : a / b;
  case Opcode::Mod:
    return b == 0 ? 0 : a % b;
  case Opcode::Min:
    return std::min(a, b);
  case Opcode::Max:
    return std::max(a, b);
  case Opcode::Pow:
    return power(a, b);
  case Opcode::Neg:
    return -a;
  case Opcode::Abs:
    return a < 0 ? -a : a;
  case Opcode::Sign:
    return a < 0 ? -1 : a > 0;
  case Opcode::Not:
    return a == 0;
  case Opcode::Fma:
    return d + times(a, b);
  case Opcode::ReduceAdd:
    return d + a;
  case Opcode::ReduceMul:
    return times(d, a);
  case Opcode::ReduceMin:
    return std::min(d, a);
  case Opcode::ReduceMax:
    return std::max(d, a);
  case Opcode::CompareEq:
    return a == b;
  case Opcode::CompareLt:
    return a < b;
  case Opcode::CompareLe:
    return a <= b;
  case Opcode::Select:
    return b != 0 ? a : d;
  case Opcode::And:
    return Wide(uint64_t(a) & uint64_t(b));
  case Opcode::Or:
    return Wide(uint64_t(a) | uint64_t(b));
  case Opcode::Xor:
    return Wide(uint64_t(a) ^ uint64_t(b));
  case Opcode::ShiftLeft:
    return b < 0 || b >= bits ? 0 : Wide(uint64_t(a) << int(b));
  case Opcode::ShiftRight:
    return b < 0 || b >= bits ? (a < 0 ? -1 : 0) : a >> int(b);
  default: // moves
    return a;
  }
}

void expectReference(ElementType type, uint64_t d, uint64_t a, uint64_t b) {
  for (int o = 0; o < format::kNumOpcodes; ++o) {
    const auto opcode = Opcode(o);
    if (!isDefined(opcode, type) || opcode == Opcode::Convert)
      continue;
    const Wide want = reference(opcode, bitsIn(type), valueOf(d, type), valueOf(a, type), valueOf(b, type));
    ASSERT_EQ(applyScalar(opcode, type, d, a, b), uint64_t(want) & maskOf(type))
        << format::opcodeInfo(opcode).name << "." << name(type) << " of " << d << ", " << a << ", " << b;
  }
}

// Zeros, ones, extremes, powers of two and their neighbours, small counts, then random bits of random length.
uint64_t draw(std::mt19937_64 &random, ElementType type) {
  const uint64_t bits = random();
  switch (random() % 4) {
  case 0:
    return (bits % 3 - 1) & maskOf(type);
  case 1:
    return ((1ull << random() % unsigned(bitsIn(type))) + bits % 3 - 1) & maskOf(type);
  case 2:
    return random() % 70 & maskOf(type);
  default:
    return (bits >> random() % 64 ^ (bits & 1 ? ~0ull : 0)) & maskOf(type);
  }
}

std::mt19937_64 seeded() {
  const char *given = std::getenv("WSC_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 20260;
  std::printf("WSC_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return std::mt19937_64(seed);
}

TEST(Integers, EveryPairOfEightBits) {
  std::mt19937_64 random = seeded();
  for (ElementType type : {ElementType::I8, ElementType::U8})
    for (uint64_t a = 0; a < 256; ++a)
      for (uint64_t b = 0; b < 256; ++b)
        ASSERT_NO_FATAL_FAILURE(expectReference(type, random() & 255, a, b));
}

TEST(Integers, RandomValuesOfEveryType) {
  std::mt19937_64 random = seeded();
  for (ElementType type : kIntegers)
    for (int i = 0; i < 50000; ++i)
      ASSERT_NO_FATAL_FAILURE(expectReference(type, draw(random, type), draw(random, type), draw(random, type)));
}

TEST(Integers, UnsignedByExample) {
  auto u16 = [](Opcode opcode, uint64_t a, uint64_t b = 0) { return applyScalar(opcode, ElementType::U16, 0, a, b); };
  EXPECT_EQ(u16(Opcode::Add, 65535, 1), 0u);
  EXPECT_EQ(u16(Opcode::Neg, 1), 65535u);
  EXPECT_EQ(u16(Opcode::Abs, 65535), 65535u);
  EXPECT_EQ(u16(Opcode::Sign, 65535), 1u);
  EXPECT_EQ(u16(Opcode::Div, 65535, 2), 32767u);
  EXPECT_EQ(u16(Opcode::ShiftRight, 0x8000, 15), 1u);
  EXPECT_EQ(applyScalar(Opcode::CompareLt, ElementType::U64, 0, 1, ~0ull), 1u);
  EXPECT_EQ(applyScalar(Opcode::Div, ElementType::U64, 0, ~0ull, 2), ~0ull >> 1);
  EXPECT_EQ(applyScalar(Opcode::ShiftRight, ElementType::I16, 0, 0x8000, 15), 0xffffu);
  EXPECT_EQ(applyScalar(Opcode::ShiftRight, ElementType::U32, 0, ~0u, 32), 0u);
}

// The element of a float type with `digits` digits nearest to x, halves to even, as a long double. Inputs are at most
// 2^64 in magnitude.
long double rounded(long double x, ElementType type) {
  const int digits = type == ElementType::F64 ? 53 : type == ElementType::F32 ? 24 : type == ElementType::F16 ? 11 : 8;
  const int lowest = type == ElementType::F64   ? -1074
                     : type == ElementType::F16 ? -24
                     : type == ElementType::F32 ? -149
                                                : -133;
  if (x == 0 || !std::isfinite(x))
    return x;
  const int unit = std::max(std::ilogb(x) - digits + 1, lowest);
  const long double nearest = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  return type == ElementType::F16 && std::fabs(nearest) >= 65520 ? std::copysign(HUGE_VALL, nearest) : nearest;
}

long double floatValue(uint64_t payload, ElementType type) {
  return doubleOf(convertElement(payload, type, ElementType::F64)); // exact for every float type
}

void expectConversions(uint64_t payload, ElementType from) {
  const bool fromFloat = isFloat(from);
  const long double value = fromFloat ? floatValue(payload, from) : static_cast<long double>(valueOf(payload, from));
  for (ElementType to : kFloats) {
    const uint64_t got = convertElement(payload, from, to);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(floatValue(got, to)));
    else
      ASSERT_EQ(floatValue(got, to), rounded(value, to)) << name(from) << " " << payload << " to " << name(to);
  }
  for (ElementType to : kIntegers) {
    Wide want = 0;
    if (!fromFloat)
      want = valueOf(payload, from);
    else if (value >= static_cast<long double>(highest(to)))
      want = highest(to);
    else if (value <= static_cast<long double>(lowest(to)))
      want = lowest(to);
    else if (!std::isnan(value))
      want = Wide(std::trunc(value));
    ASSERT_EQ(convertElement(payload, from, to), uint64_t(want) & maskOf(to))
        << name(from) << " " << payload << " to " << name(to);
  }
  ASSERT_EQ(convertElement(payload, from, ElementType::Bool), value == 0 ? 0u : 1u);
}

TEST(Integers, ConversionsBothWays) {
  std::mt19937_64 random = seeded();
  for (ElementType from : kIntegers)
    for (int i = 0; i < 100000; ++i)
      ASSERT_NO_FATAL_FAILURE(expectConversions(draw(random, from), from));
  for (uint64_t payload = 0; payload < 65536; ++payload)
    for (ElementType from : {ElementType::F16, ElementType::BF16, ElementType::I16, ElementType::U16})
      if (from != ElementType::BF16 ||
          std::fabs(floatValue(payload, from)) <= 0x1p64L) // beyond, `rounded` knows no overflow
        ASSERT_NO_FATAL_FAILURE(expectConversions(payload, from));
  for (int i = 0; i < 200000; ++i) { // around every power of two that matters to an integer type
    const double x = std::ldexp(1.0 + double(random() % 16) / 16, int(random() % 70) - 3);
    const double near = std::nextafter(x, random() % 2 ? 0.0 : 1e30);
    for (double value : {x, -x, near, -near}) {
      ASSERT_NO_FATAL_FAILURE(expectConversions(bitsOf(value), ElementType::F64));
      ASSERT_NO_FATAL_FAILURE(expectConversions(bitsOf(float(value)), ElementType::F32));
    }
  }
}

// What a double does not hold cannot be given as an immediate: 2^53 + 1 becomes 2^53.
TEST(Integers, ImmediatesAreDoubles) {
  EXPECT_EQ(encodeImmediate(65535, ElementType::U16), 65535u);
  EXPECT_EQ(encodeImmediate(-1, ElementType::U16), 0u);
  EXPECT_EQ(encodeImmediate(-32768, ElementType::I16), 0x8000u);
  EXPECT_EQ(encodeImmediate(4294967295.0, ElementType::U32), 4294967295u);
  EXPECT_EQ(encodeImmediate(0x1p63, ElementType::U64), 1ull << 63);
  EXPECT_EQ(encodeImmediate(0x1p64, ElementType::U64), ~0ull);
  EXPECT_EQ(encodeImmediate(double((1ll << 53) + 1), ElementType::I64), 1ull << 53);
}

} // namespace
} // namespace wsc::numerics
