// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of docs/Numerics.md by example: NaN, zeros, min and max, integers, conversions; and fused multiply-add
// against the host's.
#include "runtime/numerics/Numerics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace wsc::numerics {
namespace {

using format::ElementType;
using format::Opcode;

constexpr float kInf = std::numeric_limits<float>::infinity();

// One f32 result as bits, from operands as values.
uint32_t f32(Opcode opcode, float a, float b = 0, float dst = 0) {
  return uint32_t(applyScalar(opcode, ElementType::F32, bitsOf(dst), bitsOf(a), bitsOf(b)));
}
int64_t i32(Opcode opcode, int32_t a, int32_t b = 0, int32_t dst = 0) {
  uint64_t result = applyScalar(opcode, ElementType::I32, uint32_t(dst), uint32_t(a), uint32_t(b));
  EXPECT_EQ(result >> 32, 0u) << "payloads are zero-extended";
  return int32_t(uint32_t(result));
}
uint64_t u8(Opcode opcode, uint64_t a, uint64_t b = 0) { return applyScalar(opcode, ElementType::U8, 0, a, b); }

TEST(Rules, EveryArithmeticNanIsTheCanonicalOne) {
  for (uint32_t pattern : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xffffffffu, 0x7fd12345u}) {
    float nan = floatOf(pattern);
    for (int o = 0; o < format::kNumOpcodes; ++o) {
      auto opcode = Opcode(o);
      bool moves = opcode == Opcode::Move || opcode == Opcode::Select || opcode == Opcode::Gather ||
                   opcode == Opcode::Scatter || opcode == Opcode::And || opcode == Opcode::Or || opcode == Opcode::Xor;
      bool logic = opcode == Opcode::CompareEq || opcode == Opcode::CompareLt || opcode == Opcode::CompareLe ||
                   opcode == Opcode::Not;
      if (moves || !isDefined(opcode, ElementType::F32))
        continue;
      EXPECT_EQ(f32(opcode, nan, 2, 3), logic ? 0 : kNanF32) << format::opcodeInfo(opcode).name;
    }
    EXPECT_EQ(f32(Opcode::Move, nan), pattern);
    EXPECT_EQ(f32(Opcode::Select, nan, 1), pattern);
    EXPECT_EQ(f32(Opcode::Add, 1, nan), kNanF32);
    EXPECT_EQ(f32(Opcode::ReduceMax, 1, 0, nan), kNanF32);
    EXPECT_EQ(f32(Opcode::Max, 1, nan), kNanF32);
  }
  EXPECT_EQ(f32(Opcode::Sub, kInf, kInf), kNanF32);
  EXPECT_EQ(f32(Opcode::Mul, 0, kInf), kNanF32);
  EXPECT_EQ(f32(Opcode::Sqrt, -1), kNanF32);
  EXPECT_EQ(f32(Opcode::Log, -1), kNanF32);
  EXPECT_EQ(f32(Opcode::Fma, 0, kInf, 1), kNanF32);
  EXPECT_EQ(applyScalar(Opcode::Sub, ElementType::F16, 0, 0x7c00, 0x7c00), kNanF16);
  EXPECT_EQ(applyScalar(Opcode::Sub, ElementType::BF16, 0, 0x7f80, 0x7f80), kNanBF16);
  EXPECT_EQ(applyScalar(Opcode::Sqrt, ElementType::F64, 0, bitsOf(-1.0), 0), kNanF64);
}

