// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Latencies and intervals of small programs against numbers worked out by hand. wse2's core: ramp 2, hop 1, credit 1,
// set-up 14, loop 4.
#include "Builder.h"

namespace wsc::test {
namespace {

// (0,0) sends 100 words over 3 hops, (0,3) stores them. First word issued at 14, there at 14 + 1 + 2·2 + 3 = 22, the
// last at 121; done at 122.
Executable line(int32_t hops) {
  Executable e = executable("mesh-1x" + std::to_string(hops + 1));
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("send", rectangle(0, 0, 1, 1), {out(0)}, {{move(100, queue(0), memory())}}));
  c.roles.push_back(role("store", rectangle(0, hops, 1, 1), {in(0)}, {{move(100, memory(), queue(0))}}));
  eastRoute(c, 0, 0, 0, hops);
  return e;
}

TEST(Timing, LineTakesRouteLatency) {
  auto time = timeIt(line(3));
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->latencyCycles, 122);
  EXPECT_EQ(time->intervalCycles, 114); // set-up and 100 words
  EXPECT_EQ(time->maxLinkWords, 100);
  EXPECT_EQ(time->maxLinkName, "row 0, col 0, EAST: nets n");
  EXPECT_EQ(time->linkWordHops, 300);
}

TEST(Timing, HopLatencyCountsOncePerHop) {
  Executable e = line(7);
  e.target.routerQueueWords = 3; // hop + credit after the change: still deep enough to stream
  auto before = timeIt(e);
  e.target.hopLatencyCycles += 1;
  auto after = timeIt(e);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(after->latencyCycles - before->latencyCycles, 7);
  EXPECT_EQ(after->intervalCycles, before->intervalCycles);
}

// Sender, relay, store: the relay adds 1 + ramp + hop + ramp. First word at 14 → 20 → 26; last of 100 at 125, done 126.
TEST(Timing, RelayStreams) {
  Executable e = executable("mesh-1x3");
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("send", rectangle(0, 0, 1, 1), {out(0)}, {{move(100, queue(0), memory())}}));
  c.roles.push_back(role("relay", rectangle(0, 1, 1, 1), {in(0), out(1)}, {{move(100, queue(1), queue(0))}}));
  c.roles.push_back(role("store", rectangle(0, 2, 1, 1), {in(1)}, {{move(100, memory(), queue(0))}}));
  eastRoute(c, 0, 0, 0, 1);
  eastRoute(c, 1, 0, 1, 2);
  auto time = timeIt(e);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->latencyCycles, 126);
  EXPECT_EQ(time->intervalCycles, 114);
}

// P rows reduce `words` words down a column, `cols` columns side by side, with colours by parity.
Executable chain(int32_t rows, int32_t cols, int64_t words, int64_t fma = 0) {
  Executable e = executable("mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
  Configuration &c = e.configurations[0];
  for (int32_t r = 0; r < rows; ++r) {
    const auto north = uint8_t((r + 1) % 2), south = uint8_t(r % 2);
    Thread thread;
    if (fma > 0)
      thread.push_back(instruction(Opcode::Fma, fma, memory(), memory(), memory()));
    std::vector<Queue> queues{in(north), out(south)};
    if (r == 0)
      thread.push_back(move(words, queue(1), memory()));
    else if (r + 1 < rows)
      thread.push_back(instruction(Opcode::Add, words, queue(1), queue(0), memory()));
    else
      thread.push_back(instruction(Opcode::Add, words, memory(), queue(0), memory()));
    c.roles.push_back(role("row" + std::to_string(r), rectangle(r, 0, 1, cols), queues, {thread}));
    if (r + 1 < rows) {
      c.routers.push_back(router(south, rectangle(r, 0, 1, cols), {{Port::Ramp, bit(Port::South)}}));
      c.routers.push_back(router(south, rectangle(r + 1, 0, 1, cols), {{Port::North, bit(Port::Ramp)}}));
    }
  }
  return e;
}

// Every stage adds 1 + ramp + hop + ramp = 6 cycles, not a train: 14 + 6·(P−1) + B.
TEST(Timing, ChainReduceIsPipelined) {
  for (int32_t rows : {2, 5, 20})
    for (int64_t words : {1, 64, 1000}) {
      auto time = timeIt(chain(rows, 3, words));
      ASSERT_TRUE(time.ok()) << time.status();
      EXPECT_EQ(time->latencyCycles, 14 + 6 * (rows - 1) + words) << rows << " rows, " << words << " words";
      EXPECT_EQ(time->intervalCycles, 14 + words);
    }
}

// 5000 multiply-adds (set-up 14) and a train of 64 (set-up 14): 5092 cycles per sample; at half the rate 10092.
TEST(Timing, FmaCostRaisesComputeBoundInterval) {
  Executable e = chain(4, 8, 64, 5000);
  auto fast = timeIt(e);
  ASSERT_TRUE(fast.ok()) << fast.status();
  EXPECT_EQ(fast->intervalCycles, 5092);
  EXPECT_EQ(fast->kernels[0].busyCycles, 5092);
  EXPECT_EQ(fast->kernels[0].fmaCycles, 5014);
  EXPECT_EQ(fast->bottleneckKernel, 0);
  EXPECT_NE(fast->bottleneck.find("issue slots of kernel k"), std::string::npos) << fast->bottleneck;
  EXPECT_NEAR(fast->computeUtilisation, 5000.0 / 5092, 1e-9);
  e.target.fmaPerCycleF32 /= 2;
  auto slow = timeIt(e);
  ASSERT_TRUE(slow.ok()) << slow.status();
  EXPECT_EQ(slow->intervalCycles, 10092);
  EXPECT_GT(slow->latencyCycles, fast->latencyCycles + 4990);
}

// The store computes for 3000 cycles after every 10 of 100 words: 10 · (4 + 14 + 10 + 14 + 3000). The sender is held
// back to that, though it could send a sample every 114 cycles.
TEST(Timing, SlowConsumerHoldsProducerBack) {
  Executable e = line(1);
  e.configurations[0].roles[1].threads = {{loop(10), move(10, memory(), queue(0)),
                                           instruction(Opcode::Fma, 3000, memory(), memory(), memory()), endLoop()}};
  auto time = timeIt(e);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->intervalCycles, 10 * 3042);
  // The merged train (more than kMergedTrips iterations) has the same length.
  e.configurations[0].roles[1].threads = {{loop(100), move(1, memory(), queue(0)),
                                           instruction(Opcode::Fma, 3000, memory(), memory(), memory()), endLoop()}};
  time = timeIt(e);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->intervalCycles, 100 * (4 + 14 + 1 + 3014));
}

