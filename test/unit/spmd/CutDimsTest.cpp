// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/CutDims.h"

#include "test/support/RandomSharding.h"
#include "test/support/Seed.h"

#include <gtest/gtest.h>

#include <random>

using namespace wsc;
using namespace wsc::spmd;

namespace {

Sharding cut(const std::string &text, const std::vector<std::set<int64_t>> &steps) {
  return withCutDims(*parseSharding(text), steps);
}

void expectSameElements(const Sharding &whole, const Sharding &made, int32_t rows, int32_t cols) {
  ASSERT_TRUE(made.check(false).ok()) << print(whole) << print(made);
  for (int32_t row = 0; row < rows; ++row)
    for (int32_t col = 0; col < cols; ++col) {
      std::vector<int64_t> before, after;
      whole.elementsAt(row, col, before);
      made.elementsAt(row, col, after);
      ASSERT_EQ(before, after) << print(whole) << " " << print(made) << " on " << row << ", " << col;
    }
}

TEST(CutDims, DigitsAreDividedToo) {
  EXPECT_EQ(print(cut("(0, 0, 64, 1) [64 = r/2*2 | 2, 49 = 0 | 49]", {{8}, {7}})),
            "(0, 0, 64, 1) [8 = r/8*1 |, 8 = r/2%4*2 | 2, 7 = 0 | 7, 7 = 0 | 7]");
  EXPECT_EQ(print(cut("(0, 0, 1, 8) [24 = c*3 | 3]", {{12, 3}})), "(0, 0, 1, 8) [2 = c/4*1 |, 4 = c%4*1 |, 3 = 0 | 3]");
}

TEST(CutDims, WholeWhereNumbersAreNoProducts) {
  for (const char *text : {"(0, 0, 13, 1) [49 = r*4 | 4]",             // a block across the cut
                           "(0, 0, 7, 1) [49 = -1 + r*7 | 9]",         // a border
                           "(0, 0, 1, 1) [14 = 0 | 7 2*7]",            // the inner part's numbers first
                           "(0, 0, 21, 1) [28 = r%6*2 + r/6*12 | 2]"}) // six of seven pairs
    EXPECT_EQ(print(cut(text, {{7}})), print(*parseSharding(text))) << text;
}

TEST(JoinedDims, InnerStepsFollowOuterOnes) {
  EXPECT_EQ(print(*withJoinedDims(*parseSharding("(0, 0, 14, 3) [7 = r%7*1 |, 2 = r/7*1 |, 3 = c*1 |]"), 0)),
            "(0, 0, 14, 3) [14 = r%7*2 + r/7*1 |, 3 = c*1 |]");
  EXPECT_EQ(print(*withJoinedDims(*parseSharding("(0, 0, 4, 1) [5 = -1 + r*2 | 3, 6 = 1 | 2 2*3]"), 0)),
            "(0, 0, 4, 1) [30 = -5 + r*12 | 3*6 2 2*3]");
}

// Beyond the end of a row the joined dimension goes on with the next one.
TEST(JoinedDims, NoPaddingOfTheInnerDimension) {
  for (const char *text : {"(0, 0, 1, 1) [7 = 0 | 7, 2 = -1 | 4]", "(0, 0, 3, 1) [7 = 0 | 7, 2 = r*1 |]",
                           "(0, 0, 2, 1) [7 = 0 | 7, 5 = r*3 | 3]"})
    EXPECT_FALSE(withJoinedDims(*parseSharding(text), 0)) << text;
}

TEST(JoinedDims, RandomShardingsHoldTheSameElements) {
  const uint64_t seed = test::seedOf(1);
  int joins = 0;
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " case " + std::to_string(i));
    std::mt19937_64 random(seed * 100000 + uint64_t(i));
    const int32_t rows = 1 + int32_t(random() % 12), cols = 1 + int32_t(random() % 12);
    const std::vector<int64_t> shape{1 + int64_t(random() % 6), 1 + int64_t(random() % 6), 1 + int64_t(random() % 6)};
    const Sharding whole = test::randomSharding(random, shape, rows, cols);
    const auto made = withJoinedDims(whole, random() % 2);
    if (!made)
      continue;
    ++joins;
    ASSERT_NO_FATAL_FAILURE(expectSameElements(whole, *made, rows, cols));
  }
  std::printf("%d of 1000 joined\n", joins);
  EXPECT_GE(joins, 200);
}

TEST(CutDims, RandomShardingsHoldTheSameElements) {
  const uint64_t seed = test::seedOf(1);
  int cuts = 0;
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " case " + std::to_string(i));
    std::mt19937_64 random(seed * 100000 + uint64_t(i));
    const int32_t rows = 1 + int32_t(random() % 12), cols = 1 + int32_t(random() % 12);
    std::vector<int64_t> shape;
    std::vector<std::set<int64_t>> steps;
    for (size_t rank = 1 + random() % 3; rank > 0; --rank) {
      const int64_t inner = 1 + int64_t(random() % 6), outer = 1 + int64_t(random() % 6);
      shape.push_back(inner * outer);
      steps.push_back({inner});
    }
    const Sharding whole = test::randomSharding(random, shape, rows, cols), made = withCutDims(whole, steps);
    cuts += made.dims.size() > whole.dims.size();
    ASSERT_NO_FATAL_FAILURE(expectSameElements(whole, made, rows, cols));
  }
  std::printf("%d of 2000 cut\n", cuts);
  EXPECT_GE(cuts, 500);
}

} // namespace