TEST(Rules, MinusZeroIsBelowPlusZero) {
  EXPECT_EQ(f32(Opcode::Min, 0.0f, -0.0f), bitsOf(-0.0f));
  EXPECT_EQ(f32(Opcode::Min, -0.0f, 0.0f), bitsOf(-0.0f));
  EXPECT_EQ(f32(Opcode::Max, 0.0f, -0.0f), bitsOf(0.0f));
  EXPECT_EQ(f32(Opcode::Max, -0.0f, 0.0f), bitsOf(0.0f));
  EXPECT_EQ(f32(Opcode::Max, -0.0f, -0.0f), bitsOf(-0.0f));
  EXPECT_EQ(f32(Opcode::CompareEq, 0.0f, -0.0f), bitsOf(1.0f));
  EXPECT_EQ(f32(Opcode::Sign, -0.0f), bitsOf(0.0f));
  EXPECT_EQ(f32(Opcode::Select, 5, -0.0f, 6), bitsOf(6.0f));
  EXPECT_EQ(f32(Opcode::Select, 5, NAN, 6), bitsOf(5.0f));
  for (Opcode odd :
       {Opcode::Tanh, Opcode::Erf, Opcode::Sin, Opcode::Floor, Opcode::Ceil, Opcode::Round, Opcode::Sqrt}) {
    EXPECT_EQ(f32(odd, -0.0f), bitsOf(-0.0f)) << format::opcodeInfo(odd).name;
    EXPECT_EQ(applyScalar(odd, ElementType::F64, 0, bitsOf(-0.0), 0), bitsOf(-0.0)) << format::opcodeInfo(odd).name;
  }
}

TEST(Rules, DenormalsAreKept) {
  EXPECT_EQ(f32(Opcode::Mul, 0x1p-100f, 0x1p-49f), bitsOf(0x1p-149f));
  EXPECT_EQ(f32(Opcode::Add, 0x1p-149f, 0x1p-149f), bitsOf(0x1p-148f));
  EXPECT_EQ(f32(Opcode::Exp, -103), bitsOf(0x1p-149f));
  EXPECT_EQ(f32(Opcode::Log, 0x1p-149f), bitsOf(float(-149 * 0.6931471805599453)));
  EXPECT_EQ(applyScalar(Opcode::Mul, ElementType::F16, 0, f32ToF16(0x1p-14f), f32ToF16(0x1p-10f)), 1u);
}

TEST(Rules, IntegersWrapAndDivideByZeroToZero) {
  constexpr int32_t kLow = INT32_MIN, kHigh = INT32_MAX;
  EXPECT_EQ(i32(Opcode::Add, kHigh, 1), kLow);
  EXPECT_EQ(i32(Opcode::Mul, 1 << 30, 6), int32_t(uint32_t(6) << 30));
  EXPECT_EQ(i32(Opcode::Fma, 1 << 16, 1 << 16, 5), 5);
  EXPECT_EQ(i32(Opcode::Neg, kLow), kLow);
  EXPECT_EQ(i32(Opcode::Abs, kLow), kLow);
  EXPECT_EQ(i32(Opcode::Div, kLow, -1), kLow);
  EXPECT_EQ(i32(Opcode::Mod, kLow, -1), 0);
  EXPECT_EQ(i32(Opcode::Div, 7, 0), 0);
  EXPECT_EQ(i32(Opcode::Mod, 7, 0), 0);
  EXPECT_EQ(i32(Opcode::Div, -7, 2), -3);
  EXPECT_EQ(i32(Opcode::Mod, -7, 2), -1);
  EXPECT_EQ(i32(Opcode::Pow, -3, 5), -243);
  EXPECT_EQ(i32(Opcode::Pow, 2, -1), 0);
  EXPECT_EQ(i32(Opcode::Pow, -1, -3), -1);
  EXPECT_EQ(i32(Opcode::Sign, -9), -1);
  EXPECT_EQ(i32(Opcode::Not, 0), 1);
  EXPECT_EQ(i32(Opcode::CompareLt, -1, 0), 1);
  EXPECT_EQ(applyScalar(Opcode::Div, ElementType::I64, 0, uint64_t(INT64_MIN), uint64_t(-1)), uint64_t(INT64_MIN));
  EXPECT_EQ(u8(Opcode::Sub, 3, 5), 254u);
  EXPECT_EQ(u8(Opcode::CompareLt, 200, 100), 0u);
  EXPECT_EQ(applyScalar(Opcode::CompareLt, ElementType::I8, 0, 200, 100), 1u);
  EXPECT_EQ(applyScalar(Opcode::Add, ElementType::Bool, 0, 1, 1), 1u);
}

