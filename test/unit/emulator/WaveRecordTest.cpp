// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of runs in waves: chunks go back to who took them; operands at equal distances share them in a record; links
// of a record become chains.
#include "runtime/emulator/WaveRecord.h"
#include "runtime/emulator/WaveTeam.h"

#include <gtest/gtest.h>

using namespace wsc::emulator;

namespace {

TEST(WaveChunks, HaveRoomForTheirWords) {
  for (int64_t words : {1, 12, 13, 28, 29, 100, 1000, 4095, 4096, 100000}) {
    WaveArena arena;
    ASSERT_TRUE(arena.reset(words, 1, 0, 1));
    WaveChunks chunks;
    const WaveChunk *chunk = chunks.take(arena, words);
    EXPECT_GE(chunk->words(), words);
    EXPECT_LE(chunk->words() * 4, words * 4 * 9 / 8 + 64) << words;
    EXPECT_EQ(chunk->words() * 4 + int64_t(sizeof(WaveChunk)), WaveChunks::bytesFor(words));
  }
}

TEST(WaveChunks, GoBackToTheWorkerThatTookThem) {
  WaveTeam team(2);
  team.takeChunksBack();
  WaveArena arena;
  ASSERT_TRUE(arena.reset(1 << 20, 16, 0, 2));
  WaveChunk *first = team.workers[0].chunks.take(arena, 100), *second = team.workers[1].chunks.take(arena, 100);
  team.workers[1].release(first);
  team.workers[1].release(second);
  WaveChunk *third = team.workers[0].chunks.take(arena, 100); // the wave is not over
  EXPECT_NE(third, first);
  team.giveReleased();
  EXPECT_EQ(team.workers[0].chunks.take(arena, 100), first);
  EXPECT_EQ(team.workers[1].chunks.take(arena, 100), second);
}

TEST(WaveChunks, AreFreeAtOnceForOneThread) {
  WaveTeam team(1);
  WaveArena arena;
  ASSERT_TRUE(arena.reset(1 << 20, 16, 0, 1));
  WaveWorker &worker = team.workers[0];
  WaveChunk *chunk = worker.chunks.take(arena, 100);
  worker.release(chunk);
  EXPECT_EQ(worker.chunks.take(arena, 100), chunk);
}

struct Recording {
  WaveState state;
  WaveWorker worker;
  WaveRecord record;
  WaveRecorder recorder;
  Recording() : recorder(state, worker, addStream(record), 0) {}
  static WaveRecord &addStream(WaveRecord &record) {
    record.streams = std::vector<WaveRecord::Stream>(1);
    return record;
  }
  RecordedOperand places(uintptr_t base, std::vector<int64_t> distances) {
    std::vector<std::byte *> begins;
    for (int64_t distance : distances)
      begins.push_back(reinterpret_cast<std::byte *>(base + uintptr_t(distance)));
    return recorder.places(begins);
  }
};

TEST(WaveRecord, OperandsAtEqualDistancesShareThem) {
  Recording recording;
  const RecordedOperand even = recording.places(1 << 20, {0, 8, 16});
  EXPECT_FALSE(even.hasTable);
  EXPECT_EQ(even.stride, 8);
  const RecordedOperand one = recording.places(1 << 20, {0, 8, 24}), other = recording.places(1 << 22, {0, 8, 24}),
                        third = recording.places(1 << 22, {0, 8, -24});
  EXPECT_TRUE(one.hasTable && other.hasTable && third.hasTable);
  EXPECT_EQ(one.base, uint64_t(1 << 20));
  EXPECT_EQ(other.base, uint64_t(1 << 22));
  EXPECT_EQ(other.table, one.table);
  EXPECT_NE(third.table, one.table);
  EXPECT_EQ(recording.record.streams[0].distances, (std::vector<int32_t>{0, 8, 24, 0, 8, -24}));
  EXPECT_FALSE(recording.recorder.lost());
}

TEST(WaveRecord, CoresFarApartAreNotRecorded) {
  Recording recording;
  recording.places(1 << 20, {0, int64_t(1) << 31});
  EXPECT_TRUE(recording.recorder.lost());
}

// Two chains of three nests. The second thread did what is in the middle; the last nests are in one step.
TEST(WaveRecord, LinksOfSeveralThreadsBecomeChains) {
  WaveRecord record;
  record.streams = std::vector<WaveRecord::Stream>(2);
  const auto step = [](uint32_t first, uint8_t cores) {
    RecordedStep made;
    made.kind = RecordedStep::Kind::Chains;
    made.cores = cores;
    made.chains = {first, cores};
    return made;
  };
  const auto link = [](int64_t source, int64_t add, int32_t before, int32_t stream) {
    RecordedLink made;
    made.source[0] = source;
    made.add = add;
    made.before = before;
    made.streamBefore = stream;
    return made;
  };
  WaveRecord::Stream &first = record.streams[0], &second = record.streams[1];
  first.steps.push_back(step(0, 2));
  first.steps.push_back(step(2, 2));
  second.steps.push_back(step(0, 2));
  first.links = {link(100, 7, -1, 0), link(101, -1, -1, 0), link(121, -1, 1, 1), link(120, -1, 0, 1)};
  second.links = {link(110, -1, 0, 0), link(111, -1, 1, 0)};
  joinLinks(record);
  EXPECT_EQ(first.steps[0].chains.count, 0u);
  EXPECT_EQ(second.steps[0].chains.count, 0u);
  ASSERT_EQ(first.steps[1].chains.count, 2u);
  const auto sourcesOf = [&](const RecordedChain &chain) {
    std::vector<int64_t> sources;
    for (uint32_t n = 0; n < chain.nests; ++n)
      sources.push_back(first.chainSources[chain.first + n][0]);
    return sources;
  };
  const RecordedChain *chains = &first.chains[first.steps[1].chains.first]; // in order of their words
  EXPECT_EQ(sourcesOf(chains[0]), (std::vector<int64_t>{100, 110, 120}));
  EXPECT_EQ(chains[0].core, 1);
  EXPECT_EQ(chains[0].add, 7);
  EXPECT_EQ(sourcesOf(chains[1]), (std::vector<int64_t>{101, 111, 121}));
  EXPECT_EQ(chains[1].core, 0);
  EXPECT_EQ(chains[1].add, -1);
}

TEST(WaveRecord, StepsStayWhereTheyAre) {
  RecordedSteps steps;
  for (uint32_t i = 0; i < 2000; ++i) {
    RecordedStep step;
    step.extra = int32_t(i);
    steps.push_back(step);
  }
  const RecordedStep *first = &steps[0];
  steps.push_back({});
  EXPECT_EQ(&steps[0], first);
  ASSERT_EQ(steps.size(), 2001u);
  for (int32_t i = 0; i < 2000; ++i)
    ASSERT_EQ(steps[size_t(i)].extra, i);
}

} // namespace
