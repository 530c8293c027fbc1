// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of docs/Timing.md one by one, with cycles worked by hand.
#include "Cycle.h"

namespace wsc::test {
namespace {

// Set-up in cycles 0 to 13, word i is sent in 14 + i, leaves its router from 17 + i, the next from 18 + i and can be
// taken from 20 + i.
TEST(CycleRules, RampHopRamp) {
  auto run = cycles(sendAlongRow(2, 10));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->latencyCycles, 20 + 9 + 1);
  EXPECT_EQ(run->endCycle, 30);
  EXPECT_EQ(run->wordHops, 10);
  EXPECT_EQ(run->maxLinkWords, 10);
  EXPECT_EQ(run->maxLinkName, "row 0, col 0, EAST: nets n");
  EXPECT_EQ(run->colourWords[0], 10);
}

TEST(CycleRules, EveryHopTakesItsLatency) {
  auto run = cycles(sendAlongRow(12, 10));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->latencyCycles, 30 + 10);
  Executable far = sendAlongRow(12, 10);
  far.target.hopLatencyCycles = 2;
  far.target.routerQueueWords = 3;
  run = cycles(far);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->latencyCycles, 30 + 10 + 11);
}

// Queues of hop + credit words stream at full rate; one word less, and a word passes every hop + credit cycles.
TEST(CycleRules, ShallowQueuesHalveTheRate) {
  Executable e = sendAlongRow(3, 10);
  e.target.routerQueueWords = 1;
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->latencyCycles, 21 + 2 * 9 + 1);
}

// A task starts after the instruction with a queue, also in the next sample; the first sample begins without.
TEST(CycleRules, TaskStartComesWithTheNextSetUp) {
  Executable e = sendAlongRow(2, 10);
  e.target.taskStartCycles = 3;
  auto run = cycles(e, 3);
  ASSERT_TRUE(run.ok()) << run.status();
  // The taker's sample ends in 29; the next sets up in 30 to 46.
  EXPECT_THAT(run->sampleDone, testing::ElementsAre(30, 30 + 17 + 10, 30 + 2 * 27));
  EXPECT_EQ(run->intervalCycles, 27);
}

// 3 iterations of 4 slots and a vector instruction of 14 + 5 on memory; an empty loop and an empty instruction.
TEST(CycleRules, LoopsTakeTheirSlots) {
  Executable e = executable("mesh-1x1");
  e.configurations[0].roles.push_back(role("loop", rectangle(0, 0, 1, 1), {},
                                           {{loop(3), move(5, memory(), null()), endLoop(), loop(0),
                                             move(5, memory(), null()), endLoop(), move(0, memory(), null())}}));
  auto run = cycles(e, 2);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->sampleDone, testing::ElementsAre(3 * 23, 6 * 23));
  EXPECT_EQ(run->skippedTileCycles, 6 * 23);
  EXPECT_EQ(run->activeTileCycles, 0);
  EXPECT_EQ(run->cores[0].stalls, (emulator::CoreStalls{6 * 23, 0, 0, 0}));
}

