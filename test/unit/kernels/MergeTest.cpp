// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows covered by lattices, and bindings merged with them, expand to the same rows again: each exactly once, with the
// numbers it had. Random rows come from up to three nested progressions (what generation produces), and from noise.
#include "compiler/kernels/roles/Merge.h"
#include "compiler/kernels/roles/RowCover.h"
#include "test/support/Seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>

namespace wsc::kernels {
namespace {

using namespace format;

const uint64_t kSeed = wsc::test::seedOf(99);

std::string text(const Affine &affine, const LatticeIndex &index) { return std::to_string(affine.at(index)) + " "; }

/// All indices of a lattice's row dimensions; columns stay inside an item.
template <typename Visit> void forEachRow(const Lattice &lattice, Visit visit) {
  LatticeIndex index{};
  for (index[0] = 0; index[0] < lattice.dims[0].count; ++index[0])
    for (index[1] = 0; index[1] < lattice.dims[1].count; ++index[1])
      for (index[2] = 0; index[2] < lattice.dims[2].count; ++index[2]) {
        int32_t row = lattice.row;
        for (int d = 0; d < 3; ++d)
          row += index[d] * lattice.dims[d].rowStep;
        visit(row, index);
      }
}

/// "Meaning" of a binding at one row as text.
std::string meaning(const IoBinding &binding, const LatticeIndex &index) {
  std::string out =
      std::to_string(binding.colour) + " " + std::to_string(binding.tensor) + " " + text(binding.hostOffset, index);
  for (const Affine &extent : binding.extent)
    out += text(extent, index);
  return out;
}

/// (row, meaning) of all rows, sorted.
std::vector<std::pair<int32_t, std::string>> expand(const std::vector<IoBinding> &items) {
  std::vector<std::pair<int32_t, std::string>> rows;
  for (const IoBinding &item : items)
    forEachRow(item.ports,
               [&](int32_t row, const LatticeIndex &index) { rows.emplace_back(row, meaning(item, index)); });
  std::sort(rows.begin(), rows.end());
  return rows;
}

class Random {
public:
  int64_t pick(int64_t low, int64_t high) { return low + int64_t(engine() % uint64_t(high - low + 1)); }

