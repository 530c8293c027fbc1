// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs are read off programs: what kernelCost says of a mapping is what the programs of all its rows say. Networks are
// sized by sizeNetwork; nothing here depends on what it chooses.
#include "compiler/kernels/sizing/Cost.h"
#include "compiler/kernels/mapping/MapNetwork.h"
#include "compiler/kernels/programs/RoleBuilder.h"
#include "test/support/Seed.h"

#include "ConvThenRelu.h"
#include "runtime/format/MemoryMap.h"
#include "runtime/timing/Cost.h"

#include <gtest/gtest.h>

#include <random>

namespace wsc::kernels {
namespace {

const uint64_t kSeed = wsc::test::seedOf(5);

TEST(Cost, IsThatOfTheProgramsOfAllRows) {
  std::mt19937_64 random(kSeed);
  auto pick = [&](int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); };
  auto target = target::loadTarget("mesh-32x32");
  ASSERT_TRUE(target.ok());
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    int64_t kernelH = pick(1, 3), kernelW = pick(1, 3);
    Plane in{pick(1, 12), pick(3, 20), pick(3, 12)};
    int64_t outChannels = pick(1, 12);
    NetworkPlan plan = convThenRelu(in, outChannels, kernelH, kernelW, pick(1, 2));
    auto report = sizeNetwork(*target, plan);
    ASSERT_TRUE(report.ok()) << report.status();
    int64_t macs = 0;
    for (int32_t k = 0; k < int32_t(plan.kernels.size()); ++k) {
      auto cost = kernelCost(*target, plan, k);
      ASSERT_TRUE(cost.ok()) << cost.status();
      KernelRows rows(*target, plan, k);
      int64_t issue = 0, sram = 0, words = 0, kernelMacs = 0;
      SectionTable sections;
      for (int64_t group = 0; group < rows.numGroups(); ++group)
        for (int64_t slice = 0; slice < rows.slices(); ++slice) {
          std::vector<format::Role> roles;
          absl::Status status = rows.roles(group, slice, sections, roles);
          ASSERT_TRUE(status.ok()) << status;
          for (const format::Role &role : roles) {
            issue = std::max(issue, issueCycles(*target, role));
            sram = std::max(sram, sramBytesOf(role));
            kernelMacs += fmaElements(role) * role.cores.size();
            EXPECT_GE(format::memoryMap(*target, role).freeBytes, 0);
          }
        }
      const StreamLayout &layout = plan.streams[plan.kernels[k].spec.outStream].layout;
      for (int64_t tile = 0; tile < layout.numTiles(); ++tile)
        for (int64_t block = 0; block < layout.numBlocks(); ++block)
          words = std::max(words, layout.laneWords(tile, block));
      // The busiest row may be one that sampling passes by; never by much.
      int64_t all = std::max(issue, words);
      EXPECT_LE(cost->intervalCycles, all);
      EXPECT_GE(cost->intervalCycles * 100, all * 80);
      EXPECT_LE(cost->sramBytes, sram);
      EXPECT_GE(cost->sramBytes * 100, sram * 80);
      EXPECT_GE(cost->latencyCycles, words);
      if (plan.kernels[k].spec.kind == KernelKind::Contraction)
        macs += kernelMacs;
    }
    // Every multiply-add of the definition is made once, and nothing but padding besides (here there is none).
    const Plane &out = plan.kernels[0].spec.out;
    EXPECT_EQ(macs, out.elements() * in.channels * kernelH * kernelW);
  }
}

/// Issue slots of a role are the sum over its instructions of runtime/timing's rule, loops unrolled.
TEST(Cost, IssueCyclesAddUp) {
  auto target = target::loadTarget("wse2");
  ASSERT_TRUE(target.ok());
  RoleBuilder builder("r", 0, 0, 0);
  int16_t x = builder.scratch("x", 64), y = builder.scratch("y", 64);
  auto of = [](int16_t buffer) { return RoleBuilder::memory(buffer, 0, {8, 1}); };
  builder.emit(0, format::Opcode::Add, {4, 8}, of(y), of(x), of(x));
  builder.loop(0, 3);
  builder.emit(0, format::Opcode::Fma, {2, 8}, of(y), of(x), of(x));
  builder.endLoop(0);
  builder.emit(1, format::Opcode::Tanh, {8}, of(y), of(x));
  auto role = builder.finish(*target);
  ASSERT_TRUE(role.ok()) << role.status();
  const auto cycles = [&](int thread, int instruction, int64_t elements) {
    return timing::instructionSlots(*target, *role, role->threads[thread][instruction], {}, elements).total();
  };
  int64_t expected = cycles(0, 0, 32) + 3 * cycles(0, 2, 16) + cycles(1, 0, 8);
  EXPECT_EQ(issueCycles(*target, *role), expected + 3 * target->loopCycles);
  EXPECT_EQ(fmaElements(*role), 48);
}

/// A core's SRAM is an error that says how much and of what.
TEST(Cost, ARoleThatDoesNotFitIsRefused) {
  auto target = target::loadTarget("wse2");
  ASSERT_TRUE(target.ok());
  RoleBuilder builder("big", 0, 3, 4);
  int16_t x = builder.scratch("tile", 20000);
  builder.emit(0, format::Opcode::Neg, {20000}, RoleBuilder::memory(x, 0, {1}), RoleBuilder::memory(x, 0, {1}));
  auto role = builder.finish(*target);
  ASSERT_FALSE(role.ok());
  std::string message(role.status().message());
  for (const char *part : {"big", "(3, 4)", "49152", "tile 80000"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
}

/// Results that leave over the links on which a row's input comes hold it up, by a turn of theirs for each word at
/// most.
TEST(Cost, RowsWaitForResultsOnTheirLinks) {
  auto target = target::loadTarget("mesh-32x32");
  ASSERT_TRUE(target.ok());
  NetworkPlan plan = convThenRelu({16, 4, 24}, 64, 1, 1, 1);
  ASSERT_TRUE(sizeNetwork(*target, plan).ok());
  auto cost = kernelCost(*target, plan, 0);
  ASSERT_TRUE(cost.ok()) << cost.status();
  const KernelPlan &conv = plan.kernels[0];
  const StreamLayout &out = plan.streams[conv.spec.outStream].layout;
  const int64_t rowWords = conv.mapping.channelsPerSlice * out.tileRows * 24;
  EXPECT_GT(cost->contendedCycles, cost->predictedCycles);
  EXPECT_LE(cost->contendedCycles, std::max(cost->predictedCycles, cost->intervalCycles + out.numBlocks() * rowWords));
}

} // namespace
} // namespace wsc::kernels