TEST(Rules, MixedTypesConvertTheirSourcesExactly) {
  auto mixed = [](Opcode opcode, ElementType source, ElementType result, uint64_t dst, uint64_t a, uint64_t b = 0) {
    EXPECT_TRUE(format::mayMix(opcode, source, result));
    return applyScalar(opcode, result, dst, a, b, source);
  };
  const uint64_t third = f32ToF16(1.0f / 3), tiny = 1; // 2^-24
  const float x = f16ToF32(uint16_t(third));
  EXPECT_EQ(mixed(Opcode::Mul, ElementType::F16, ElementType::F32, 0, third, third), bitsOf(x * x));
  EXPECT_EQ(mixed(Opcode::Fma, ElementType::F16, ElementType::F32, bitsOf(1.0f), tiny, tiny), bitsOf(1.0f));
  EXPECT_EQ(mixed(Opcode::ReduceAdd, ElementType::F16, ElementType::F32, bitsOf(1.0f), tiny), bitsOf(1.0f + 0x1p-24f));
  EXPECT_EQ(mixed(Opcode::Add, ElementType::BF16, ElementType::F32, 0, 0x7fff, 0), kNanF32);
  EXPECT_EQ(mixed(Opcode::Mul, ElementType::F32, ElementType::F64, 0, bitsOf(0.1f), bitsOf(0.1f)),
            bitsOf(double(0.1f) * double(0.1f)));
  EXPECT_EQ(mixed(Opcode::Fma, ElementType::I8, ElementType::I32, 5, 0x80, 0x80), 16389u);
  EXPECT_EQ(mixed(Opcode::Mul, ElementType::U8, ElementType::I32, 0, 255, 255), 65025u);
  EXPECT_EQ(mixed(Opcode::Mul, ElementType::U16, ElementType::I32, 0, 65535, 65535), 65535u * 65535u);
  EXPECT_EQ(mixed(Opcode::Sub, ElementType::I16, ElementType::I32, 0, 0x8000, 0x7fff), uint32_t(-65535));
  EXPECT_EQ(mixed(Opcode::CompareLt, ElementType::F16, ElementType::Bool, 0, 0x8000, tiny), 1u);
  EXPECT_EQ(mixed(Opcode::CompareLe, ElementType::F32, ElementType::Bool, 0, kNanF32, kNanF32), 0u);
  EXPECT_EQ(mixed(Opcode::CompareEq, ElementType::U64, ElementType::Bool, 0, ~0ull, ~0ull), 1u);
  EXPECT_FALSE(format::mayMix(Opcode::Fma, ElementType::F32, ElementType::F16)); // would round
  EXPECT_FALSE(format::mayMix(Opcode::Div, ElementType::F16, ElementType::F32));
  EXPECT_FALSE(format::mayMix(Opcode::CompareEq, ElementType::I32, ElementType::F32));
}

TEST(Rules, ShiftsAndLogic) {
  EXPECT_EQ(i32(Opcode::ShiftRight, -8, 1), -4);
  EXPECT_EQ(i32(Opcode::ShiftRight, -8, 32), -1);
  EXPECT_EQ(i32(Opcode::ShiftRight, 8, -1), 0);
  EXPECT_EQ(i32(Opcode::ShiftLeft, 1, 31), INT32_MIN);
  EXPECT_EQ(i32(Opcode::ShiftLeft, 1, 32), 0);
  EXPECT_EQ(u8(Opcode::ShiftRight, 0x80, 7), 1u);
  EXPECT_EQ(u8(Opcode::ShiftLeft, 0x81, 1), 2u);
  EXPECT_EQ(i32(Opcode::Xor, 6, -1), ~6);
  EXPECT_EQ(f32(Opcode::And, 1, 1), bitsOf(1.0f)); // 0 and 1 of comparisons combine bitwise in any type
  EXPECT_EQ(f32(Opcode::Or, 1, 0), bitsOf(1.0f));
  EXPECT_FALSE(isDefined(Opcode::ShiftLeft, ElementType::F32));
  EXPECT_FALSE(isDefined(Opcode::Exp, ElementType::I32));
  EXPECT_FALSE(isDefined(Opcode::Loop, ElementType::I32));
}

uint64_t convert(double value, ElementType to) { return convertElement(bitsOf(value), ElementType::F64, to); }