// Two threads of 14 + 5 slots share a core: each gets every other slot, thread 0 first.
TEST(CycleRules, ThreadsTakeTurns) {
  Executable e = executable("mesh-1x1");
  const Thread thread{move(5, memory(), null())};
  e.configurations[0].roles.push_back(role("two", rectangle(0, 0, 1, 1), {}, {thread, thread}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->latencyCycles, 38);
  EXPECT_EQ(run->activeTileCycles, 37); // thread 1's last slot is alone
  EXPECT_EQ(run->skippedTileCycles, 1);
}

// A FIFO of 2 elements: the pusher is through its set-up in cycle 27 (every other slot), the popper in 28.
TEST(CycleRules, FifosHoldTheirElements) {
  Executable e = executable("mesh-1x1");
  e.configurations[0].roles.push_back(
      role("fifo", rectangle(0, 0, 1, 1), {}, {{move(4, fifo(1), memory())}, {move(4, memory(), fifo(1))}}, {2}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  // 0 … 27 set-ups in turns; 28 push; from 29 on both can: pop and push in turns from the pointer.
  EXPECT_EQ(run->latencyCycles, 28 + 8);
}

// Two elements of a narrow type are one word, sent with the second or with the last.
TEST(CycleRules, NarrowElementsArePacked) {
  Executable e = sendAlongRow(2, 5);
  for (Role &role : e.configurations[0].roles)
    role.threads[0][0].type = ElementType::F16;
  e.target.elementsPerCycleF16 = 1;
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->wordHops, 3);
  // Words are sent in 15, 17 and 18 and can be taken from 21, 23 and 24; the last word's one element is the last.
  EXPECT_EQ(run->latencyCycles, 26);
}

TEST(CycleRules, EightBytesAreTwoWords) {
  Executable e = sendAlongRow(2, 5);
  for (Role &role : e.configurations[0].roles)
    role.threads[0][0].type = ElementType::I64;
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->wordHops, 10);
  // A batch puts both words in its first of two slots. The ramp holds 4: elements are sent in 14 and 16, and when both
  // words of the one before the last have left it, in 19, 21 and 24. The last one's second word can be taken in 31.
  EXPECT_EQ(run->latencyCycles, 31 + 2);
}

// Operands that begin in one bank at different addresses: twice the slots, one of two counted as bank.
TEST(CycleRules, BanksConflict) {
  Executable e = executable("mesh-1x1");
  Operand second = memory();
  second.base = Affine(64);
  second.stride[0] = 4;
  Operand first = memory();
  first.stride[0] = 4;
  e.configurations[0].roles.push_back(
      role("bank", rectangle(0, 0, 1, 1), {}, {{instruction(Opcode::Move, 6, first, second)}}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->latencyCycles, 14 + 12);
  EXPECT_EQ(run->cores[0].stalls, (emulator::CoreStalls{20, 6, 0, 0}));
}

// Two colours over one link: one word each in turn, from the colour that lost first.
TEST(CycleRules, ColoursShareALink) {
  Executable e = executable("mesh-2x3");
  Configuration &c = e.configurations[0];
  // Both leave (0, 0) eastward: colour 0 comes from its core and goes one hop, colour 1 from (1, 0) and goes two.
  c.roles.push_back(
      role("zero", rectangle(0, 0, 1, 1), {out(0)}, {{move(1, memory(), null()), move(8, queue(0), memory())}}));
  c.roles.push_back(role("one", rectangle(1, 0, 1, 1), {out(1)}, {{move(8, queue(0), memory())}}));
  c.roles.push_back(role("take zero", rectangle(0, 1, 1, 1), {in(0)}, {{move(8, null(), queue(0))}}));
  c.roles.push_back(role("take one", rectangle(0, 2, 1, 1), {in(1)}, {{move(8, null(), queue(0))}}));
  eastRoute(c, 0, 0, 0, 1);
  c.routers.push_back(router(1, rectangle(1, 0, 1, 1), {{Port::Ramp, bit(Port::North)}}));
  c.routers.push_back(router(1, rectangle(0, 0, 1, 1), {{Port::South, bit(Port::East)}}));
  c.routers.push_back(router(1, rectangle(0, 1, 1, 1), {{Port::West, bit(Port::East)}}));
  c.routers.push_back(router(1, rectangle(0, 2, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  // Colour 1 leaves (0, 0) in 18 to 25, colour 0 in 32 to 39: they do not meet.
  EXPECT_EQ(run->latencyCycles, 39 + 1 + 2 + 1);
  EXPECT_EQ(run->maxLinkWords, 16);
  c.roles[0].threads[0].erase(c.roles[0].threads[0].begin());
  run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  // Colour 0 leaves in 17, 18 (colour 1 loses), 20, 22, …, 30, colour 1 in 19, 21, …, 31 and 32.
  EXPECT_EQ(run->latencyCycles, 32 + 2 + 2 + 1);
}

// A multicast leaves in one cycle for all; the sink that does not take holds up the other.
TEST(CycleRules, MulticastWaitsForTheSlowest) {
  Executable e = executable("mesh-1x3");
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("send", rectangle(0, 0, 1, 1), {out(0)}, {{move(40, queue(0), memory())}}));
  c.roles.push_back(
      role("slow", rectangle(0, 1, 1, 1), {in(0)}, {{move(1000, memory(), null()), move(40, memory(), queue(0))}}));
  c.roles.push_back(role("fast", rectangle(0, 2, 1, 1), {in(0)}, {{move(40, memory(), queue(0))}}));
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 1, 1, 1), {{Port::West, PortMask(bit(Port::East) | bit(Port::Ramp))}}));
  c.routers.push_back(router(0, rectangle(0, 2, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  // The slow core takes from 1014 + 14 = 1028 on; 8 words wait in its queue, 2 + 4 on the way behind.
  EXPECT_EQ(run->latencyCycles, 1028 + 40);
  const auto stalls = run->cores[0].stalls; // the sender is held up once 8 + 2 + 4 words are out
  EXPECT_EQ(stalls.busy, 14 + 40);
  EXPECT_EQ(stalls.words, 0);
  EXPECT_EQ(stalls.room, 1028 + 3 - (14 + 14)); // space passes back over three queues, one cycle each
}

// Gather: control words move the turn on; the page's example with three cores.
TEST(CycleRules, ControlWordsAdvanceSwitches) {
  Executable e = executable("mesh-1x4");
  Configuration &c = e.configurations[0];
  const auto sender = [&](int32_t col, uint8_t count) {
    c.roles.push_back(
        role("send", rectangle(0, col, 1, 1), {out(0)}, {{move(2, queue(0), memory()), control(0, count)}}));
  };
  sender(0, 1);
  sender(1, 2);
  sender(2, 1);
  c.roles.push_back(role("take", rectangle(0, 3, 1, 1), {in(0)}, {{move(6, memory(), queue(0))}}));
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 1, 1, 2), {{Port::West, bit(Port::East)}, {Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 3, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  auto run = cycles(e, 2);
  ASSERT_TRUE(run.ok()) << run.status();
  // Router 1 takes core 0's words in 18, 19 and its control word in 20, own words in 21, 22 and own control word in 23
  // (passed on by the position before); router 2 those in 22, 23, 24, own in 25, 26, control in 27. The words that
  // arrive at router 3 in 26 and 27 can be taken from 28 and 29.
  EXPECT_EQ(run->sampleDone[0], 30);
  EXPECT_EQ(run->wordHops, 2 * (3 + 3 + 2 + 2 + 2 + 1 + 1));
}

// The control word that turns router 2 passes core 1 by: RAMP is none of its outputs.
TEST(CycleRules, ControlWordsPassByCores) {
  Executable e = executable("mesh-1x4");
  Configuration &c = e.configurations[0];
  c.roles = {role("send", rectangle(0, 0, 1, 1), {out(0)}, {{move(2, queue(0), memory()), control(0, 1)}}),
             role("listen", rectangle(0, 1, 1, 1), {in(0)}, {{move(2, memory(), queue(0))}}),
             role("send on", rectangle(0, 2, 1, 1), {out(0)}, {{move(2, queue(0), memory()), control(0, 1)}}),
             role("take", rectangle(0, 3, 1, 1), {in(0)}, {{move(4, memory(), queue(0))}})};
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 1, 1, 1), {{Port::West, PortMask(bit(Port::East) | bit(Port::Ramp))}}));
  c.routers.push_back(router(0, rectangle(0, 2, 1, 1), {{Port::West, bit(Port::East)}, {Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 3, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  auto run = cycles(e, 2);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->wordHops, 2 * (3 + 3 + 2 + 2)); // core 0's words and control word, core 2's words
}

// Ports: words stand ready from cycle 0; one moves into the wafer per cycle and port, and out over the other side.
TEST(CycleRules, WordsPassThroughThePorts) {
  Executable e = executable("mesh-1x3");
  bind(e, false, 0, 0, Port::West, 0, 5);
  bind(e, true, 0, 2, Port::East, 0, 5);
  e.configurations[0].routers.push_back(router(0, rectangle(0, 0, 1, 3), {{Port::West, bit(Port::East)}}));
  auto run = cycles(e, 2);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->sampleDone, testing::ElementsAre(4 + 4, 4 + 9));
  EXPECT_EQ(run->endCycle, 13);
  EXPECT_EQ(run->wordHops, 3 * 10);
}

// A word per cycle for both ports together: the input's and the output's words take turns once both are ready.
TEST(CycleRules, PortsShareTheAllowance) {
  Executable e = executable("mesh-1x1");
  bind(e, false, 0, 0, Port::West, 0, 4);
  bind(e, true, 0, 0, Port::East, 0, 4);
  e.configurations[0].routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::West, bit(Port::East)}}));
  allowWordsPerCycle(e, 1);
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  // In 0, out 1? The pointer still stands at the input, which has space: in 1; then the output's turn: out 2, in 3, …
  EXPECT_EQ(run->latencyCycles, 7 + 1);
  allowWordsPerCycle(e, 0.5); // words pass in 1, 3, 5, …
  run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->latencyCycles, 15 + 1);
}

} // namespace
} // namespace wsc::test
