// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Filters of input queues: which words reach the core, and that the others cost it nothing. Word i of a row's first
// core is sent in 14 + i, leaves its router in 17 + i, router k in 17 + k + i, and can be taken there from 19 + k + i.
#include "Cycle.h"

namespace wsc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr PortMask kEastAndRamp = PortMask(bit(Port::East) | bit(Port::Ramp));

Queue filtered(uint8_t colour, int64_t period, Affine begin, int64_t words) {
  Queue queue = in(colour);
  queue.filter = {period, begin, Affine(words)};
  return queue;
}

// Core 0 sends `words` words to all others of the row.
Executable broadcast(int32_t cols, int64_t words) {
  Executable e = executable("mesh-1x" + std::to_string(cols));
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("send", rectangle(0, 0, 1, 1), {out(0)}, {{move(words, queue(0), memory())}}));
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  if (cols > 2)
    c.routers.push_back(router(0, rectangle(0, 1, 1, cols - 2), {{Port::West, kEastAndRamp}}));
  c.routers.push_back(router(0, rectangle(0, cols - 1, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  return e;
}

// Of twelve words core k takes numbers 3k - 3 to 3k - 1; no slot goes to the words of the others.
TEST(CycleFilters, EachCoreTakesItsPartOfABroadcast) {
  Executable e = broadcast(5, 12);
  Affine begin;
  begin.perDim[3] = 3;
  e.configurations[0].roles.push_back(
      role("take", rectangle(0, 1, 1, 4), {filtered(0, 12, begin, 3)}, {{move(3, memory(), queue(0))}}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  for (int k = 1; k <= 4; ++k) { // the last of the core's words is taken in 19 + k + (3k - 1)
    EXPECT_EQ(run->cores[size_t(k)].stalls.busy, 14 + 3) << k;
    EXPECT_EQ(run->cores[size_t(k)].stalls.total(), 19 + 4 * k) << k;
  }
  EXPECT_EQ(run->latencyCycles, 19 + 4 * 4);
  EXPECT_EQ(run->wordHops, 4 * 12);
}

// A core that comes late holds up only the words that it takes itself: here two, for which its queue has space.
TEST(CycleFilters, OtherWordsDoNotWaitForTheCore) {
  Executable e = broadcast(3, 40);
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("slow", rectangle(0, 1, 1, 1), {filtered(0, 40, 7, 2)},
                         {{move(1000, memory(), null()), move(2, memory(), queue(0))}}));
  c.roles.push_back(role("fast", rectangle(0, 2, 1, 1), {in(0)}, {{move(40, memory(), queue(0))}}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->cores[2].stalls.total(), 21 + 40) << "compare CycleRules.MulticastWaitsForTheSlowest";
  EXPECT_EQ(run->latencyCycles, 1014 + 14 + 2);
}

// Where RAMP is the only output, words that do not pass end in the router: one of four is left of twelve.
TEST(CycleFilters, WordsEndInTheRouter) {
  Executable e = broadcast(2, 12);
  e.configurations[0].roles.push_back(
      role("take", rectangle(0, 1, 1, 1), {filtered(0, 4, 0, 1)}, {{move(3, memory(), queue(0))}}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->sampleDone[0], 20 + 8 + 1) << "word 8 is the last that is taken";
  EXPECT_EQ(run->endCycle, 18 + 11 + 1) << "word 11 still moves to its end";
}

// Words are counted over all switch positions, control words are not: of two senders' two words each, the second and
// the third.
TEST(CycleFilters, ControlWordsAreNotCounted) {
  Executable e = executable("mesh-1x3");
  Configuration &c = e.configurations[0];
  for (int32_t col : {0, 2})
    c.roles.push_back(role("send", rectangle(0, col, 1, 1), {out(0)}, {{move(2, queue(0), memory()), control(0, 1)}}));
  c.roles.push_back(role("take", rectangle(0, 1, 1, 1), {filtered(0, 4, 1, 2)}, {{move(2, memory(), queue(0))}}));
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 2, 1, 1), {{Port::Ramp, bit(Port::West)}}));
  c.routers.push_back(router(0, rectangle(0, 1, 1, 1), {{Port::West, bit(Port::Ramp)}, {Port::East, bit(Port::Ramp)}}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  // The left words move in 18 and 19, their control word in 20; the right ones in 21 and 22, their control word in 23.
  EXPECT_EQ(run->sampleDone[0], 23 + 1);
  EXPECT_EQ(run->endCycle, 24);
  EXPECT_TRUE(cycles(e, 3).ok());
}

// A word past a filter leaves the link to the core to another colour: both words of a cycle go where they have to.
TEST(CycleFilters, OtherWordsDoNotUseTheLinkToTheCore) {
  const auto end = [](int64_t begin) {
    Executable e = executable("mesh-1x1");
    Configuration &c = e.configurations[0];
    bind(e, false, 0, 0, Port::West, 0, 50);
    bind(e, false, 0, 0, Port::North, 1, 50);
    Queue every = filtered(0, 50, begin, 50 - begin);
    Queue other = in(1, 1);
    c.roles.push_back(role("take", rectangle(0, 0, 1, 1), {every, other}, {{move(50, memory(), queue(1))}}));
    c.roles[0].threads.push_back({move(50 - begin, memory(), queue(0))});
    c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::West, bit(Port::Ramp)}}));
    c.routers.push_back(router(1, rectangle(0, 0, 1, 1), {{Port::North, bit(Port::Ramp)}}));
    allowWordsPerCycle(e, 2);
    auto run = cycles(e);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? run->endCycle : 0;
  };
  EXPECT_EQ(end(0), 128) << "two set-ups and a hundred words in turn";
  EXPECT_EQ(end(49), 79) << "two set-ups, fifty words and one";
}

// Who waits for words that a filter keeps away is told like any other; a word that does not pass waits for no core.
TEST(CycleFilters, DeadlocksAreTold) {
  Executable e = broadcast(3, 40);
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("first", rectangle(0, 1, 1, 1), {filtered(0, 40, 0, 8)}, {{move(9, memory(), queue(0))}}));
  c.roles.push_back(role("last", rectangle(0, 2, 1, 1), {in(0)}, {{move(40, memory(), queue(0))}}));
  EXPECT_THAT(std::string(cycles(e).status().message()),
              AllOf(HasSubstr("deadlock"),
                    HasSubstr("role first, core (0, 1), thread 0, instruction 0 move waits for "
                              "words of input queue 0 (colour 0): has 0, needs 1"),
                    HasSubstr("role send, core (0, 0), thread 0 is done")));
  // The last core takes nothing after its tenth word; the first core's queue is full, but not what words wait for.
  c.roles[1] = role("first", rectangle(0, 1, 1, 1), {filtered(0, 40, 0, 8)}, {});
  c.roles[2].threads[0][0].extent[0] = Affine(10);
  EXPECT_THAT(std::string(cycles(e).status().message()),
              AllOf(HasSubstr("router (0, 1), colour 0 waits for space at EAST"),
                    HasSubstr("role last, core (0, 2), thread 0 is done")));
}

TEST(CycleFilters, FiltersThatAreNone) {
  Executable e = broadcast(2, 12);
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("take", rectangle(0, 1, 1, 1), {filtered(0, 4, 2, 3)}, {{move(9, memory(), queue(0))}}));
  auto run = cycles(e);
  EXPECT_TRUE(absl::IsInvalidArgument(run.status()));
  EXPECT_THAT(std::string(run.status().message()), HasSubstr("passes 3 words from number 2 on of every 4"));
}

} // namespace
} // namespace wsc::test