TEST(Conversions, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(convert(-2.9, ElementType::I32), uint32_t(-2));
  EXPECT_EQ(convert(1e10, ElementType::I32), uint32_t(INT32_MAX));
  EXPECT_EQ(convert(-1e10, ElementType::I32), uint32_t(INT32_MIN));
  EXPECT_EQ(convert(NAN, ElementType::I32), 0u);
  EXPECT_EQ(convert(0x1p63, ElementType::I64), uint64_t(INT64_MAX));
  EXPECT_EQ(convert(-kInf, ElementType::I64), uint64_t(INT64_MIN));
  EXPECT_EQ(convert(0x1.fffffffffffffp62, ElementType::I64), 0x7ffffffffffffc00u);
  EXPECT_EQ(convert(-3, ElementType::U8), 0u);
  EXPECT_EQ(convert(255.9, ElementType::U8), 255u);
  EXPECT_EQ(convert(300, ElementType::I8), 127u);
  EXPECT_EQ(convert(-300, ElementType::I8), 0x80u);
  EXPECT_EQ(convert(0.25, ElementType::Bool), 1u);
  EXPECT_EQ(convert(NAN, ElementType::Bool), 1u);
}

TEST(Conversions, IntegersWrapAndRoundOnce) {
  auto from = [](int64_t value, ElementType to) { return convertElement(uint64_t(value), ElementType::I64, to); };
  EXPECT_EQ(from(0x1ff, ElementType::I8), 0xffu);
  EXPECT_EQ(from(-1, ElementType::I32), 0xffffffffu);
  EXPECT_EQ(from(256, ElementType::Bool), 1u);
  EXPECT_EQ(from((1 << 24) + 1, ElementType::F32), bitsOf(16777216.0f));
  EXPECT_EQ(from(INT64_MAX, ElementType::F64), bitsOf(0x1p63));
  EXPECT_EQ(from(2049, ElementType::F16), f32ToF16(2048));
  EXPECT_EQ(from(65520, ElementType::F16), 0x7c00u);
  // 2^62 + 2^54 + 1 lies just above the middle between two bf16; through double alone it would round to even.
  EXPECT_EQ(from((int64_t(1) << 62) + (int64_t(1) << 54) + 1, ElementType::BF16), (0x5e80u | 1));
  EXPECT_EQ(from((int64_t(1) << 62) + (int64_t(1) << 54), ElementType::BF16), 0x5e80u);
  EXPECT_EQ(convertElement(0xff, ElementType::I8, ElementType::F32), bitsOf(-1.0f));
  EXPECT_EQ(convertElement(0xff, ElementType::U8, ElementType::F32), bitsOf(255.0f));
}

TEST(Conversions, HalfTypesRoundTripAndRoundToNearestEven) {
  // Every half is the nearest to itself; a value in the middle of two neighbours goes to the even one, a hair beyond
  // goes up.
  for (uint32_t h = 0; h < 0x7c00; ++h) {
    float low = f16ToF32(uint16_t(h));
    ASSERT_EQ(f32ToF16(low), h);
    ASSERT_EQ(f32ToF16(-low), h | 0x8000);
    double next = h == 0x7bff ? 65536.0 : double(f16ToF32(uint16_t(h + 1)));
    double middle = (double(low) + next) / 2;
    ASSERT_EQ(f64ToF16(middle), h + (h & 1)) << h;
    ASSERT_EQ(f32ToF16(float(middle)), h + (h & 1)) << h;
    ASSERT_EQ(f64ToF16(std::nextafter(middle, 1e9)), h + 1) << h;
    ASSERT_EQ(f64ToF16(std::nextafter(middle, 0)), h) << h;
  }
  for (uint32_t h = 0; h < 0x7f80; ++h) {
    float low = bf16ToF32(uint16_t(h));
    ASSERT_EQ(f32ToBF16(low), h);
    double next = h == 0x7f7f ? 0x1p128 : double(bf16ToF32(uint16_t(h + 1)));
    double middle = (double(low) + next) / 2;
    ASSERT_EQ(f64ToBF16(middle), h + (h & 1)) << h;
    ASSERT_EQ(f64ToBF16(std::nextafter(middle, 1e300)), h + 1) << h;
    ASSERT_EQ(f64ToBF16(std::nextafter(middle, 0)), h) << h;
  }
  for (uint32_t h = 0x7c01; h <= 0x7fff; ++h)
    ASSERT_EQ(bitsOf(f16ToF32(uint16_t(h | 0x8000))), kNanF32);
  EXPECT_EQ(bitsOf(f16ToF32(0xfc00)), bitsOf(-kInf));
  EXPECT_EQ(f16ToF32(0x0001), 0x1p-24f);
  EXPECT_EQ(f32ToF16(-kInf), 0xfc00);
  EXPECT_EQ(f32ToF16(1e9f), 0x7c00);
  EXPECT_EQ(f32ToBF16(floatOf(0xff800001)), kNanBF16);
}