  /// Rows with a number each: nested progressions in the rows, numbers affine in the indices, and a few strays.
  std::vector<std::pair<int32_t, int64_t>> rows() {
    std::vector<std::pair<int32_t, int64_t>> result;
    int32_t counts[3], steps[3];
    int64_t slopes[3];
    int32_t span = 1;
    for (int d = 2; d >= 0; --d) { // inner progressions fit between the steps of outer ones
      counts[d] = int32_t(pick(1, 4));
      steps[d] = span + int32_t(pick(0, 2));
      span = steps[d] * counts[d];
      slopes[d] = pick(-3, 3);
    }
    int64_t base = pick(-50, 50);
    for (int32_t i = 0; i < counts[0]; ++i)
      for (int32_t j = 0; j < counts[1]; ++j)
        for (int32_t k = 0; k < counts[2]; ++k)
          if (pick(0, 12) != 0) // holes
            result.emplace_back(i * steps[0] + j * steps[1] + k * steps[2], base + i * slopes[0] + j * slopes[1] +
                                                                                k * slopes[2] +
                                                                                (pick(0, 15) == 0 ? pick(1, 5) : 0));
    std::shuffle(result.begin(), result.end(), engine);
    return result;
  }
  std::mt19937_64 engine{kSeed};
};

/// (row, item, number) of all points, sorted; items are those of the first points.
std::vector<std::pair<int32_t, int64_t>> expand(const std::vector<RowLattice> &lattices) {
  std::vector<std::pair<int32_t, int64_t>> rows;
  for (const RowLattice &lattice : lattices) {
    const auto &[inner, middle, outer] = lattice.levels;
    auto at = [](const RowLattice::Level &level, int32_t i) { return level.slope.empty() ? 0 : level.slope[0] * i; };
    for (int32_t i = 0; i < outer.count; ++i)
      for (int32_t j = 0; j < middle.count; ++j)
        for (int32_t k = 0; k < inner.count; ++k)
          rows.emplace_back(lattice.first.row + i * outer.rowStep + j * middle.rowStep + k * inner.rowStep,
                            lattice.first.numbers[0] + at(outer, i) + at(middle, j) + at(inner, k));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(RowCover, HoldsEveryRowOnce) {
  Random random;
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    std::vector<std::pair<int32_t, int64_t>> rows = random.rows();
    std::vector<RowPoint> points;
    for (auto [row, number] : rows)
      points.push_back({row, points.size(), {number}});
    std::sort(rows.begin(), rows.end());
    for (int levels = 0; levels <= 3; ++levels) {
      std::vector<RowLattice> lattices = coverRows(points, levels);
      EXPECT_EQ(expand(lattices), rows);
      EXPECT_LE(usedLevels(lattices), levels);
    }
  }
}

/// Rows 1, 4, 6, 8 of every 13: a stray before each progression keeps neither from recurring.
TEST(RowCover, ShapesDoNotStandInEachOthersWay) {
  std::vector<RowPoint> points;
  for (int32_t group = 0; group < 56; ++group)
    for (int32_t row : {1, 4, 6, 8})
      points.push_back({13 * group + row, 0, {}});
  std::vector<RowLattice> lattices = coverRows(points);
  ASSERT_EQ(lattices.size(), 2u);
  EXPECT_EQ(lattices[0].levels[1].count, 56);
  EXPECT_EQ(lattices[1].levels[0].count, 3);
  EXPECT_EQ(lattices[1].levels[1].count, 56);
}

TEST(Merge, BindingsExpandToTheSameRows) {
  Random random;
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    std::vector<IoBinding> items;
    for (auto [row, number] : random.rows()) {
      IoBinding item;
      item.ports.row = row;
      item.colour = uint8_t(row % 2);
      item.hostOffset = Affine(number * 10);
      item.extent[3] = Affine(4 + (number == 7));
      items.push_back(item);
    }
    auto before = expand(items);
    EXPECT_EQ(expand(mergeIo(items)), before);
  }
}

TEST(Merge, ProgressionsOfProgressionsBecomeOneItem) {
  std::vector<IoBinding> items;
  for (int32_t i = 0; i < 5; ++i)
    for (int32_t j = 0; j < 4; ++j)
      for (int32_t k = 0; k < 3; ++k) {
        IoBinding item;
        item.ports.row = 100 * i + 20 * j + 2 * k;
        item.hostOffset = Affine(1000 * i + 50 * j + 9 * k);
        items.push_back(item);
      }
  std::vector<IoBinding> merged = mergeIo(items);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].ports.size(), 60);
  EXPECT_EQ(expand(merged), expand(items));
}

/// The same rows in any order of arrival give the same items.
TEST(Merge, OrderOfRowsDoesNotMatter) {
  Random random;
  for (int i = 0; i < 50; ++i) {
    std::vector<IoBinding> items;
    for (auto [row, number] : random.rows()) {
      IoBinding item;
      item.ports.row = row;
      item.hostOffset = Affine(number);
      items.push_back(item);
    }
    std::vector<IoBinding> shuffled = items;
    std::shuffle(shuffled.begin(), shuffled.end(), random.engine);
    EXPECT_EQ(mergeIo(items), mergeIo(shuffled)) << "seed " << kSeed << ", case " << i;
  }
}

/// As many rows as a wafer has cores take about as long per row as a thousandth of them.
TEST(Merge, CostIsLinear) {
  auto seconds = [](int32_t count) {
    std::vector<IoBinding> items;
    for (int32_t i = 0; i < count; ++i) {
      IoBinding item;
      item.ports.row = i;
      item.hostOffset = Affine(int64_t(i) * i % 7); // few progressions
      items.push_back(item);
    }
    auto begin = std::chrono::steady_clock::now();
    std::vector<IoBinding> merged = mergeIo(std::move(items));
    EXPECT_GT(merged.size(), 0u);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double small = std::min(seconds(4000), seconds(4000)), large = std::min(seconds(64000), seconds(64000));
  EXPECT_LT(large, 16 * small * 6 + 0.05) << "4000 rows take " << small << " s, 64000 take " << large << " s";
}

} // namespace
} // namespace wsc::kernels
