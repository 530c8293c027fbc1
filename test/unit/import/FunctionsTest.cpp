// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas that importers share, against the functions they stand for: each is built as nn operations on f32, executed
// by the reference, which rounds every operation, and compared over its range.
#include "test/unit/import/FormulaTest.h"
#include <cmath>
#include <limits>

namespace {

using namespace wsc::import;
using wsc::test::Array;

class Functions : public wsc::test::FormulaTest {
protected:
  using FormulaTest::run;
  Array run(const Array &argument, Expression (*formula)(const Expression &)) {
    return run<Expression (*)(const Expression &)>(argument, formula);
  }

  /// Compares over 1,001 numbers from low to high, evenly spaced, and their counterparts by powers of two down to
  /// 2^-40. The error counts in units of the last place of f32, from the smallest normal number on.
  void compare(const char *name, Expression (*formula)(const Expression &), double (*exact)(double), double low,
               double high, double units) {
    Array x;
    for (int i = 0; i <= 1000; ++i)
      x.values.push_back(static_cast<float>(low + (high - low) * i / 1000));
    for (int k = 1; k <= 40; ++k)
      for (double end : {low, high})
        if (double small = std::ldexp(end, -k); small >= low && small <= high)
          x.values.push_back(static_cast<float>(small));
    x.shape = {static_cast<int64_t>(x.values.size())};
    Array y = run(x, formula);
    for (size_t i = 0; i < y.values.size(); ++i) {
      double wanted = exact(x.values[i]), scale = std::max(std::fabs(wanted), 1e-37);
      double error = std::fabs(y.values[i] - wanted) / (scale * std::ldexp(1, -23));
      if (std::isfinite(wanted))
        ASSERT_LE(error, units) << name << "(" << x.values[i] << ") is " << wanted << ", found " << y.values[i];
    }
  }
};

TEST_F(Functions, Accuracy) {
  compare("expm1", expMinusOneNegative, [](double x) { return std::expm1(x); }, -30, 0, 3);
  compare("log1p", logOnePlus, [](double x) { return std::log1p(x); }, -0.999, 100, 4);
  compare(
      "softplus", softplus, [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); },
      -80, 80, 4);
  compare("tan", tan, [](double x) { return std::tan(x); }, -1.5, 1.5, 4);
  compare("sinh", sinh, [](double x) { return std::sinh(x); }, -89, 89, 100);
  compare("cosh", cosh, [](double x) { return std::cosh(x); }, -89, 89, 100);
  compare("asin", asin, [](double x) { return std::asin(x); }, -1, 1, 12);
  compare("acos", acos, [](double x) { return std::acos(x); }, -1, 1, 12);
  compare("atan", atan, [](double x) { return std::atan(x); }, -20, 20, 8);
  compare("asinh", asinh, [](double x) { return std::asinh(x); }, -1000, 1000, 8);
  compare("acosh", acosh, [](double x) { return std::acosh(x); }, 1, 1000, 8);
  compare("atanh", atanh, [](double x) { return std::atanh(x); }, -0.999, 0.999, 8);
}

TEST_F(Functions, Ends) {
  const double infinity = std::numeric_limits<double>::infinity(), pi = 3.14159265358979;
  Array ends{{4}, {-infinity, -1e30, 1e30, infinity}};
  EXPECT_NEAR(run(ends, atan).values[0], -pi / 2, 1e-6);
  EXPECT_NEAR(run(ends, atan).values[2], pi / 2, 1e-6);
  EXPECT_NEAR(run(ends, asinh).values[2], std::asinh(1e30), 1e-5);
  EXPECT_EQ(run(ends, asinh).values[3], infinity);
  EXPECT_EQ(run(ends, softplus).values, (std::vector<double>{0, 0, static_cast<float>(1e30), infinity}));
  EXPECT_EQ(run(ends, expMinusOneNegative).values[0], -1);
  Array one{{2}, {-1, 1}};
  EXPECT_EQ(run(one, atanh).values, (std::vector<double>{-infinity, infinity}));
  EXPECT_NEAR(run(one, acos).values[0], pi, 1e-6);
  EXPECT_EQ(run(one, acos).values[1], 0);
  EXPECT_NEAR(run(one, asin).values[1], pi / 2, 1e-6);
}

TEST_F(Functions, Classes) {
  const double infinity = std::numeric_limits<double>::infinity();
  Array x{{4}, {-infinity, std::nan(""), 0, infinity}};
  auto positive = [](const Expression &x) { return isInfinite(x, true, false); };
  auto either = [](const Expression &x) { return isInfinite(x); };
  EXPECT_EQ(run(x, isNan).ints, (std::vector<int64_t>{0, 1, 0, 0}));
  EXPECT_EQ(run(x, positive).ints, (std::vector<int64_t>{0, 0, 0, 1}));
  EXPECT_EQ(run(x, either).ints, (std::vector<int64_t>{1, 0, 0, 1}));
}

TEST_F(Functions, ExtremesOfElementTypes) {
  mlir::Builder builder(&context);
  Array x{{1}, {0}};
  auto low = [](const Expression &x) {
    return maximum(x, lowest(x.layers(), x.elementType())) * 0 + lowest(x.layers(), x.elementType());
  };
  auto high = [](const Expression &x) { return x * 0 + highest(x.layers(), x.elementType()); };
  EXPECT_EQ(run(x, low, builder.getIntegerType(8)).ints[0], -128);
  EXPECT_EQ(run(x, high, builder.getIntegerType(8)).ints[0], 127);
  EXPECT_EQ(run(x, low, builder.getIntegerType(64)).ints[0], std::numeric_limits<int64_t>::min());
  EXPECT_EQ(run(x, high, builder.getIntegerType(64)).ints[0], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(run(x, high, builder.getIntegerType(16, false)).ints[0], 65535);
  EXPECT_EQ(run(x, high, builder.getIntegerType(64, false)).ints[0], -1); // its bits
}

TEST_F(Functions, Picked) {
  Array x{{5}, {0, 1, 2, 3, 4}};
  for (const std::vector<int64_t> &numbers :
       {std::vector<int64_t>{0, 1, 2, 3, 4}, {2, 2, 2, 1, 0}, {4, 2, 0, 3}, {3, 3, 1}, {}}) {
    Array y = run(x, [&](const Expression &x) { return picked(x, 0, numbers); });
    EXPECT_EQ(y.values, std::vector<double>(numbers.begin(), numbers.end()));
  }
}

TEST_F(Functions, ReductionsOfNothingAndOfTruth) {
  mlir::Builder builder(&context);
  auto max = [](const Expression &x) { return reduceAny(wsc::nn::ReduceKind::Max, x, {0}, false); };
  Array none{{0, 2}, {}};
  EXPECT_EQ(run(none, max).values, (std::vector<double>(2, -std::numeric_limits<double>::infinity())));
  Array truth{{2, 2}, {0, 1, 0, 0}};
  EXPECT_EQ(run(truth, max, builder.getI1Type()).ints, (std::vector<int64_t>{0, 1}));
}

} // namespace
