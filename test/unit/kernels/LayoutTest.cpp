// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tensors lie on lanes: the parts of a region cover it exactly once, in the order all receivers share, and never
// more tiles than tilesTouched promises.
#include "compiler/kernels/network/Layout.h"

#include "compiler/kernels/network/Tiling.h"
#include "test/support/Seed.h"
#include "test/unit/kernels/ConvThenRelu.h"

#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <set>
#include <tuple>

namespace wsc::kernels {
namespace {

const uint64_t kSeed = wsc::test::seedOf(1234);

class Random {
public:
  /// In [low, high].
  int64_t pick(int64_t low, int64_t high) { return low + int64_t(engine() % uint64_t(high - low + 1)); }
  StreamLayout layout() {
    StreamLayout layout;
    layout.plane = {pick(1, 20), pick(1, 30), pick(1, 6)};
    layout.tileRows = pick(1, layout.plane.rows);
    if (pick(0, 2) == 0 && layout.plane.rows > 1)
      layout.deadFrom = pick(1, layout.plane.rows - 1);
    layout.blockBegin = {0};
    while (layout.blockBegin.back() < layout.plane.channels)
      layout.blockBegin.push_back(pick(layout.blockBegin.back() + 1, layout.plane.channels));
    return layout;
  }
  std::mt19937_64 engine{kSeed};
};

TEST(Layout, TilesAndBlocksCoverThePlaneOnce) {
  Random random;
  for (int i = 0; i < 1000; ++i) {
    StreamLayout layout = random.layout();
    int64_t words = 0;
    for (int64_t tile = 0; tile < layout.numTiles(); ++tile) {
      EXPECT_EQ(layout.tileBegin(tile), tile == 0 ? 0 : layout.tileEnd(tile - 1));
      EXPECT_LT(layout.tileBegin(tile), layout.tileEnd(tile));
      for (int64_t block = 0; block < layout.numBlocks(); ++block)
        words += layout.laneWords(tile, block);
    }
    EXPECT_EQ(layout.tileEnd(layout.numTiles() - 1), layout.liveRows());
    EXPECT_EQ(words, layout.plane.channels * layout.liveRows() * layout.plane.width)
        << "seed " << kSeed << ", case " << i;
  }
}

TEST(Layout, PartsCoverARegionExactlyOnce) {
  Random random;
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    StreamLayout layout = random.layout();
    Region region;
    region.channelBegin = random.pick(0, layout.plane.channels - 1);
    region.channelEnd = random.pick(region.channelBegin + 1, layout.plane.channels);
    region.rowBegin = random.pick(0, layout.liveRows() - 1);
    region.rowEnd = random.pick(region.rowBegin + 1, layout.liveRows());
    // As a receiver has it: no two of its tiles have the same remainder.
    layout.orderModulus = random.pick(tilesTouched(region.rows(), layout.tileRows, layout.liveRows()), 40);
    std::vector<LanePart> parts = partsOf(layout, region);
    std::set<std::pair<int64_t, int64_t>> covered;
    std::set<int64_t> tiles, remainders;
    for (const LanePart &part : parts) {
      tiles.insert(part.tile);
      remainders.insert(part.tile % layout.orderModulus);
      EXPECT_LT(part.tile, layout.numTiles());
      EXPECT_LT(part.block, layout.numBlocks());
      for (int64_t c = part.region.channelBegin; c < part.region.channelEnd; ++c)
        for (int64_t r = part.region.rowBegin; r < part.region.rowEnd; ++r) {
          EXPECT_TRUE(covered.insert({c, r}).second) << "channel " << c << ", row " << r << " twice";
          // On the lane that carries it.
          EXPECT_TRUE(c >= layout.blockBegin[part.block] && c < layout.blockBegin[part.block + 1]);
          EXPECT_TRUE(r >= layout.tileBegin(part.tile) && r < layout.tileEnd(part.tile));
        }
    }
    EXPECT_EQ(int64_t(covered.size()), region.channels() * region.rows());
    for (const auto &[c, r] : covered)
      EXPECT_TRUE(c >= region.channelBegin && c < region.channelEnd && r >= region.rowBegin && r < region.rowEnd);
    EXPECT_LE(int64_t(tiles.size()), tilesTouched(region.rows(), layout.tileRows, layout.liveRows()));
    EXPECT_EQ(tiles.size(), remainders.size());
    for (size_t k = 1; k < parts.size(); ++k) {
      auto key = [&](const LanePart &p) { return std::tuple(p.tile % layout.orderModulus, p.block); };
      EXPECT_LT(key(parts[k - 1]), key(parts[k]));
    }
  }
}

TEST(Layout, AnEmptyRegionHasNoParts) {
  StreamLayout layout;
  layout.plane = {4, 4, 4};
  layout.blockBegin = {0, 4};
  EXPECT_TRUE(partsOf(layout, {2, 2, 0, 4}).empty());
  EXPECT_TRUE(partsOf(layout, {3, 1, 0, 4}).empty());
  EXPECT_TRUE(partsOf(layout, {0, 4, 3, 3}).empty());
}

/// Not only an upper bound: some position of the rows touches that many.
TEST(Layout, TilesTouchedIsReached) {
  for (int64_t planeRows = 1; planeRows <= 12; ++planeRows)
    for (int64_t tileRows = 1; tileRows <= planeRows; ++tileRows)
      for (int64_t rows = 1; rows <= planeRows; ++rows) {
        int64_t most = 0;
        for (int64_t begin = 0; begin + rows <= planeRows; ++begin)
          most = std::max(most, (begin + rows - 1) / tileRows - begin / tileRows + 1);
        EXPECT_GE(tilesTouched(rows, tileRows, planeRows), most);
        EXPECT_LE(tilesTouched(rows, tileRows, planeRows), most + 1)
            << rows << " of " << planeRows << " rows in tiles of " << tileRows;
      }
}

TEST(Layout, GroupsDivideTheRowsInUse) {
  for (int64_t used = 1; used <= 60; ++used)
    for (int64_t groups = 1; groups <= used; ++groups) {
      RowGrid grid{used};
      EXPECT_EQ(grid.groupBegin(0, groups), 0);
      EXPECT_EQ(grid.groupBegin(groups, groups), used);
      for (int64_t g = 0; g < groups; ++g)
        EXPECT_GE(grid.groupBegin(g + 1, groups) - grid.groupBegin(g, groups), grid.groupRows(groups));
    }
}

/// 223 live rows, 111 rows left by windows of 3 with stride 2: the pitches keep row 2r of one at the height of row r of
/// the other, all the way down, and groups inside the rows in use.
TEST(Layout, ImageRowsOfAllTensorsAreEquallyFarApart) {
  auto target = target::loadTarget("wse2");
  ASSERT_TRUE(target.ok());
  NetworkPlan network = convThenRelu({3, 224, 8}, 4, 3, 3, 2);
  ASSERT_TRUE(chooseTiles(*target, network).ok());
  const StreamLayout &in = network.streams[0].layout, &out = network.streams[1].layout;
  ASSERT_EQ(out.numTiles(), 111);
  ASSERT_EQ(in.tileRows, 1);
  const RowGrid &grid = network.grid;
  for (int64_t row = 0; row < 111; ++row)
    EXPECT_EQ(grid.groupBegin(2 * row, in.numTiles()), grid.groupBegin(row, 111)) << "row " << row;
  EXPECT_LE(grid.groupBegin(110, 111) + grid.groupRows(111), grid.rowsUsed);
  EXPECT_GE(grid.groupBegin(111, 111), grid.rowsUsed * 11 / 12) << "too many rows idle";
  findPitches(network);
  EXPECT_EQ(network.grid.groupBegin(60, 111), grid.groupBegin(60, 111)) << "read back from the IR, other pitches";
}

/// Tiles of 20 of 111 rows, 11 in the last: they begin where those rows lie in tensors of one row a tile, and no group
/// has more rows than the last one.
TEST(Layout, TilesWithAShorterLastOneBeginWhereTheirRowsLie) {
  auto target = target::loadTarget("wse2");
  ASSERT_TRUE(target.ok());
  NetworkPlan network = convThenRelu({3, 224, 8}, 4, 3, 3, 2);
  for (bool centred : {false, true}) {
    ASSERT_TRUE(chooseTiles(*target, network, {.centred = centred}).ok());
    StreamLayout &large = network.streams[2].layout;
    large.tileRows = 20;
    findPitches(network);
    ASSERT_EQ(large.numTiles(), 6);
    const RowGrid &grid = network.grid;
    for (int64_t tile = 0; tile < 6; ++tile)
      EXPECT_EQ(grid.groupBegin(tile, 6), grid.groupBegin(20 * tile, 111)) << "tile " << tile << ", " << centred;
    EXPECT_LE(grid.groupBegin(5, 6) + grid.groupRows(6), grid.height());
    EXPECT_GE(2 * grid.groupRows(6), grid.groupBegin(1, 6) - grid.groupBegin(0, 6));
  }
}

/// Of windows of 3 rows with stride 2 row r needs rows 2r to 2r + 2, or with padding 2r - 1 to 2r + 1: centred, its
/// group lies as far from the first of them as from the last, and all tensors inside the mesh.
TEST(Layout, OffsetsPutOutputsInTheMiddleOfTheirInputs) {
  auto target = target::loadTarget("wse2");
  ASSERT_TRUE(target.ok());
  for (int64_t padTop : {0, 1}) {
    NetworkPlan network = convThenRelu({3, 224, 8}, 4, 3, 3, 2, padTop);
    ASSERT_TRUE(chooseTiles(*target, network, {.centred = true}).ok());
    const RowGrid &grid = network.grid;
    const int64_t in = network.streams[0].layout.numTiles(), out = network.streams[1].layout.numTiles();
    ASSERT_EQ(network.streams[0].layout.tileRows, 1);
    const int64_t first = grid.groupBegin(100 - padTop, in), end = grid.groupBegin(103 - padTop, in);
    const int64_t north = grid.groupBegin(50, out) - first, south = end - grid.groupBegin(51, out);
    EXPECT_LE(std::abs(north - south), 2) << "padding " << padTop;
    EXPECT_LE(grid.groupBegin(in - 1, in) + grid.groupRows(in), target->rows);
    EXPECT_LE(grid.groupBegin(out - 1, out) + grid.groupRows(out), grid.height());
    EXPECT_LE(grid.height(), target->rows);
    ASSERT_TRUE(chooseTiles(*target, network).ok());
    EXPECT_TRUE(grid.offsets.empty()) << "not asked for";
  }
}

/// Results of a contraction leave on lanes that carry less where that is asked for; those of other kernels do not.
TEST(Layout, ResultsLeaveOnShorterLanes) {
  auto target = target::loadTarget("mesh-64x64");
  ASSERT_TRUE(target.ok());
  NetworkPlan network = convThenRelu({8, 16, 64}, 40, 1, 1, 1); // lines of 40 x 64 words
  ASSERT_TRUE(chooseTiles(*target, network).ok());
  EXPECT_EQ(network.streams[1].layout.wantedBlocks, 1);
  ASSERT_TRUE(chooseTiles(*target, network, {}, /*leavingWords=*/1024).ok());
  EXPECT_EQ(network.streams[1].layout.wantedBlocks, 2);
  EXPECT_EQ(network.streams[2].layout.wantedBlocks, 1) << "no contraction's";
}

/// Blocks end in slices of their own, so that their lanes leave on rows of their own.
TEST(Layout, BlocksEndInDifferentSlices) {
  for (int64_t slices = 1; slices <= 40; ++slices)
    for (int64_t blocks = 1; blocks <= slices; ++blocks) {
      std::set<int64_t> ends;
      for (int64_t block = 0; block < blocks; ++block) {
        EXPECT_LT(endSlice(block, blocks, slices), slices);
        ends.insert(endSlice(block, blocks, slices));
      }
      EXPECT_EQ(int64_t(ends.size()), blocks) << slices << " slices";
    }
}

} // namespace
} // namespace wsc::kernels
