// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages in which a contraction's rows take their input.
#include "compiler/kernels/mapping/MapNetwork.h"

#include "ConvThenRelu.h"

#include <gtest/gtest.h>

#include <numeric>

namespace wsc::kernels {
namespace {

class Stages : public testing::Test {
protected:
  /// A sized convolution, its input ready.
  KernelRows sized(const char *targetName, const Plane &in, int64_t outChannels, int64_t kernel, int64_t padding) {
    auto loaded = target::loadTarget(targetName);
    EXPECT_TRUE(loaded.ok());
    target = *loaded;
    plan = convThenRelu(in, outChannels, kernel, kernel, 1, padding);
    EXPECT_TRUE(sizeNetwork(target, plan).ok());
    return KernelRows(target, plan, 0);
  }
  static std::vector<int64_t> channelsOf(const std::vector<InputStage> &stages) {
    std::vector<int64_t> channels;
    for (const InputStage &stage : stages)
      channels.push_back(stage.channelEnd - stage.channelBegin);
    return channels;
  }

  target::Target target;
  NetworkPlan plan;
};

/// All channels of a slice, in order, and of each all words that the row needs.
TEST_F(Stages, HoldAllThatTheRowNeedsOnce) {
  struct {
    Plane in;
    int64_t outChannels, kernel, padding;
  } cases[] = {{{32, 4, 28}, 96, 1, 0}, {{24, 8, 16}, 64, 3, 1}, {{17, 6, 20}, 40, 1, 0}, {{8, 12, 12}, 16, 3, 1}};
  int64_t several = 0;
  for (const auto &[in, outChannels, kernel, padding] : cases) {
    const KernelRows rows = sized("mesh-32x12", in, outChannels, kernel, padding);
    for (int64_t group = 0; group < rows.numGroups(); ++group)
      for (int64_t slice = 0; slice < rows.slices(); ++slice) {
        const KernelRow row = rows.row(group, slice);
        const std::vector<InputStage> stages = rows.inputStages(row);
        several += stages.size() > 1;
        int64_t next = row.needed[0].channelBegin, lines = 0, needed = 0;
        for (const InputStage &stage : stages) {
          EXPECT_EQ(stage.channelBegin, next);
          next = stage.channelEnd;
          for (const StagedPart &part : stage.parts) {
            EXPECT_GE(part.channelOffset + part.region.channelBegin, stage.channelBegin);
            EXPECT_LE(part.channelOffset + part.region.channelEnd, stage.channelEnd);
            lines += part.region.channels() * part.region.rows();
          }
        }
        for (const ComponentParts &component : row.components)
          needed += component.lines();
        EXPECT_EQ(next, row.needed[0].channelEnd);
        EXPECT_EQ(lines, needed);
      }
  }
  EXPECT_GT(several, 0);
}

/// 8 columns of 3 channels and 28 pixels: 672 words of results leave, while cores take 28 words of a channel and
/// compute 84 cycles with it, so 6 channels are enough. Then 5 and 5, should results take longer.
TEST_F(Stages, TheFirstLastsUntilResultsHaveLeft) {
  const KernelRows rows = sized("mesh-32x10", {32, 4, 28}, 96, 1, 0);
  ASSERT_EQ(plan.kernels[0].mapping.channelsPerSlice, 16);
  ASSERT_EQ(plan.kernels[0].mapping.channelsPerColumn, 3);
  EXPECT_EQ(channelsOf(rows.inputStages(rows.row(1, 0))), (std::vector<int64_t>{6, 5, 5}));
}

/// Lanes that share a FIFO come out of it one after another, each with all its channels.
TEST_F(Stages, OneIsAllWhereLanesShareAFifo) {
  KernelRows rows = sized("mesh-32x12", {24, 8, 16}, 64, 3, 1);
  const KernelRow row = rows.row(3, 0);
  ASSERT_EQ(row.components[0].parts.size(), 3u); // three tiles of one row
  EXPECT_GT(rows.inputStages(row).size(), 1u);
  target.backgroundOperations = 2; // the rows' own reference
  EXPECT_EQ(rows.inputStages(row).size(), 1u);
}

/// A single pixel has as good as no results.
TEST_F(Stages, OneIsEnoughWhereFewWordsLeave) {
  const KernelRows rows = sized("mesh-32x12", {96, 1, 1}, 64, 1, 0);
  EXPECT_EQ(rows.inputStages(rows.row(0, 0)).size(), 1u);
}

} // namespace
} // namespace wsc::kernels
