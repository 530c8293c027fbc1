// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions from and to storage types against LLVM's software floats: every code of each type back to f32, and
// numbers around every value, between values and beyond the greatest. WSC_SEED sets the seed of the random ones.
#include "compiler/import/common/StorageCasts.h"
#include "test/unit/import/FormulaTest.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace {

using namespace wsc::import;
using wsc::test::Array;

double decode(mlir::FloatType type, uint64_t code) {
  llvm::APFloat value(type.getFloatSemantics(), llvm::APInt(type.getWidth(), code));
  bool loses = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

double rounded(mlir::FloatType type, double x) {
  llvm::APFloat value(x);
  bool loses = false;
  value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

class StorageCasts : public wsc::test::FormulaTest {
protected:
  std::vector<mlir::FloatType> types() {
    return {mlir::Float8E4M3FNType::get(&context), mlir::Float8E4M3FNUZType::get(&context),
            mlir::Float8E5M2Type::get(&context), mlir::Float8E5M2FNUZType::get(&context),
            mlir::Float4E2M1FNType::get(&context)};
  }
  static std::string nameOf(mlir::Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }
  static void expectSame(const Array &found, const std::vector<double> &wanted, const Array &x,
                         const std::string &what) {
    ASSERT_EQ(found.values.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (std::isnan(wanted[i]))
        ASSERT_TRUE(std::isnan(found.values[i])) << what << " of " << x.values[i] << " is " << found.values[i];
      else
        ASSERT_TRUE(found.values[i] == wanted[i] && std::signbit(found.values[i]) == std::signbit(wanted[i]))
            << what << " of " << x.values[i] << " is " << wanted[i] << ", found " << found.values[i];
    }
  }
  Array numbersAround(mlir::FloatType type) {
    const char *given = std::getenv("WSC_SEED");
    const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 1;
    RecordProperty("WSC_SEED", std::to_string(seed));
    std::mt19937_64 random(seed);
    Array x;
    for (uint64_t code = 0; code < uint64_t{1} << type.getWidth(); ++code) {
      float value = static_cast<float>(decode(type, code));
      if (!std::isfinite(value))
        continue;
      // A value, its neighbours, and the middle between it and the next one, where ties lie.
      float next = static_cast<float>(decode(type, code + 1 < uint64_t{1} << type.getWidth() ? code + 1 : code));
      float middle = std::isfinite(next) ? (value + next) / 2 : value;
      for (float y : {value, middle})
        for (float z : {y, std::nextafter(y, 1e30f), std::nextafter(y, -1e30f)})
          x.values.push_back(z);
    }
    for (int i = 0; i < 2000; ++i)
      x.values.push_back(std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random), int(random() % 60) - 40));
    for (double y : {1e30, -1e30, 70000.0, 500.0, -500.0, 1e-40})
      x.values.push_back(static_cast<float>(y));
    x.values.insert(x.values.end(),
                    {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), std::nan("")});
    x.shape = {static_cast<int64_t>(x.values.size())};
    return x;
  }
};

TEST_F(StorageCasts, EveryCodeBecomesItsNumber) {
  for (mlir::FloatType type : types()) {
    Array x;
    for (uint64_t code = 0; code < uint64_t{1} << type.getWidth(); ++code)
      x.values.push_back(decode(type, code));
    x.shape = {static_cast<int64_t>(x.values.size())};
    Array y = run(x, [&](const Expression &e) { return e.cast(e.layers().builder().getF32Type()); }, type);
    expectSame(y, x.values, x, nameOf(type));
  }
}

TEST_F(StorageCasts, NumbersRoundToNearestEven) {
  for (mlir::FloatType type : types()) {
    const bool isF4 = type.getWidth() == 4;
    Array x = numbersAround(type);
    const double greatest = llvm::APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    for (bool saturate : {true, false})
      for (bool isDouble : {false, true}) {
        std::vector<double> wanted;
        for (double value : x.values) {
          // Beyond the greatest value begins half of its last place above it, as if there were further ones.
          double y = rounded(type, value);
          if (!std::isnan(value) && (saturate || isF4) && (!std::isfinite(y) || std::fabs(y) > greatest))
            y = std::copysign(greatest, value);
          if (std::isnan(value) && isF4)
            y = -0.0;
          wanted.push_back(y);
        }
        StorageRounding rounding;
        rounding.saturate = saturate;
        Array y = run(x, [&](const Expression &e) {
          return castStorage(isDouble ? e.cast(e.layers().builder().getF64Type()) : e, type, rounding);
        });
        expectSame(y, wanted, x, nameOf(type));
      }
  }
}

TEST_F(StorageCasts, PowersOfTwo) {
  Array x{{7}, {1, 1.5, 1.25, 0.75, 3.4e38, 0, std::nan("")}};
  auto with = [&](StorageRounding::Direction direction) {
    StorageRounding rounding;
    rounding.direction = direction;
    mlir::Type type = mlir::Float8E8M0FNUType::get(&context),
               byte = mlir::IntegerType::get(&context, 8, mlir::IntegerType::Unsigned);
    return run(x,
               [&](const Expression &e) {
                 return Expression(e.layers(), e.layers().bitcast(castStorage(e, type, rounding), byte));
               })
        .values;
  };
  EXPECT_EQ(with(StorageRounding::Up), (std::vector<double>{127, 128, 128, 127, 254, 0, 255}));
  EXPECT_EQ(with(StorageRounding::Down), (std::vector<double>{127, 127, 127, 126, 254, 0, 255}));
  EXPECT_EQ(with(StorageRounding::Nearest), (std::vector<double>{127, 128, 127, 127, 254, 0, 255}));
}

TEST_F(StorageCasts, IntegersKeepTheirLowBits) {
  Array x{{8}, {-9, -8, -1, 0, 7, 8, 15, 16}};
  mlir::Type i8 = mlir::IntegerType::get(&context, 8);
  auto as = [&](unsigned bits, mlir::IntegerType::SignednessSemantics sign) {
    mlir::Type type = mlir::IntegerType::get(&context, bits, sign);
    return run(x, [&](const Expression &e) { return e.cast(type).cast(e.layers().builder().getI32Type()); }, i8).values;
  };
  EXPECT_EQ(as(4, mlir::IntegerType::Signless), (std::vector<double>{7, -8, -1, 0, 7, -8, -1, 0}));
  EXPECT_EQ(as(4, mlir::IntegerType::Unsigned), (std::vector<double>{7, 8, 15, 0, 7, 8, 15, 0}));
  EXPECT_EQ(as(2, mlir::IntegerType::Signless), (std::vector<double>{-1, 0, -1, 0, -1, 0, -1, 0}));
  EXPECT_EQ(as(2, mlir::IntegerType::Unsigned), (std::vector<double>{3, 0, 3, 0, 3, 0, 3, 0}));
}

} // namespace