TEST(Conversions, ImmediatesLoadsAndStores) {
  EXPECT_EQ(encodeImmediate(0.1, ElementType::F32), bitsOf(0.1f));
  EXPECT_EQ(encodeImmediate(-1, ElementType::I64), ~0ull);
  EXPECT_EQ(encodeImmediate(-1, ElementType::I8), 0xffu);
  EXPECT_EQ(encodeImmediate(2, ElementType::Bool), 1u);
  std::byte memory[9] = {};
  for (ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::I32, ElementType::I64, ElementType::U8,
        ElementType::I8, ElementType::F64, ElementType::I16, ElementType::U16, ElementType::U32, ElementType::U64}) {
    uint64_t ones = ~0ull >> (64 - 8 * format::elementBytes(type));
    storeElement(memory + 1, type, ~0ull);
    EXPECT_EQ(loadElement(memory + 1, type), ones);
    storeElement(memory + 1, type, 0x1122334455667788);
    EXPECT_EQ(loadElement(memory + 1, type), 0x1122334455667788 & ones);
  }
  storeElement(memory, ElementType::Bool, 256);
  EXPECT_EQ(loadElement(memory, ElementType::Bool), 1u);
}

// Values whose products and sums meet cancellation, halfway cases, denormals and overflow.
template <typename T, typename Bits> T awkward(std::mt19937_64 &random) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  switch (random() % 4) {
  case 0:
    return std::bit_cast<T>(Bits(random()));
  case 1:
    return std::ldexp(T(random() % 16), int(random() % 2200) - 1100);
  case 2:
    return std::ldexp(T(1) + std::ldexp(T(random() % 8), 1 - kDigits), int(random() % 8) - 4);
  default:
    return -std::ldexp(T(random() >> (64 - kDigits)), int(random() % 90) - 70 - kDigits);
  }
}

TEST(Fma, PortableFormsEqualTheHostsSingleRounding) {
  constexpr uint64_t kSeed = 314159;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 2000000; ++i) {
    float a = awkward<float, uint32_t>(random), b = awkward<float, uint32_t>(random),
          c = awkward<float, uint32_t>(random);
    if (i % 3 == 0)
      c = -a * b; // leaves the product's rounding error
    ASSERT_EQ(bitsOf(fmaPortable(a, b, c)), bitsOf(canonical(std::fma(a, b, c))))
        << std::hexfloat << a << " " << b << " " << c;
    ASSERT_EQ(bitsOf(numerics::fma(a, b, c)), bitsOf(canonical(std::fma(a, b, c))));
  }
  for (int i = 0; i < 2000000; ++i) {
    double a = awkward<double, uint64_t>(random), b = awkward<double, uint64_t>(random),
           c = awkward<double, uint64_t>(random);
    if (i % 3 == 0)
      c = -a * b;
    ASSERT_EQ(bitsOf(fmaPortable(a, b, c)), bitsOf(canonical(std::fma(a, b, c))))
        << std::hexfloat << a << " " << b << " " << c;
  }
}

TEST(Isa, NamesAreUniqueAndFound) {
  for (int i = 0; i < format::kNumOpcodes; ++i) {
    const format::OpcodeInfo *info = format::findOpcode(format::opcodeInfo(Opcode(i)).name);
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(info->opcode, Opcode(i));
  }
  EXPECT_EQ(format::findOpcode("matmul"), nullptr);
  EXPECT_EQ(format::findOpcode("reduce_add")->opcode, Opcode::ReduceAdd);
  for (int t = 0; t < format::kNumElementTypes; ++t)
    EXPECT_NE(format::elementTypeName(ElementType(t)), "invalid");
  EXPECT_EQ(format::elementBytes(ElementType(77)), 0);
}

} // namespace
} // namespace wsc::numerics
