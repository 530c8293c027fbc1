// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Priorities in the contest for a core's issue slots.
#include "Cycle.h"

namespace wsc::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

Instruction with(uint8_t priority, Instruction instruction) {
  instruction.priority = priority;
  return instruction;
}

// What a thread of the core at (0, col) did when: [begin, end) of its spans.
std::vector<std::pair<int64_t, int64_t>> spansOf(const Executable &executable, int32_t col, int32_t thread) {
  CycleOptions options;
  options.mostTraceSpans = 1000;
  auto run = runCycles(executable, 0, options);
  EXPECT_TRUE(run.ok()) << run.status();
  std::vector<std::pair<int64_t, int64_t>> spans;
  if (run.ok())
    for (const emulator::TraceSpan &span : run->trace)
      if (span.col == col && span.thread == thread)
        spans.push_back({span.begin, span.end});
  return spans;
}

// Words that can be taken from 20 to 29 are taken in these cycles, whatever the core computes besides.
TEST(CyclePriorities, AReceiveGoesBeforeAComputation) {
  Executable e = sendAlongRow(2, 10);
  Role &take = e.configurations[0].roles[1];
  take.threads = {{move(100, memory(), null())}, {with(2, move(10, memory(), queue(0)))}};
  EXPECT_THAT(spansOf(e, 1, 1), ElementsAre(Pair(0, 14), Pair(20, 30)));
  // The computation has what is left: 14 to 19, and from 30 on the rest of its 114 slots.
  EXPECT_THAT(spansOf(e, 1, 0), ElementsAre(Pair(14, 30 + 114 - 6)));
  // Without priority both take turns: the receive sets up in every other cycle, and is through in 28.
  take.threads[1][0].priority = 0;
  EXPECT_THAT(spansOf(e, 1, 1), ElementsAre(Pair(1, 28), Pair(29, 48)));
}

// The threads of the highest priority take turns; the third comes when they are done.
TEST(CyclePriorities, EqualsTakeTurns) {
  Executable e = executable("mesh-1x1");
  const Thread low{move(5, memory(), null())}, high{with(1, low[0])};
  e.configurations[0].roles.push_back(role("three", rectangle(0, 0, 1, 1), {}, {low, high, high}));
  EXPECT_THAT(spansOf(e, 0, 1), ElementsAre(Pair(0, 37)));
  EXPECT_THAT(spansOf(e, 0, 2), ElementsAre(Pair(1, 38)));
  EXPECT_THAT(spansOf(e, 0, 0), ElementsAre(Pair(38, 57)));
}

// A loop's slots have priority 0 also in front of an instruction of priority 1: 4 in turns with the other thread, then
// 14 + 5 ahead of it.
TEST(CyclePriorities, LoopsHaveNone) {
  Executable e = executable("mesh-1x1");
  e.configurations[0].roles.push_back(
      role("two", rectangle(0, 0, 1, 1), {},
           {{with(1, loop(2)), with(1, move(5, memory(), null())), endLoop()}, {move(30, memory(), null())}}));
  // After 0, 2, 4 and 6 the other thread is first in turn: 27, 29, 31 and 33.
  EXPECT_THAT(spansOf(e, 0, 0), ElementsAre(Pair(0, 7), Pair(7, 26), Pair(27, 34), Pair(34, 53)));
  EXPECT_THAT(spansOf(e, 0, 1), ElementsAre(Pair(1, 46 + 44)));
}

// A send of priority 1 gives up the core while it has no space, and has every slot from when it has.
TEST(CyclePriorities, WhoWaitsHoldsNobodyUp) {
  Executable e = sendAlongRow(2, 40);
  Configuration &c = e.configurations[0];
  c.roles[0].threads = {{with(1, move(40, queue(0), memory()))}, {move(200, memory(), null())}};
  c.roles[1].threads[0].insert(c.roles[1].threads[0].begin(), move(86, memory(), null()));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->cores[0].stalls, (emulator::CoreStalls{14 + 40 + 214, 0, 0, 0}));
  // The taker begins in 14 + 86 + 14 = 114 and is never without a word.
  EXPECT_EQ(run->cores[1].stalls, (emulator::CoreStalls{114 + 40, 0, 0, 0}));
}

// Slots that only threads of lower priority contend for pass in one event.
TEST(CyclePriorities, TheHighestIsAlone) {
  Executable e = executable("mesh-1x1");
  const Thread low{move(50, memory(), null())}, high{with(1, low[0])};
  e.configurations[0].roles.push_back(role("two", rectangle(0, 0, 1, 1), {}, {low, high}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->skippedTileCycles, 2 * 64);
  EXPECT_EQ(run->activeTileCycles, 0);
}

} // namespace
} // namespace wsc::test
