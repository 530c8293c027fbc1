// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes of several columns leave on rows of their own, and the busiest link of a network is that of one of its kernels.
#include "compiler/kernels/mapping/MapNetwork.h"
#include "compiler/kernels/mapping/PlaceNetwork.h"
#include "compiler/kernels/programs/Send.h"
#include "compiler/kernels/routes/LinkLoads.h"
#include "test/support/Seed.h"

#include "ConvThenRelu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace wsc::kernels {
namespace {

const uint64_t kSeed = wsc::test::seedOf(8);

TEST(Links, ColumnsSendOnRowsOfTheirOwn) {
  KernelPlan plan;
  plan.spec.kind = KernelKind::Elementwise;
  plan.spec.out = {32, 1, 1};
  plan.mapping = {.channelsPerSlice = 1, .slices = 8, .channelsPerColumn = 8, .columns = 4};
  StreamLayout layout;
  layout.plane = plan.spec.out;
  layout.blockBegin = {0, 8, 16, 24, 32};
  std::vector<int64_t> exits;
  for (int64_t channel = 0; channel < 32; channel += 8) {
    const ColumnSender sender = columnSender(plan, layout, channel);
    EXPECT_EQ(sender.firstSlice, 0);
    EXPECT_EQ(sender.lastSlice, 7);
    exits.push_back(sender.exitSlice);
  }
  EXPECT_EQ(exits, (std::vector<int64_t>{1, 3, 5, 7}));
  plan.mapping.channelsPerColumn = 32; // one column: blocks lie below each other
  plan.mapping.columns = 1;
  plan.mapping.slices = 32;
  EXPECT_EQ(columnSender(plan, layout, 8).exitSlice, 15);
}

/// Results leave where the middle input row arrives, as far as the slices reach.
TEST(Links, ResultsLeaveNearWhereInputsArrive) {
  NetworkPlan network;
  network.grid.rowsUsed = 48;
  network.streams.resize(2);
  StreamLayout &in = network.streams[0].layout, &out = network.streams[1].layout;
  in.plane = {16, 8, 8};
  in.blockBegin = {0, 8, 16};
  out.plane = {16, 4, 4};
  out.blockBegin = {0, 8, 16};
  network.streams[0].consumers = {0};
  network.streams[1].producer = 0;
  KernelPlan plan;
  plan.spec.kind = KernelKind::Window;
  plan.spec.window = {.kernelH = 3, .kernelW = 3, .strideH = 2, .strideW = 2, .padTop = 1, .padLeft = 1};
  plan.spec.inputs = {{{0}}};
  plan.spec.out = out.plane;
  plan.spec.outStream = 1;
  plan.mapping = {.channelsPerSlice = 2, .slices = 4, .channelsPerColumn = 8, .columns = 2};
  network.kernels.push_back(plan);
  layOutLanes(network); // groups of 12 rows; input tiles 6 rows apart, blocks 3
  EXPECT_EQ((std::vector<int32_t>{out.laneRows[4], out.laneRows[5]}), (std::vector<int32_t>{25, 27})); // spread
  network.kernels[0].mapping.exitsNear = true;
  layOutLanes(network);
  EXPECT_EQ((std::vector<int32_t>{out.laneRows[4], out.laneRows[5]}), (std::vector<int32_t>{24, 27}));
  EXPECT_EQ((std::vector<int32_t>{in.laneRows[8], in.laneRows[9]}), (std::vector<int32_t>{24, 27}));
}

/// A control word brings back the switches of at most 255 rows.
TEST(Links, LongColumnsSendNoFurtherUpThanAControlWordCounts) {
  KernelPlan plan;
  plan.spec.kind = KernelKind::Elementwise;
  plan.spec.out = {1200, 1, 1};
  plan.mapping = {.channelsPerSlice = 1, .slices = 600, .channelsPerColumn = 600, .columns = 2};
  StreamLayout layout;
  layout.plane = plan.spec.out;
  layout.blockBegin = {0, 600, 1200};
  EXPECT_EQ(columnSender(plan, layout, 0).exitSlice, 599 - 255);
  EXPECT_EQ(columnSender(plan, layout, 600).exitSlice, 450);
}

TEST(Links, TheBusiestIsThatOfAKernel) {
  std::mt19937_64 random(kSeed);
  auto pick = [&](int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); };
  auto target = target::loadTarget("mesh-40x60");
  ASSERT_TRUE(target.ok());
  for (int i = 0; i < 30; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    NetworkPlan plan =
        convThenRelu({pick(1, 12), pick(3, 40), pick(3, 12)}, pick(1, 24), pick(1, 3), pick(1, 3), pick(1, 2));
    auto report = sizeNetwork(*target, plan);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_TRUE(placeNetwork(*target, plan).ok());
    int64_t most = 0;
    for (int32_t k = 0; k < int32_t(plan.kernels.size()); ++k)
      most = std::max(most, busiestLinkOf(*target, plan, k).words);
    EXPECT_EQ(most, busiestLink(*target, plan, laneRoutes(*target, plan)).words);
  }
}

} // namespace
} // namespace wsc::kernels
