// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error bounds of docs/Numerics.md, measured: f32 routines on every 997th float pattern against the host's double
// libm, f64 routines on random arguments against its 80-bit long double libm. Each test prints the largest error it
// met.
#include "runtime/numerics/Numerics.h"
#include "test/unit/numerics/Ulp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace wsc::numerics {
namespace {

using testing::ulpErrorF32;
using testing::ulpErrorF64;

template <typename Routine, typename Reference>
void measureF32(const char *name, Routine routine, Reference reference, double bound) {
  double worst = 0;
  float where = 0;
  for (uint64_t pattern = 0; pattern < 1ull << 32; pattern += 997) {
    float x = floatOf(uint32_t(pattern));
    double error = ulpErrorF32(routine(x), reference(double(x)));
    if (!(error <= worst)) {
      worst = error;
      where = x;
    }
  }
  std::printf("f32 %-10s worst %.4f ulp at %a\n", name, worst, double(where));
  EXPECT_LE(worst, bound) << name << " at " << std::hexfloat << where;
}

constexpr double kBoundF32 = 0.501;

TEST(AccuracyF32, Exp) {
  measureF32("exp", [](float x) { return numerics::exp(x); }, [](double x) { return std::exp(x); }, kBoundF32);
}
TEST(AccuracyF32, Log) {
  measureF32("log", [](float x) { return numerics::log(x); }, [](double x) { return std::log(x); }, kBoundF32);
}
TEST(AccuracyF32, Tanh) {
  measureF32("tanh", [](float x) { return numerics::tanh(x); }, [](double x) { return std::tanh(x); }, kBoundF32);
}
TEST(AccuracyF32, Erf) {
  measureF32("erf", [](float x) { return numerics::erf(x); }, [](double x) { return std::erf(x); }, kBoundF32);
}
TEST(AccuracyF32, Sigmoid) {
  measureF32("sigmoid", [](float x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }, kBoundF32);
}
TEST(AccuracyF32, Rsqrt) {
  measureF32("rsqrt", [](float x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }, kBoundF32);
}
TEST(AccuracyF32, Sin) {
  measureF32("sin", [](float x) { return numerics::sin(x); }, [](double x) { return std::sin(x); }, kBoundF32);
}
TEST(AccuracyF32, Cos) {
  measureF32("cos", [](float x) { return numerics::cos(x); }, [](double x) { return std::cos(x); }, kBoundF32);
}
TEST(AccuracyF32, SqrtReciprocalFloorCeilRoundAreExact) {
  for (uint64_t pattern = 0; pattern < 1ull << 32; pattern += 997) {
    float x = floatOf(uint32_t(pattern));
    auto same = [&](float got, float want) { return bitsOf(got) == bitsOf(canonical(want)); };
    ASSERT_TRUE(same(numerics::sqrt(x), std::sqrt(x))) << x;
    ASSERT_TRUE(same(reciprocal(x), 1 / x)) << x;
    ASSERT_TRUE(same(numerics::floor(x), std::floor(x))) << x;
    ASSERT_TRUE(same(numerics::ceil(x), std::ceil(x))) << x;
    ASSERT_TRUE(same(numerics::round(x), std::nearbyint(x))) << x;
  }
}

TEST(AccuracyF32, PowAndMod) {
  constexpr uint64_t kSeed = 20240611;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  std::mt19937_64 random(kSeed);
  double worst = 0;
  for (int i = 0; i < 2000000; ++i) {
    float a, b;
    if (i % 2) { // anything
      a = floatOf(uint32_t(random()));
      b = floatOf(uint32_t(random()));
    } else { // results within range
      a = std::ldexp(1.0f + float(random() % (1 << 23)) * 0x1p-23f, int(random() % 40) - 20);
      b = float(double(int64_t(random() % 2000001) - 1000000) * 6e-6);
    }
    double error = ulpErrorF32(numerics::pow(a, b), std::pow(double(a), double(b)));
    // C's pow(1, NaN) is 1 and so is ours; NaN payloads never matter here.
    ASSERT_LE(error, kBoundF32) << std::hexfloat << a << " ^ " << b;
    worst = std::max(worst, error);
    ASSERT_EQ(bitsOf(mod(a, b)), bitsOf(canonical(std::fmod(a, b)))) << std::hexfloat << a << " mod " << b;
  }
  std::printf("f32 pow        worst %.4f ulp\n", worst);
}

TEST(AccuracyF32, PowSpecialCasesAreThoseOfIeee754) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float values[] = {0.0f,       -0.0f, 1.0f,   -1.0f,       0.5f,         -0.5f,          2.0f, -2.0f,
                          3.0f,       -3.0f, 2.5f,   -2.5f,       kInf,         -kInf,          NAN,  0x1p-149f,
                          -0x1p-149f, 1e30f, -1e30f, 16777215.0f, -16777217.0f, 0x1.fffffep127f};
  for (float a : values)
    for (float b : values) {
      double want = std::pow(double(a), double(b));
      float narrow = numerics::pow(a, b);
      double wide = numerics::pow(double(a), double(b));
      EXPECT_LE(ulpErrorF32(narrow, want), kBoundF32) << a << " ^ " << b;
      EXPECT_LE(ulpErrorF64(wide, want), 1) << a << " ^ " << b;
      if (std::isnan(want)) {
        EXPECT_EQ(bitsOf(narrow), kNanF32);
        EXPECT_EQ(bitsOf(wide), kNanF64);
      } else {
        EXPECT_EQ(std::signbit(narrow), std::signbit(want)) << a << " ^ " << b;
        EXPECT_EQ(std::signbit(wide), std::signbit(want)) << a << " ^ " << b;
      }
    }
}

