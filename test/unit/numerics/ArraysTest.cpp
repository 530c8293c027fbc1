// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Array forms give the bits of the scalar forms: on special values, on random patterns, at every small length and in
// place.
#include "runtime/numerics/Numerics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

namespace wsc::numerics {
namespace {

constexpr uint64_t kSeed = 4711;

std::vector<float> samples(uint64_t seed) {
  std::vector<float> values;
  for (uint32_t pattern : {0x00000000u, 0x00000001u, 0x007fffffu, 0x00800000u, 0x33800000u, 0x3effffffu, 0x3f000000u,
                           0x3f800000u, 0x3f800001u, 0x3fc00000u, 0x40200000u, 0x40490fdbu, 0x42b17217u, 0x42b17218u,
                           0x42cff1b5u, 0x4affffffu, 0x4b000000u, 0x4b000001u, 0x49bfffffu, 0x49c00000u, 0x7f7fffffu,
                           0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu}) {
    values.push_back(floatOf(pattern));
    values.push_back(floatOf(pattern | 0x80000000u));
  }
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100000; ++i)
    values.push_back(floatOf(uint32_t(random())));
  for (int i = 0; i < 100000; ++i) // a block or more without large angles
    values.push_back(float(double(int64_t(random())) * 0x1p-59));
  return values;
}

using Unary = void (*)(float *, const float *, size_t);

void expectSame(const char *name, Unary array, float (*scalar)(float)) {
  std::vector<float> x = samples(kSeed), y(x.size());
  array(y.data(), x.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(bitsOf(y[i]), bitsOf(scalar(x[i]))) << name << " of " << std::hexfloat << x[i];
  std::vector<float> inPlace = x;
  array(inPlace.data(), inPlace.data(), inPlace.size());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(bitsOf(inPlace[i]), bitsOf(y[i])) << name << " in place";
  for (size_t n = 0; n < 70; ++n) { // remainders of the vector loops; nothing beyond n is touched
    std::vector<float> part(n + 1, 42.0f);
    array(part.data(), x.data() + n, n);
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(bitsOf(part[i]), bitsOf(y[n + i])) << name << " length " << n;
    ASSERT_EQ(part[n], 42.0f);
  }
}

TEST(Arrays, UnaryFormsEqualScalarForms) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  expectSame("exp", expArray, [](float x) { return numerics::exp(x); });
  expectSame("log", logArray, [](float x) { return numerics::log(x); });
  expectSame("tanh", tanhArray, [](float x) { return numerics::tanh(x); });
  expectSame("erf", erfArray, [](float x) { return numerics::erf(x); });
  expectSame("sigmoid", sigmoidArray, [](float x) { return sigmoid(x); });
  expectSame("sqrt", sqrtArray, [](float x) { return numerics::sqrt(x); });
  expectSame("rsqrt", rsqrtArray, [](float x) { return rsqrt(x); });
  expectSame("reciprocal", reciprocalArray, [](float x) { return reciprocal(x); });
  expectSame("sin", sinArray, [](float x) { return numerics::sin(x); });
  expectSame("cos", cosArray, [](float x) { return numerics::cos(x); });
  expectSame("floor", floorArray, [](float x) { return numerics::floor(x); });
  expectSame("ceil", ceilArray, [](float x) { return numerics::ceil(x); });
  expectSame("round", roundArray, [](float x) { return numerics::round(x); });
}

TEST(Arrays, BinaryFormsEqualScalarForms) {
  std::vector<float> a = samples(kSeed), b = samples(kSeed + 1), power(a.size()), quotient(a.size());
  std::rotate(b.begin(), b.begin() + 17, b.end());
  powArray(power.data(), a.data(), b.data(), a.size());
  divArray(quotient.data(), a.data(), b.data(), a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(bitsOf(power[i]), bitsOf(numerics::pow(a[i], b[i]))) << std::hexfloat << a[i] << " ^ " << b[i];
    ASSERT_EQ(bitsOf(quotient[i]), bitsOf(div(a[i], b[i]))) << std::hexfloat << a[i] << " / " << b[i];
  }
}

TEST(Arrays, HalfConversionsEqualScalarForms) {
  std::vector<uint16_t> halves(1 << 16), back(1 << 16);
  for (size_t i = 0; i < halves.size(); ++i)
    halves[i] = uint16_t(i);
  std::vector<float> wide(halves.size());
  f16ToF32Array(wide.data(), halves.data(), halves.size());
  for (size_t i = 0; i < halves.size(); ++i)
    ASSERT_EQ(bitsOf(wide[i]), bitsOf(f16ToF32(halves[i]))) << i;
  bf16ToF32Array(wide.data(), halves.data(), halves.size());
  for (size_t i = 0; i < halves.size(); ++i)
    ASSERT_EQ(bitsOf(wide[i]), bitsOf(bf16ToF32(halves[i]))) << i;
  std::vector<float> x = samples(kSeed);
  back.resize(x.size());
  f32ToF16Array(back.data(), x.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(back[i], f32ToF16(x[i])) << x[i];
  f32ToBF16Array(back.data(), x.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(back[i], f32ToBF16(x[i])) << x[i];
}

// The bits themselves, so that another host, compiler or instruction set that computes differently is found.
TEST(Arrays, ResultsHaveTheRecordedBits) {
  uint64_t hash = 1469598103934665603ull;
  auto mix = [&](uint64_t bits) { hash = (hash ^ bits) * 1099511628211ull; };
  std::vector<float> x;
  for (uint64_t pattern = 0; pattern < 1ull << 32; pattern += 40009)
    x.push_back(floatOf(uint32_t(pattern)));
  std::vector<float> y(x.size());
  for (Unary array : {expArray, logArray, tanhArray, erfArray, sigmoidArray, rsqrtArray, sinArray, cosArray}) {
    array(y.data(), x.data(), x.size());
    for (float value : y)
      mix(bitsOf(value));
  }
  for (float value : x) {
    double wide = double(value);
    for (double result : {numerics::exp(wide), numerics::log(wide), numerics::tanh(wide), numerics::erf(wide),
                          sigmoid(wide), numerics::sin(wide), numerics::cos(wide), numerics::pow(wide, 1.7)})
      mix(bitsOf(result));
  }
  EXPECT_EQ(hash, 14073730780854763926ull);
}

} // namespace
} // namespace wsc::numerics
