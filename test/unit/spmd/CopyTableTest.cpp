// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables of positions as products of factors' lists, against lists that are multiplied out core by core.
#include "compiler/spmd/moves/CopyTable.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>

using wsc::spmd::Axis;
using wsc::spmd::CopyTable;
using wsc::spmd::Rectangle;

namespace {

using Factor = CopyTable::Factor;
using List = std::vector<int64_t>;

/// A number of all rows of 3 × 4 cores, which step from column to column; another from row to row.
TEST(CopyTable, IsSharedAlongTheAxisThatItDoesNotDependOn) {
  const Rectangle mesh{0, 0, 3, 4};
  const Factor byCol{Axis::Row, {0, 0, 0}, {{0, 1, 2, 3}}, false, {{0, 1}, {10, 11}, {20, 21}, {30, 31}}};
  const CopyTable cols({byCol}, mesh, mesh, 0);
  EXPECT_EQ(cols.rows(), 1);
  EXPECT_EQ(cols.cols(), 4);
  EXPECT_EQ(cols.numbers(), (std::vector<int32_t>{0, 1, 10, 11, 20, 21, 30, 31}));
  EXPECT_EQ(cols.most(), 31);

  const Factor byRow{Axis::Row, {0, 1, 1}, {{0}, {1}}, true, {{5}, {7}}};
  const CopyTable rows({byRow}, mesh, mesh, 0);
  EXPECT_EQ(rows.rows(), 3);
  EXPECT_EQ(rows.cols(), 1);
  EXPECT_EQ(rows.numbers(), (std::vector<int32_t>{5, 7, 7}));
}

TEST(CopyTable, PaddingReadsTheOwnPosition) {
  const Rectangle mesh{0, 0, 1, 2};
  const Factor outer{Axis::Row, {0}, {{0, 1}}, false, {{0, 100}, {100, -1}}};
  const Factor inner{Axis::Row, {0}, {{0}}, true, {{1, 2}}};
  const CopyTable table({outer, inner}, mesh, mesh, 40);
  EXPECT_TRUE(table.isPadded());
  EXPECT_EQ(table.numbers(), (std::vector<int32_t>{1, 2, 101, 102, 101, 102, 40, 40}));
  EXPECT_EQ(table.inside(), (std::vector<uint8_t>{1, 1, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(table.places(), (List{1, 2, 40, 101, 102}));
}

Factor randomFactor(std::mt19937_64 &random, const Rectangle &mesh) {
  auto below = [&](int n) { return int(random() % uint64_t(n)); };
  Factor factor;
  factor.axis = below(2) == 0 ? Axis::Row : Axis::Col;
  const int32_t lines = factor.axis == Axis::Row ? mesh.rows : mesh.cols;
  const int32_t length = factor.axis == Axis::Row ? mesh.cols : mesh.rows;
  const int classes = 1 + below(3), lists = 1 + below(5), entries = 1 + below(4);
  factor.isUniform = below(3) == 0;
  const bool leavesOut = below(3) == 0;
  for (int32_t l = 0; l < lines; ++l)
    factor.classOf.push_back(leavesOut && l > 0 && below(4) == 0 ? -1 : below(classes));
  for (int c = 0; c < classes; ++c) {
    factor.listOf.emplace_back();
    for (int32_t k = 0; k < (factor.isUniform ? 1 : length); ++k)
      factor.listOf.back().push_back(leavesOut && below(6) == 0 ? -1 : below(lists));
  }
  for (int i = 0; i < lists; ++i) {
    factor.lists.emplace_back();
    for (int e = 0; e < entries; ++e)
      factor.lists.back().push_back(below(8) == 0 ? -1 : below(50));
  }
  return factor;
}

/// One core's positions, −1 for padding; empty: it wants nothing.
List positionsOf(const std::vector<Factor> &factors, int32_t row, int32_t col) {
  List all{0};
  for (const Factor &factor : factors) {
    const int32_t list = factor.at(row, col);
    if (list < 0)
      return {};
    List next;
    for (int64_t outer : all)
      for (int64_t inner : factor.lists[size_t(list)])
        next.push_back(outer < 0 || inner < 0 ? -1 : outer + inner);
    all = next;
  }
  return all;
}

TEST(CopyTable, RandomFactors) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Rectangle mesh{0, 0, 1 + int32_t(random() % 5), 1 + int32_t(random() % 6)};
    std::vector<Factor> factors(1 + random() % 3);
    for (Factor &factor : factors)
      factor = randomFactor(random, mesh);
    const int64_t own = int64_t(random() % 200);
    // An axis that nothing depends on is represented by the takers' first line.
    const int32_t firstRow = int32_t(random() % uint64_t(mesh.rows)),
                  firstCol = int32_t(random() % uint64_t(mesh.cols));
    const Rectangle takers{firstRow, firstCol, mesh.rows - firstRow, mesh.cols - firstCol};
    const CopyTable table(factors, mesh, takers, own);
    const bool byRow = std::any_of(factors.begin(), factors.end(), [](auto &f) { return f.dependsOn(Axis::Row); });
    const bool byCol = std::any_of(factors.begin(), factors.end(), [](auto &f) { return f.dependsOn(Axis::Col); });
    std::vector<int32_t> numbers;
    std::vector<uint8_t> inside;
    for (int32_t row = 0; row < table.rows(); ++row)
      for (int32_t col = 0; col < table.cols(); ++col) {
        List positions = positionsOf(factors, byRow ? row : firstRow, byCol ? col : firstCol);
        const bool wants = !positions.empty();
        positions.resize(size_t(table.length()), own);
        for (int64_t position : positions) {
          numbers.push_back(int32_t(position < 0 ? own : position));
          inside.push_back(!wants || position >= 0);
        }
      }
    EXPECT_EQ(table.numbers(), numbers);
    EXPECT_EQ(table.inside(), inside);
    EXPECT_EQ(table.isPadded(), std::count(inside.begin(), inside.end(), 0) > 0);
    EXPECT_EQ(table.most(), *std::max_element(numbers.begin(), numbers.end()));
    const std::set<int64_t> places(numbers.begin(), numbers.end());
    EXPECT_EQ(table.places(), List(places.begin(), places.end()));
  }
}

} // namespace
