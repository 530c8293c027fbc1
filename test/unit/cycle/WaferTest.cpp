// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run takes: memory on a full wafer, nothing for tiles that nothing happens on; long stretches in one event; the
// figures that reports show.
#include "Cycle.h"

#include "runtime/emulator/cycle/CycleReports.h"
#include "tools/wsc-bench/CycleWorkloads.h"

namespace wsc::test {
namespace {

// Every tile of the wafer has routes in four directions and a core; nothing moves.
TEST(CycleWafer, AnIdleWaferIsSmall) {
  Executable e = executable("wse2");
  Configuration &c = e.configurations[0];
  const Port ports[] = {Port::North, Port::South, Port::East, Port::West};
  for (int d = 0; d < 4; ++d) {
    c.routers.push_back(router(uint8_t(d), rectangle(1, 1, 748, 992), {{ports[d ^ 1], bit(ports[d])}}));
    // The edge ends the streams.
    const bool vertical = d < 2;
    c.routers.push_back(router(uint8_t(d),
                               rectangle(d == 1     ? 749
                                         : vertical ? 0
                                                    : 1,
                                         d == 2     ? 993
                                         : vertical ? 1
                                                    : 0,
                                         vertical ? 1 : 748, vertical ? 992 : 1),
                               {{ports[d ^ 1], bit(Port::Ramp)}}));
  }
  const Instruction nothing = move(0, null(), queue(0));
  c.roles.push_back(role("inner", rectangle(1, 1, 748, 992), {}, {{}, {}}));
  c.roles.push_back(role("north", rectangle(0, 1, 1, 992), {in(0)}, {{nothing}}));
  c.roles.push_back(role("south", rectangle(749, 1, 1, 992), {in(1)}, {{nothing}}));
  c.roles.push_back(role("east", rectangle(1, 993, 748, 1), {in(2)}, {{nothing}}));
  c.roles.push_back(role("west", rectangle(1, 0, 748, 1), {in(3)}, {{nothing}}));
  auto run = cycles(e);
  ASSERT_TRUE(run.ok()) << run.status();
  std::cout << run->tiles << " tiles, " << run->bytes << " bytes\n";
  EXPECT_EQ(run->endCycle, 0);
  EXPECT_EQ(run->tiles, 750 * 994 - 4);
  EXPECT_LT(run->bytes, 1000000000);
}

TEST(CycleWafer, OneRowOfAWaferIsTheRowAlone) {
  target::Target target = executable("mesh-1x1").target;
  auto alone = runCycles(bench::chainReduce(target, 1, 200, 50), 0);
  auto onWafer = runCycles(bench::chainReduce(target, 750, 200, 50), 0);
  ASSERT_TRUE(alone.ok() && onWafer.ok()) << alone.status() << onWafer.status();
  EXPECT_EQ(onWafer->tiles, 200);
  onWafer->bytes = alone->bytes;
  EXPECT_TRUE(*onWafer == *alone);
  // 14 set-up, then per core 2 · 2 ramps, a hop, and the slot; the last core's 50 words.
  EXPECT_EQ(alone->latencyCycles, 14 + 199 * 6 + 50);
}

// 10^12 cycles of computation on some cores take no time to simulate.
TEST(CycleWafer, ComputationPassesInOneEvent) {
  Executable e = sendAlongRow(2, 10);
  Thread &thread = e.configurations[0].roles[0].threads[0];
  thread.insert(thread.begin(), {loop(1000000), loop(1000), move(1000, memory(), null()), endLoop(), endLoop()});
  auto run = cycles(e, 3);
  ASSERT_TRUE(run.ok()) << run.status();
  const int64_t sample = int64_t(1000000) * (4 + 1000 * (4 + 14 + 1000)) + 14 + 10;
  EXPECT_EQ(run->latencyCycles, sample + 6);
  EXPECT_EQ(run->intervalCycles, sample);
  EXPECT_LT(run->simulatedCycles, 3 * 40);
}

TEST(CycleWafer, ReportsFollowTheRun) {
  const Executable e = sendAlongRow(2, 100);
  auto run = cycles(e, 4);
  ASSERT_TRUE(run.ok()) << run.status();
  const emulator::TimingResult timing = emulator::timingOf(*run, e.configurations[0], 4, nullptr);
  EXPECT_EQ(timing.latencyCycles, 14 + 100 + 6);
  EXPECT_EQ(timing.intervalCycles, 114);
  EXPECT_EQ(timing.maxLinkWords, 100);
  EXPECT_EQ(timing.bottleneck, "issue slots of kernel k, core (0, 0): 114 cycles");
  ASSERT_EQ(timing.kernels.size(), 1u);
  EXPECT_EQ(timing.kernels[0].busyCycles, 114);
  EXPECT_EQ(run->kernels[0].cores, 2);
  EXPECT_EQ(run->kernels[0].sum.busy, 2 * 4 * 114);
}

} // namespace
} // namespace wsc::test
