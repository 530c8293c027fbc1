// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rasters hold what they were made of, in few numbers.
#include "runtime/report/Report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

namespace wsc::report {
namespace {

using Runs = std::vector<int64_t>;

// The values a raster stands for, row-major.
std::vector<int64_t> expanded(const Raster &raster, int32_t rows, int32_t cols) {
  const int32_t down = (rows + raster.step - 1) / raster.step, across = (cols + raster.step - 1) / raster.step;
  std::vector<int64_t> coarse;
  for (size_t at = 0; at < raster.runs.size(); at += 2)
    coarse.insert(coarse.end(), size_t(raster.runs[at + 1]), raster.runs[at]);
  EXPECT_EQ(coarse.size(), size_t(down) * size_t(across));
  std::vector<int64_t> values;
  for (int32_t row = 0; row < rows; ++row)
    for (int32_t col = 0; col < cols; ++col) {
      const int32_t r = row / raster.step, c = col / raster.step;
      values.push_back(coarse[size_t(raster.byRows ? r * across + c : c * down + r)]);
    }
  return values;
}

TEST(Raster, ColumnsThatAreAlikeAreFewRuns) {
  const Raster raster = makeRaster({1, 1, 7, //
                                    1, 1, 7},
                                   2, 3);
  EXPECT_FALSE(raster.byRows);
  EXPECT_EQ(raster.runs, (Runs{1, 4, 7, 2}));
  EXPECT_EQ(raster.largest, 7);
}

TEST(Raster, RowsThatAreAlikeGoAlongRows) {
  const Raster raster = makeRaster({5, 5, 5, //
                                    0, 0, 0},
                                   2, 3);
  EXPECT_TRUE(raster.byRows);
  EXPECT_EQ(raster.runs, (Runs{5, 3, 0, 3}));
}

TEST(Raster, ManyRunsBecomeLargestOfSquares) {
  constexpr int32_t kRows = 401, kCols = 399; // no two neighbours alike, and an edge that does not divide
  std::vector<int64_t> values;
  for (int64_t i = 0; i < int64_t(kRows) * kCols; ++i)
    values.push_back(i);
  const Raster raster = makeRaster(values, kRows, kCols);
  EXPECT_EQ(raster.step, 2);
  EXPECT_LE(raster.runs.size() / 2, kMostRuns);
  const std::vector<int64_t> shown = expanded(raster, kRows, kCols);
  for (size_t place = 0; place < values.size(); ++place)
    ASSERT_GE(shown[place], values[place]);
  EXPECT_EQ(shown[0], kCols + 1);
  EXPECT_EQ(raster.largest, values.back());
}

TEST(Raster, RandomGridsComeBack) {
  const char *given = std::getenv("WSC_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 20240611;
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    const auto rows = int32_t(1 + random() % 20), cols = int32_t(1 + random() % 20);
    std::vector<int64_t> values(size_t(rows) * size_t(cols));
    for (int64_t &value : values)
      value = int64_t(random() % 3);
    ASSERT_EQ(expanded(makeRaster(values, rows, cols), rows, cols), values);
  }
}

} // namespace
} // namespace wsc::report
