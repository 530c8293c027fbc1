// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the count-only run says of small programs written by hand: the border between live and dead to the word, and
// the text of its errors.
#include "runtime/emulator/liveness/Liveness.h"
#include "test/unit/timing/Builder.h"

namespace wsc::test {
namespace {

absl::Status check(const Executable &executable) { return emulator::checkLiveness(executable, 0); }

void expectError(const absl::Status &status, std::initializer_list<const char *> parts) {
  ASSERT_FALSE(status.ok());
  const std::string text(status.message());
  for (const char *part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "missing: " << part << "\nin: " << text;
}

// A source multicasts to a worker, which answers when it has all words, and to a join, which keeps them in a FIFO of
// `depth` elements meanwhile.
Executable forkJoin(int64_t words, int64_t depth) {
  Executable e = executable("mesh-1x3");
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("source", rectangle(0, 0, 1, 1), {out(0)}, {{move(words, queue(0), memory())}}));
  c.roles.push_back(role("worker", rectangle(0, 1, 1, 1), {in(0), out(1)},
                         {{move(words, memory(), queue(0)), move(words, queue(1), memory())}}));
  c.roles.push_back(role(
      "join", rectangle(0, 2, 1, 1), {in(0), in(1, 1)},
      {{move(words, fifo(1), queue(0))}, {instruction(Opcode::Add, words, memory(), fifo(1), queue(1))}}, {depth}));
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 1, 1, 1), {{Port::West, PortMask(bit(Port::East) | bit(Port::Ramp))}}));
  c.routers.push_back(router(0, rectangle(0, 2, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  eastRoute(c, 1, 0, 1, 2);
  return e;
}

// What is nowhere stored must fit behind the fork: the join's input queue with its ramp, and the router's queue.
TEST(LivenessRules, TheBorderOfAForkIsExact) {
  int64_t least = 0;
  for (int64_t depth = 960; depth <= 1000; ++depth) {
    const Executable e = forkJoin(1000, depth);
    const bool live = check(e).ok();
    EXPECT_EQ(live, cyclesOf(e, 3).ok()) << depth;
    least = live && least == 0 ? depth : least;
  }
  const target::Target &target = forkJoin(1, 1).target;
  EXPECT_EQ(1000 - least, target.inputQueueWords[0] + target.rampLatencyCycles + target.routerQueueWords);
}

TEST(LivenessRules, TheCircleIsNamed) {
  expectError(check(forkJoin(1000, 100)), {
                                              "configuration main: deadlock: 4 threads and 0 ports never finish",
                                              "a circle of waits: ",
                                              "role join, core (0, 2), thread 0, instruction 0 move waits for space in "
                                              "FIFO fifo1: has 0, needs 1",
                                              "role join, core (0, 2), thread 1, instruction 0 add waits for words of "
                                              "input queue 1 (colour 1): has 0, needs 1",
                                              "router (0, 1), colour 1 waits for words at RAMP",
                                              "role worker, core (0, 1), thread 0",
                                              "router (0, 1), colour 0 waits for space at EAST: the queue holds ",
                                              "Deepen what is full, or send and take in the same order",
                                          });
}

// Every core of a ring sends all its words before it takes any: they must fit into its queues and the neighbour's.
TEST(LivenessRules, ARingInsideARoleIsLookedAtCoreByCore) {
  int live = 0;
  for (int64_t words = 1; words < 24; ++words) {
    Executable e = executable("mesh-2x2");
    Configuration &c = e.configurations[0];
    c.roles.push_back(role("ring", rectangle(0, 0, 2, 2), {in(0), out(1)},
                           {{move(words, queue(1), memory()), move(words, memory(), queue(0))}}));
    // Clockwise; colours differ, so the ends are two roles of queues.
    c.roles[0].cores = rectangle(0, 0, 1, 1);
    c.roles.push_back(c.roles[0]);
    c.roles.push_back(c.roles[0]);
    c.roles.push_back(c.roles[0]);
    const int32_t places[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    const Port to[4] = {Port::East, Port::South, Port::West, Port::North};
    const Port from[4] = {Port::South, Port::West, Port::North, Port::East};
    for (int k = 0; k < 4; ++k) {
      c.roles[size_t(k)].name = "ring" + std::to_string(k);
      c.roles[size_t(k)].cores = rectangle(places[k][0], places[k][1], 1, 1);
      c.roles[size_t(k)].queues = {in(uint8_t(k)), out(uint8_t((k + 1) % 4))};
      c.routers.push_back(router(uint8_t((k + 1) % 4), c.roles[size_t(k)].cores, {{Port::Ramp, bit(to[k])}}));
      c.routers.push_back(router(uint8_t(k), c.roles[size_t(k)].cores, {{from[k], bit(Port::Ramp)}}));
    }
    const bool runs = cyclesOf(e, 2).ok();
    EXPECT_EQ(check(e).ok(), runs) << words << " words: " << check(e);
    live += runs;
  }
  EXPECT_GT(live, 0);
  EXPECT_LT(live, 23);
}

// A batch with a queue takes two halves or none: three in the FIFO are one batch, and the fourth never comes.
TEST(LivenessRules, BatchesAreAtomic) {
  for (int64_t pushed : {3, 4}) {
    Executable e = executable("mesh-1x2");
    e.target.elementsPerCycleF16 = 2;
    Configuration &c = e.configurations[0];
    Instruction push = move(pushed, fifo(1), memory()), send = move(4, queue(0), fifo(1)), rest = push;
    rest.extent[0] = Affine(4 - pushed);
    for (Instruction *instruction : {&push, &send, &rest})
      instruction->type = instruction->sourceType = ElementType::F16;
    Instruction take = move(pushed == 3 ? 2 : 1, memory(), queue(1)),
                last = move(pushed == 3 ? 0 : 1, memory(), queue(1));
    c.roles.push_back(role("sends", rectangle(0, 0, 1, 1), {out(0), in(1)}, {{push, take, rest, last}, {send}}, {8}));
    c.roles[0].buffers[1].type = ElementType::F16;
    c.roles.push_back(role("answers", rectangle(0, 1, 1, 1), {in(0), out(1)},
                           {{move(2, memory(), queue(0)), move(2, queue(1), memory())}}));
    eastRoute(c, 0, 0, 0, 1);
    c.routers.push_back(router(1, rectangle(0, 1, 1, 1), {{Port::Ramp, bit(Port::West)}}));
    c.routers.push_back(router(1, rectangle(0, 0, 1, 1), {{Port::East, bit(Port::Ramp)}}));
    EXPECT_EQ(check(e).ok(), pushed == 4) << check(e);
    EXPECT_EQ(cyclesOf(e, 1).ok(), pushed == 4);
  }
}

Executable oneStream(int64_t sent, int64_t taken) {
  Executable e = executable("mesh-1x2");
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("sends", rectangle(0, 0, 1, 1), {out(0)}, {{move(sent, queue(0), memory())}}));
  c.roles.push_back(role("takes", rectangle(0, 1, 1, 1), {in(0)}, {{move(taken, memory(), queue(0))}}));
  eastRoute(c, 0, 0, 0, 1);
  return e;
}

TEST(LivenessRules, ASampleComesBackToWhereItBegan) {
  EXPECT_TRUE(check(oneStream(10, 10)).ok());
  expectError(check(oneStream(11, 10)),
              {"configuration main: unbalanced words: 1 are left in role takes, core (0, 1), queue 0 (colour 0)"});
  expectError(check(oneStream(10, 11)), {"who waits for whom: role takes, core (0, 1), thread 0, instruction 0 move "
                                         "waits for words of input queue 0 (colour 0): has 0, needs 1",
                                         "role sends, core (0, 0), thread 0 is done"});
  Executable filtered = oneStream(10, 5);
  filtered.configurations[0].roles[1].queues[0].filter = {4, Affine(0), Affine(2)};
  filtered.configurations[0].roles[1].threads[0][0].extent[0] = Affine(6);
  expectError(check(filtered), {"filter: role takes, core (0, 1), queue 0 (colour 0) ends a sample 2 words into a "
                                "period of 4"});
}

TEST(LivenessRules, ControlWordsAndSwitches) {
  Executable stray = oneStream(10, 10);
  stray.configurations[0].roles[0].threads[0].push_back(control(0, 1));
  expectError(check(stray), {"control word: one leaves router (0, 1), colour 0 to RAMP or out of the wafer"});
  Executable turned = oneStream(10, 10);
  turned.configurations[0].routers[0].positions.push_back(turned.configurations[0].routers[0].positions[0]);
  turned.configurations[0].roles[0].threads[0].push_back(control(0, 1));
  expectError(check(turned), {"switch: router (0, 0), colour 0 ends a sample in position 1 instead of 0"});
}

TEST(LivenessRules, MalformedConfigurationsAreRefused) {
  Executable open = oneStream(10, 10);
  open.configurations[0].roles[1].queues[0].colour = 5;
  expectError(check(open), {"configuration main: open route: router (0, 1), colour 0 sends words to RAMP, but the core "
                            "has no input queue on that colour"});
  Executable twice = oneStream(10, 10);
  twice.configurations[0].routers.push_back(twice.configurations[0].routers[0]);
  expectError(check(twice), {"two routes: router (0, 0), colour 0"});
  Executable outside = oneStream(10, 10);
  outside.configurations[0].roles[0].cores.col = 7;
  expectError(check(outside), {"not inside the mesh of 1x2"});
  EXPECT_FALSE(emulator::checkLiveness(oneStream(1, 1), 1).ok());
}

TEST(LivenessRules, RunsThatWouldTakeForEverAreRefused) {
  Executable e = executable("mesh-1x1");
  Thread thread(4, loop(1 << 12));
  thread.push_back(move(1, fifo(1), memory()));
  thread.push_back(move(1, memory(), fifo(1)));
  for (int k = 0; k < 4; ++k)
    thread.push_back(endLoop());
  e.configurations[0].roles.push_back(role("r", rectangle(0, 0, 1, 1), {}, {thread}, {20}));
  expectError(emulator::checkLiveness(e, 0, {.mostMoves = 1000000}), {"too large", "1000000 moves"});
}

// Configurations that differ in names and addresses only.
TEST(LivenessRules, ConfigurationsThatCountTheSameAreCheckedOnce) {
  Executable e = oneStream(10, 10);
  for (int k = 0; k < 3; ++k) {
    e.configurations.push_back(e.configurations[0]);
    e.configurations.back().name = "again";
    e.configurations.back().roles[0].buffers[0].address = 64 * k;
  }
  e.configurations.push_back(oneStream(10, 11).configurations[0]);
  e.configurations.back().name = "last";
  emulator::LivenessStats stats;
  expectError(emulator::checkLiveness(e, {}, &stats), {"configuration last: deadlock"});
  EXPECT_EQ(stats.configurations, 2);
  EXPECT_EQ(stats.repeated, 3);
}

// Threads and memory decide what is checked side by side, not which error is told.
TEST(LivenessRules, TheFirstConfigurationThatFailsIsTold) {
  Executable e = oneStream(10, 10);
  for (int words = 11; words < 60; ++words) {
    e.configurations.push_back(oneStream(words, words > 40 ? words + 1 : words).configurations[0]);
    e.configurations.back().name = "of " + std::to_string(words);
  }
  for (const auto &[threads, bytes] :
       {std::pair(1, int64_t(1) << 29), std::pair(4, int64_t(1) << 29), std::pair(4, int64_t(1))})
    expectError(emulator::checkLiveness(e, {.threads = threads, .mostBytes = bytes}),
                {"configuration of 41: deadlock"});
  e.configurations.resize(31);
  for (int threads : {1, 4}) {
    emulator::LivenessStats stats;
    EXPECT_EQ(emulator::checkLiveness(e, {.threads = threads}, &stats), absl::OkStatus());
    EXPECT_EQ(stats.configurations, 31);
  }
}

} // namespace
} // namespace wsc::test