// Two threads of a core hand 200 elements over a FIFO: each needs 214 cycles, the core 428 issue slots.
TEST(Timing, ThreadsShareIssueSlots) {
  Executable e = executable("mesh-1x3");
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("send", rectangle(0, 0, 1, 1), {out(0)}, {{move(200, queue(0), memory())}}));
  c.roles.push_back(role("pass", rectangle(0, 1, 1, 1), {in(0), out(1)},
                         {{move(200, fifo(1), queue(0))}, {move(200, queue(1), fifo(1))}}, {50}));
  c.roles.push_back(role("store", rectangle(0, 2, 1, 1), {in(1)}, {{move(200, memory(), queue(0))}}));
  eastRoute(c, 0, 0, 0, 1);
  eastRoute(c, 1, 0, 1, 2);
  auto time = timeIt(e);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->intervalCycles, 428);
  auto run = cyclesOf(e, 1);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_NEAR(double(time->latencyCycles), double(run->latencyCycles), 0.1 * double(run->latencyCycles));
}

// A step without queues has no one to wait for; samples follow each other at its length.
TEST(Timing, LoopsWithoutWordsAreFolded) {
  Executable e = executable("mesh-1x1");
  e.configurations[0].roles.push_back(role(
      "compute", rectangle(0, 0, 1, 1), {},
      {{loop(1000), loop(1000), instruction(Opcode::Fma, 36, memory(), memory(), memory()), endLoop(), endLoop()}}));
  auto time = timeIt(e);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->intervalCycles, 1000 * (4 + 1000 * (4 + 14 + 36)));
  EXPECT_EQ(time->latencyCycles, time->intervalCycles);
}

// 64 lanes of 1000 words enter together: wse2 takes 1.2e12 / 32 / 0.85e9 = 44.1 words per cycle, ceil(64000 / 44.1) =
// 1451 cycles.
TEST(Timing, InputWordsShareTheBandwidth) {
  Executable e = executable("mesh-64x2");
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("store", rectangle(0, 0, 64, 1), {in(0)}, {{move(1000, memory(), queue(0))}}));
  c.routers.push_back(router(0, rectangle(0, 0, 64, 1), {{Port::West, bit(Port::Ramp)}}));
  IoBinding binding;
  binding.ports = rectangle(0, 0, 64, 1);
  binding.extent[3] = Affine(1000);
  c.io.push_back(binding);
  auto time = timeIt(e);
  ASSERT_TRUE(time.ok()) << time.status();
  // The set-up of the next sample fills the queues and holds the port up for a few cycles at most.
  EXPECT_GE(time->intervalCycles, 1451);
  EXPECT_LE(time->intervalCycles, 1455);
  EXPECT_EQ(time->bottleneck.substr(0, 4), "I/O:");
  EXPECT_GE(time->latencyCycles, 1451);
  EXPECT_LE(time->latencyCycles, 1455);
}

TEST(Timing, SamplesAreRepeatable) {
  auto a = timeIt(chain(6, 4, 300), 5), b = timeIt(chain(6, 4, 300), 5);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->sampleDone, b->sampleDone);
  EXPECT_LE(a->sampleDone.size(), 5u);
}

} // namespace
} // namespace wsc::test
