// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words of several cores on one lane, in the order of the route.
#include "Builder.h"

namespace wsc::test {
namespace {

// N cores of row 0 send n words each eastward, in order; the core after them stores them all.
Executable gather(int32_t cores, int64_t words) {
  Executable e = executable("mesh-1x" + std::to_string(cores + 1));
  Configuration &c = e.configurations[0];
  const std::vector<SwitchPosition> both{{Port::West, bit(Port::East)}, {Port::Ramp, bit(Port::East)}};
  const auto sender = [&](int32_t col, int32_t count, uint8_t control_) {
    c.roles.push_back(
        role("send", rectangle(0, col, 1, count), {out(0)}, {{move(words, queue(0), memory()), control(0, control_)}}));
  };
  sender(0, 1, 1);
  sender(1, cores - 2, 2);
  sender(cores - 1, 1, 1);
  c.roles.push_back(role("store", rectangle(0, cores, 1, 1), {in(0)}, {{move(words * cores, memory(), queue(0))}}));
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 1, 1, cores - 1), both));
  c.routers.push_back(router(0, rectangle(0, cores, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  return e;
}

// The lane carries 10·20 words and 10 control words; the furthest core is 10 hops away: 14 + 4 + 10, then 210 cycles
// less the last control word.
TEST(Gather, LaneCarriesAllCoresInTurn) {
  auto time = timeIt(gather(10, 20));
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_NEAR(double(time->latencyCycles), 14 + 4 + 10 + 210, 3);
  EXPECT_NEAR(double(time->intervalCycles), 10 * 21 + 14, 14); // the store's 200 words and set-up are below the lane's
  EXPECT_EQ(time->maxLinkWords, 200);
}

// The lane's time grows with the cores, not with the square of them.
TEST(Gather, IntervalIsLinear) {
  auto small = timeIt(gather(50, 10)), large = timeIt(gather(100, 10));
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_NEAR(double(large->intervalCycles), 2.0 * double(small->intervalCycles), 30);
}

// Rows 0 … R−1 of one column gather downwards; each sends what it received from the west as soon as it is its turn.
TEST(Gather, ColumnOfRelaysTakesTurns) {
  const int32_t rows = 6;
  const int64_t words = 40;
  Executable e = executable("mesh-7x2");
  Configuration &c = e.configurations[0];
  const auto relay = [&](int32_t row, int32_t count, uint8_t control_) {
    c.roles.push_back(role("relay", rectangle(row, 1, count, 1), {in(0), out(1)},
                           {{move(words, queue(1), queue(0)), control(1, control_)}}));
  };
  c.roles.push_back(role("send", rectangle(0, 0, rows, 1), {out(0)}, {{move(words, queue(0), memory())}}));
  relay(0, 1, 1);
  relay(1, rows - 2, 2);
  relay(rows - 1, 1, 1);
  c.roles.push_back(role("store", rectangle(rows, 1, 1, 1), {in(1)}, {{move(words * rows, memory(), queue(0))}}));
  c.routers.push_back(router(0, rectangle(0, 0, rows, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 1, rows, 1), {{Port::West, bit(Port::Ramp)}}));
  c.routers.push_back(router(1, rectangle(0, 1, 1, 1), {{Port::Ramp, bit(Port::South)}}));
  c.routers.push_back(
      router(1, rectangle(1, 1, rows - 1, 1), {{Port::North, bit(Port::South)}, {Port::Ramp, bit(Port::South)}}));
  c.routers.push_back(router(1, rectangle(rows, 1, 1, 1), {{Port::North, bit(Port::Ramp)}}));
  auto time = timeIt(e);
  ASSERT_TRUE(time.ok()) << time.status();
  // 14 → 19 → 20 sent, 4 ramp + 6 hops for the furthest, 240 words and up to a control word per row.
  EXPECT_GE(time->latencyCycles, 20 + 10 + 240);
  EXPECT_LE(time->latencyCycles, 20 + 10 + 240 + rows * 3);
}

// A lane is multicast to all rows; every row keeps its own window and throws the rest away.
TEST(Gather, WindowsOfAMulticast) {
  const int32_t rows = 40;
  const int64_t words = 400;
  Executable e = executable("mesh-40x2");
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("send", rectangle(0, 0, 1, 1), {out(0)}, {{move(words, queue(0), memory())}}));
  const int64_t window = words / rows;
  Role r = role("window", rectangle(0, 1, rows, 1), {in(0)},
                {{move(1, null(), queue(0)), move(window, memory(), queue(0)), move(1, null(), queue(0))}});
  Affine skip(0), rest(words - window);
  skip.perDim[2] = window;
  rest.perDim[2] = -window;
  r.threads[0][0].extent[0] = skip;
  r.threads[0][2].extent[0] = rest;
  c.roles.push_back(r);
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 1, 1, 1), {{Port::West, PortMask(bit(Port::Ramp) | bit(Port::South))}}));
  c.routers.push_back(
      router(0, rectangle(1, 1, rows - 2, 1), {{Port::North, PortMask(bit(Port::Ramp) | bit(Port::South))}}));
  c.routers.push_back(router(0, rectangle(rows - 1, 1, 1, 1), {{Port::North, bit(Port::Ramp)}}));
  auto time = timeIt(e);
  ASSERT_TRUE(time.ok()) << time.status();
  auto run = cyclesOf(e, 1);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_NEAR(double(time->latencyCycles), double(run->latencyCycles), 0.03 * double(run->latencyCycles));
  const double interval = cycleInterval(e);
  EXPECT_NEAR(double(time->intervalCycles), interval, 0.03 * interval);
}

} // namespace
} // namespace wsc::test
