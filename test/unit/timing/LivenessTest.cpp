// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that stop, and the same programs with enough buffer.
#include "Builder.h"

namespace wsc::test {
namespace {

// A source multicasts `words` words to a worker (col 1) and a join (col 2). The worker answers only when it has them
// all; the join keeps its own copy in a FIFO of `depth` elements meanwhile.
Executable forkJoin(int64_t words, int64_t depth, int64_t pieces = 1) {
  Executable e = executable("mesh-1x3");
  Configuration &c = e.configurations[0];
  Thread worker;
  for (int64_t i = 0; i < pieces; ++i)
    worker.push_back(move(words / pieces, memory(), queue(0)));
  worker.push_back(move(words, queue(1), memory()));
  c.roles.push_back(role("source", rectangle(0, 0, 1, 1), {out(0)}, {{move(words, queue(0), memory())}}));
  c.roles.push_back(role("worker", rectangle(0, 1, 1, 1), {in(0), out(1)}, {worker}));
  c.roles.push_back(role(
      "join", rectangle(0, 2, 1, 1), {in(0), in(1, 1)},
      {{move(words, fifo(1), queue(0))}, {instruction(Opcode::Add, words, memory(), fifo(1), queue(1))}}, {depth}));
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 1, 1, 1), {{Port::West, PortMask(bit(Port::East) | bit(Port::Ramp))}}));
  c.routers.push_back(router(0, rectangle(0, 2, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  eastRoute(c, 1, 0, 1, 2);
  return e;
}

TEST(Liveness, ForkJoinNeedsADeepFifo) {
  auto deep = timeIt(forkJoin(1000, 1000));
  EXPECT_TRUE(deep.ok()) << deep.status();
  for (int64_t pieces : {1, 4}) {
    auto shallow = timeIt(forkJoin(1000, 100, pieces));
    ASSERT_FALSE(shallow.ok());
    const std::string text(shallow.status().message());
    EXPECT_NE(text.find("stops"), std::string::npos) << text;
    EXPECT_NE(text.find("kernel k, role join"), std::string::npos) << text;
    EXPECT_NE(text.find("space in FIFO fifo1"), std::string::npos) << text;
  }
}

// Beside three workers that each store a sample before they send it, a join that drops half of what passes needs space
// for the samples in flight: with it the workers' own pace holds, also long after the FIFO has filled and wrapped
// around; with space for one sample, only one is under way.
TEST(Liveness, DeepFifoKeepsItsDepth) {
  const int64_t words = 200;
  const auto interval = [&](int64_t depthSamples) {
    Executable e = executable("mesh-1x5");
    Configuration &c = e.configurations[0];
    c.roles.push_back(role("source", rectangle(0, 0, 1, 1), {out(0)}, {{move(2 * words, queue(0), memory())}}));
    for (int w = 1; w <= 3; ++w)
      c.roles.push_back(
          role("worker", rectangle(0, w, 1, 1), {in(w == 1 ? 0 : w - 1), out(w)},
               {{move(w == 1 ? 2 * words : words, memory(), queue(0)), move(words, queue(1), memory())}}));
    c.roles.push_back(
        role("join", rectangle(0, 4, 1, 1), {in(0), in(3, 1)},
             {{move(words / 2, null(), queue(0)), move(words, fifo(1), queue(0)), move(words / 2, null(), queue(0))},
              {instruction(Opcode::Add, words, memory(), fifo(1), queue(1))}},
             {depthSamples * words}));
    c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
    c.routers.push_back(router(0, rectangle(0, 1, 1, 1), {{Port::West, PortMask(bit(Port::East) | bit(Port::Ramp))}}));
    for (int col : {2, 3})
      c.routers.push_back(router(0, rectangle(0, col, 1, 1), {{Port::West, bit(Port::East)}}));
    c.routers.push_back(router(0, rectangle(0, 4, 1, 1), {{Port::West, bit(Port::Ramp)}}));
    for (int w = 1; w <= 3; ++w)
      eastRoute(c, w, 0, w, w + 1);
    auto time = timeIt(e, 40);
    EXPECT_TRUE(time.ok()) << time.status();
    return time.ok() ? time->intervalCycles : 0;
  };
  const int64_t pace = interval(20);
  EXPECT_LT(pace,
            5 * words); // the first worker: 2 · words in, words out, set-ups; the multicast's sinks hold each other up
  EXPECT_EQ(interval(6), pace);
  EXPECT_GT(interval(1), pace);
}

// The border: the words that are nowhere stored must fit behind the last fork on the path to the join: its input queue
// 6, the ramp's 2 and a router queue's 2 on one hop. What the source's queues hold does not reach the worker.
TEST(Liveness, QueuesBehindTheForkCount) {
  for (int64_t missing : {10, 11}) {
    const Executable e = forkJoin(1000, 1000 - missing);
    EXPECT_EQ(timeIt(e).ok(), missing == 10);
    EXPECT_EQ(cyclesOf(e, 3).ok(), missing == 10);
  }
  auto stopped = timeIt(forkJoin(1000, 1000 - 11));
  ASSERT_FALSE(stopped.ok());
  EXPECT_NE(std::string(stopped.status().message()).find("while another receiver has no space"), std::string::npos)
      << stopped.status();
}

// Three cores gather; the last one then says that the receiver, five hops from the first and three from the last, may
// begin. Its words must fit into the queues on its own way, whatever the others' would hold.
TEST(Liveness, QueuesOfAGatherCountFromTheSender) {
  const auto gather = [](int64_t words) {
    Executable e = executable("mesh-1x6");
    Configuration &c = e.configurations[0];
    c.roles.push_back(role("first", rectangle(0, 0, 1, 1), {out(0)}, {{move(1, queue(0), memory()), control(0, 1)}}));
    c.roles.push_back(role("middle", rectangle(0, 1, 1, 1), {out(0)}, {{move(1, queue(0), memory()), control(0, 2)}}));
    c.roles.push_back(role("last", rectangle(0, 2, 1, 1), {out(0), out(1, 1)},
                           {{move(words, queue(0), memory()), move(1, queue(1), memory()), control(0, 1)}}));
    c.roles.push_back(role("store", rectangle(0, 5, 1, 1), {in(0), in(1, 1)},
                           {{move(1, memory(), queue(1)), move(words + 2, memory(), queue(0))}}));
    c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
    c.routers.push_back(
        router(0, rectangle(0, 1, 1, 2), {{Port::West, bit(Port::East)}, {Port::Ramp, bit(Port::East)}}));
    c.routers.push_back(router(0, rectangle(0, 3, 1, 2), {{Port::West, bit(Port::East)}}));
    c.routers.push_back(router(0, rectangle(0, 5, 1, 1), {{Port::West, bit(Port::Ramp)}}));
    eastRoute(c, 1, 0, 2, 5);
    return e;
  };
  int live = 0;
  for (int64_t words = 4; words < 40; ++words) {
    const bool runs = cyclesOf(gather(words), 2).ok();
    live += runs;
    EXPECT_EQ(timeIt(gather(words)).ok(), runs) << words << " words";
  }
  EXPECT_GT(live, 0);
  EXPECT_LT(live, 36);
}

// Relays between the source and the join hold words too, and pass on that they are full.
TEST(Liveness, RelaysPassOnThatTheyAreFull) {
  for (bool live : {true, false}) {
    Executable e = executable("mesh-1x5");
    Configuration &c = e.configurations[0];
    const int64_t words = 500;
    // (0,0) → two relays → join (0,3); the worker (0,4) gets its copy from the first net after the join's.
    c.roles.push_back(role("source", rectangle(0, 0, 1, 1), {out(0), out(3, 1)},
                           {live ? Thread{move(words, queue(1), memory()), move(words, queue(0), memory())}
                                 : Thread{move(words, queue(0), memory()), move(words, queue(1), memory())}}));
    c.roles.push_back(role("relay", rectangle(0, 1, 1, 1), {in(0), out(1)}, {{move(words, queue(1), queue(0))}}));
    c.roles.push_back(role("relay", rectangle(0, 2, 1, 1), {in(1), out(0)}, {{move(words, queue(1), queue(0))}}));
    c.roles.push_back(role("join", rectangle(0, 3, 1, 1), {in(0), in(4, 1)},
                           {{instruction(Opcode::Add, words, memory(), queue(0), queue(1))}}));
    c.roles.push_back(role("worker", rectangle(0, 4, 1, 1), {in(3), out(4)},
                           {{move(words, memory(), queue(0)), move(words, queue(1), memory())}}));
    eastRoute(c, 0, 0, 0, 1);
    eastRoute(c, 1, 0, 1, 2);
    eastRoute(c, 0, 0, 2, 3);
    eastRoute(c, 3, 0, 0, 4);
    c.routers.push_back(router(4, rectangle(0, 4, 1, 1), {{Port::Ramp, bit(Port::West)}}));
    c.routers.push_back(router(4, rectangle(0, 3, 1, 1), {{Port::East, bit(Port::Ramp)}}));
    auto time = timeIt(e);
    EXPECT_EQ(time.ok(), live) << time.status();
  }
}

// Two cores that both receive before they send.
TEST(Liveness, CrossedOrderIsNamed) {
  Executable e = executable("mesh-1x2");
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("a", rectangle(0, 0, 1, 1), {in(1), out(0)},
                         {{move(10, memory(), queue(0)), move(10, queue(1), memory())}}));
  c.roles.push_back(role("b", rectangle(0, 1, 1, 1), {in(0), out(1)},
                         {{move(10, memory(), queue(0)), move(10, queue(1), memory())}}));
  eastRoute(c, 0, 0, 0, 1);
  c.routers.push_back(router(1, rectangle(0, 1, 1, 1), {{Port::Ramp, bit(Port::West)}}));
  c.routers.push_back(router(1, rectangle(0, 0, 1, 1), {{Port::East, bit(Port::Ramp)}}));
  auto time = timeIt(e);
  ASSERT_FALSE(time.ok());
  const std::string text(time.status().message());
  EXPECT_NE(text.find("a cycle of waiting threads"), std::string::npos) << text;
  EXPECT_NE(text.find("role a, core (0, 0), thread 0, instruction 0 "), std::string::npos) << text;
  EXPECT_NE(text.find("waits for words of net n (colour 1): 0 of 10"), std::string::npos) << text;
  EXPECT_NE(text.find("role b"), std::string::npos) << text;
}

// A chain along the row inside one role: cores of the unit depend on each other, so each is looked at by itself.
TEST(Liveness, ShiftInsideARole) {
  Executable e = executable("mesh-1x8");
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("first", rectangle(0, 0, 1, 1), {out(0)}, {{move(20, queue(0), memory())}}));
  // Odd and even columns differ in colour, so the lattice steps by two.
  for (int32_t parity : {0, 1}) {
    Lattice cores = rectangle(0, 1 + parity, 1, 3);
    cores.dims[3].colStep = 2;
    c.roles.push_back(role("mid", cores, {in(uint8_t(parity)), out(uint8_t(1 - parity))},
                           {{instruction(Opcode::Add, 20, queue(1), queue(0), memory())}}));
    c.routers.push_back(router(uint8_t(parity), cores, {{Port::West, bit(Port::Ramp)}}));
    c.routers.push_back(router(uint8_t(1 - parity), cores, {{Port::Ramp, bit(Port::East)}}));
  }
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 7, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  c.roles.push_back(role("last", rectangle(0, 7, 1, 1), {in(0)}, {{move(20, memory(), queue(0))}}));
  auto time = timeIt(e);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->latencyCycles, 14 + 6 * 7 + 20); // six relays, as in a chain of eight rows
}

TEST(Liveness, EndlessLoopsAreRefused) {
  Executable e = executable("mesh-1x1");
  e.configurations[0].roles.push_back(
      role("r", rectangle(0, 0, 1, 1), {},
           {{loop(10000), loop(10000), move(1, fifo(1), memory()), move(1, memory(), fifo(1)), endLoop(), endLoop()}},
           {20}));
  auto time = timeIt(e);
  ASSERT_FALSE(time.ok());
  EXPECT_NE(std::string(time.status().message()).find("more than 1048576 instructions"), std::string::npos)
      << time.status();
}

TEST(Liveness, UnbalancedFifoIsAnError) {
  Executable e = executable("mesh-1x1");
  e.configurations[0].roles.push_back(
      role("r", rectangle(0, 0, 1, 1), {}, {{move(10, fifo(1), memory())}, {move(9, memory(), fifo(1))}}, {20}));
  auto time = timeIt(e);
  ASSERT_FALSE(time.ok());
  EXPECT_NE(std::string(time.status().message()).find("10 elements pushed and 9 popped"), std::string::npos)
      << time.status();
}

} // namespace
} // namespace wsc::test
