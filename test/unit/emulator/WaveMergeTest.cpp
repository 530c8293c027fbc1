// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups of a wave that do the same steps become one.
#include "runtime/emulator/WaveMerge.h"

#include <gtest/gtest.h>

using namespace wsc::emulator;

namespace {

using Kind = RecordedStep::Kind;
using Region = RecordedOperand::Region;

constexpr int64_t kSlots = 1 << 20;

class WaveMerge : public testing::Test {
protected:
  WaveMerge() : stream((record.streams = std::vector<WaveRecord::Stream>(1))[0]) {}

  RecordedOperand even(Region region, uint64_t base, int32_t stride) {
    RecordedOperand operand;
    operand.region = region;
    operand.base = base;
    operand.stride = stride;
    return operand;
  }
  RecordedOperand table(Region region, uint64_t base, const std::vector<int32_t> &distances) {
    RecordedOperand operand;
    operand.region = region;
    operand.base = base;
    operand.hasTable = true;
    operand.table = uint32_t(stream.distances.size());
    stream.distances.insert(stream.distances.end(), distances.begin(), distances.end());
    return operand;
  }
  void group(int64_t slotBytes = 0) { stream.groups.push_back({uint32_t(stream.steps.size()), slotBytes}); }
  // Copies `bytes` bytes on `cores` cores.
  void copy(uint8_t cores, RecordedOperand dst, RecordedOperand a, int64_t bytes = 8) {
    RecordedStep step;
    step.kind = Kind::Bytes;
    step.cores = cores;
    step.bytes = bytes;
    step.dst = dst;
    step.a = a;
    stream.steps.push_back(step);
  }
  void endWave() { record.waves.push_back(uint32_t(stream.groups.size())); }
  // Where the cores of a step have an operand.
  std::vector<int64_t> offsets(const RecordedStep &step, const RecordedOperand &operand) const {
    std::vector<int64_t> all;
    for (int i = 0; i < step.cores; ++i)
      all.push_back(int64_t(operand.base) +
                    (operand.hasTable ? stream.distances[operand.table + size_t(i)] : i * int64_t(operand.stride)));
    return all;
  }

  WaveRecord record;
  WaveRecord::Stream &stream; // its only one
};

TEST_F(WaveMerge, CoresOfEqualSteps) {
  group(200);
  copy(2, even(Region::Slot, 8, 100), table(Region::Words, 64, {0, 32}));
  group(300);
  copy(3, even(Region::Slot, 16, 100), table(Region::Words, 256, {0, 8, 24}));
  endWave();
  mergeGroups(record, kSlots);
  ASSERT_EQ(stream.groups.size(), 1u);
  ASSERT_EQ(stream.steps.size(), 1u);
  const RecordedStep &step = stream.steps[0];
  EXPECT_EQ(step.cores, 5);
  EXPECT_EQ(stream.groups[0].slotBytes, 500);
  // The second group's slots lie behind those of the first.
  EXPECT_EQ(offsets(step, step.dst), (std::vector<int64_t>{8, 108, 216, 316, 416}));
  EXPECT_EQ(offsets(step, step.a), (std::vector<int64_t>{64, 96, 256, 264, 280}));
  EXPECT_EQ(record.waves, std::vector<uint32_t>{1});
}

// Steps that differ in what they do, or where operands are of another kind, stay apart; so do those of other waves.
TEST_F(WaveMerge, OnlyWhatIsTheSame) {
  const auto add = [&](int64_t bytes, Region region) {
    group();
    copy(1, even(Region::Scratch, 0, 0), even(region, 0, 0), bytes);
  };
  add(8, Region::Words);
  add(16, Region::Words);
  add(8, Region::Address);
  add(8, Region::Words);
  copy(1, even(Region::Scratch, 0, 0), even(Region::Words, 0, 0));
  endWave();
  add(8, Region::Words);
  endWave();
  mergeGroups(record, kSlots);
  EXPECT_EQ(stream.groups.size(), 5u);
  EXPECT_EQ(stream.steps.size(), 6u);
}

TEST_F(WaveMerge, AsManyCoresAndSlotsAsThereIsRoomFor) {
  for (int i = 0; i < 4; ++i) {
    group(100);
    copy(30, even(Region::Slot, 0, 0), even(Region::Words, 0, 0));
  }
  endWave();
  mergeGroups(record, kSlots);
  ASSERT_EQ(stream.groups.size(), 2u);
  EXPECT_EQ(stream.steps[0].cores, 60);
  EXPECT_EQ(stream.steps[1].cores, 60);
  record.waves = {2};
  mergeGroups(record, 399);
  EXPECT_EQ(stream.groups.size(), 2u);
}

TEST_F(WaveMerge, WordsInPiecesStayWithTheirGroup) {
  for (int i = 0; i < 2; ++i) {
    group();
    copy(1, even(Region::Scratch, 0, 0), even(Region::Pieces, 0, 0));
  }
  endWave();
  mergeGroups(record, kSlots);
  EXPECT_EQ(stream.groups.size(), 2u);
}

TEST_F(WaveMerge, CoresTooFarApartStayApart) {
  for (uint64_t base : {uint64_t(0), uint64_t(1) << 32}) {
    group();
    copy(1, even(Region::Scratch, 0, 0), even(Region::Address, base, 0));
  }
  endWave();
  mergeGroups(record, kSlots);
  EXPECT_EQ(stream.groups.size(), 2u);
  EXPECT_EQ(stream.steps[1].a.base, uint64_t(1) << 32);
}

// Chains are numbered by the cores of the merged step; steps at which none ends are dropped.
TEST_F(WaveMerge, Chains) {
  PlanVariant plan;
  const auto chains = [&](uint8_t cores, std::vector<RecordedChain> ending) {
    RecordedStep step;
    step.kind = Kind::Chains;
    step.cores = cores;
    step.nest = &plan;
    step.chains = {uint32_t(stream.chains.size()), uint32_t(ending.size())};
    step.dst = even(Region::Words, 0, 64);
    stream.chains.insert(stream.chains.end(), ending.begin(), ending.end());
    stream.steps.push_back(step);
  };
  stream.chainSources = {{7, 0}, {5, 0}};
  group();
  chains(2, {{-1, 0, 1, 1}});
  chains(2, {});
  group();
  chains(3, {{-1, 1, 1, 2}});
  chains(3, {});
  endWave();
  mergeGroups(record, kSlots);
  ASSERT_EQ(stream.steps.size(), 1u);
  ASSERT_EQ(stream.steps[0].chains.count, 2u);
  EXPECT_EQ(stream.chains[0].core, 4); // in order of their words
  EXPECT_EQ(stream.chains[1].core, 1);
}

} // namespace