class AccuracyF64 : public ::testing::Test {
protected:
  static constexpr uint64_t kSeed = 77003;
  std::mt19937_64 random{kSeed};

  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed)); }

  // Half of the arguments are any bit pattern, half uniform in [-range, range].
  double argument(int i, double range) {
    return i % 2 ? doubleOf(random()) : range * (double(random() >> 11) * 0x1p-52 - 1);
  }

  template <typename Routine, typename Reference>
  void measure(const char *name, double range, Routine routine, Reference reference, double bound) {
    double worst = 0, where = 0;
    for (int i = 0; i < 300000; ++i) {
      double x = argument(i, range);
      double error = ulpErrorF64(routine(x), reference(static_cast<long double>(x)));
      if (!(error <= worst)) {
        worst = error;
        where = x;
      }
    }
    std::printf("f64 %-10s worst %.4f ulp at %a\n", name, worst, where);
    EXPECT_LE(worst, bound) << name << " at " << std::hexfloat << where;
  }
};

using Wide = long double;

TEST_F(AccuracyF64, Exp) {
  measure("exp", 750, [](double x) { return numerics::exp(x); }, [](Wide x) { return std::exp(x); }, 1);
}
TEST_F(AccuracyF64, Log) {
  measure("log", 3, [](double x) { return numerics::log(x); }, [](Wide x) { return std::log(x); }, 1);
}
TEST_F(AccuracyF64, Tanh) {
  measure("tanh", 20, [](double x) { return numerics::tanh(x); }, [](Wide x) { return std::tanh(x); }, 4);
}
TEST_F(AccuracyF64, Erf) {
  measure("erf", 6, [](double x) { return numerics::erf(x); }, [](Wide x) { return std::erf(x); }, 4);
}
TEST_F(AccuracyF64, Sigmoid) {
  measure("sigmoid", 750, [](double x) { return sigmoid(x); }, [](Wide x) { return 1 / (1 + std::exp(-x)); }, 4);
}
TEST_F(AccuracyF64, Sin) {
  measure("sin", 2e6, [](double x) { return numerics::sin(x); }, [](Wide x) { return std::sin(x); }, 1);
}
TEST_F(AccuracyF64, Cos) {
  measure("cos", 2e6, [](double x) { return numerics::cos(x); }, [](Wide x) { return std::cos(x); }, 1);
}
TEST_F(AccuracyF64, Rsqrt) {
  measure("rsqrt", 9, [](double x) { return rsqrt(x); }, [](Wide x) { return 1 / std::sqrt(x); }, 2);
}
TEST_F(AccuracyF64, SinesOfLargeAndNearlyMultipleArguments) {
  // The double closest to a multiple of π/2 (Kahan), and the largest one.
  for (double x : {0x1.6ac5b262ca1ffp+849, -0x1.6ac5b262ca1ffp+849, 0x1.fffffffffffffp1023, 0x1.921fb54442d18p1,
                   0x1.921fb54442d18p21, 1e22}) {
    // The host's own double routines are good to 1 ulp here; its long double ones take the same argument exactly.
    EXPECT_LE(ulpErrorF64(numerics::sin(x), std::sin(Wide(x))), 1) << std::hexfloat << x;
    EXPECT_LE(ulpErrorF64(numerics::cos(x), std::cos(Wide(x))), 1) << std::hexfloat << x;
  }
}

TEST_F(AccuracyF64, PowAndMod) {
  double worst = 0;
  for (int i = 0; i < 400000; ++i) {
    double a = doubleOf(random()), b = doubleOf(random());
    if (i % 2) {
      a = std::ldexp(1.0 + double(random() >> 12) * 0x1p-52, int(random() % 60) - 30);
      b = double(int64_t(random())) * 0x1p-57;
    }
    double error = ulpErrorF64(numerics::pow(a, b), std::pow(Wide(a), Wide(b)));
    ASSERT_LE(error, 1) << std::hexfloat << a << " ^ " << b;
    worst = std::max(worst, error);
    ASSERT_EQ(bitsOf(mod(a, b)), bitsOf(canonical(std::fmod(a, b)))) << std::hexfloat << a << " mod " << b;
  }
  std::printf("f64 pow        worst %.4f ulp\n", worst);
}

TEST_F(AccuracyF64, FloorCeilRoundAreExact) {
  for (int i = 0; i < 300000; ++i) {
    double x = argument(i, 1e6);
    ASSERT_EQ(bitsOf(numerics::floor(x)), bitsOf(canonical(std::floor(x)))) << x;
    ASSERT_EQ(bitsOf(numerics::ceil(x)), bitsOf(canonical(std::ceil(x)))) << x;
    ASSERT_EQ(bitsOf(numerics::round(x)), bitsOf(canonical(std::nearbyint(x)))) << x;
  }
}

} // namespace
} // namespace wsc::numerics
