// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline of contraction-like kernels over a full wafer's height: analysis stays quick.
#include "Builder.h"
#include "test/support/Sanitizers.h"

#include <chrono>
#include <iostream>

namespace wsc::test {
namespace {

// `kernels` strips of 1 feeder column and `cols` compute columns on `rows` rows. Feeders take a lane per row, push it
// into a FIFO and send it along the row; compute cores store, multiply, reduce down chains of `chain` rows, gather
// along the last row of each, which is multicast to all feeders of that group.
Executable pipeline(int32_t rows, int32_t kernels, int32_t cols, int32_t chain) {
  const int32_t width = cols + 1;
  Executable e = executable("mesh-" + std::to_string(rows) + "x" + std::to_string(kernels * width + 1));
  Configuration &c = e.configurations[0];
  c.kernels.resize(kernels);
  const int64_t words = 4 * cols; // of a lane
  const int32_t groups = rows / chain;
  const auto grid = [&](int32_t firstRow, int32_t perGroup, int32_t col, int32_t n) {
    Lattice lattice;
    lattice.row = firstRow;
    lattice.col = col;
    lattice.dims[1] = {groups, chain, 0};
    lattice.dims[2] = {perGroup, 1, 0};
    lattice.dims[3] = {n, 0, 1};
    return lattice;
  };
  const PortMask E = bit(Port::East), W = bit(Port::West), N = bit(Port::North), S = bit(Port::South),
                 R = bit(Port::Ramp);
  (void)W;
  for (int32_t k = 0; k < kernels; ++k) {
    const int32_t col = 1 + k * width;
    const auto lane = uint8_t(k % 2), nextLane = uint8_t((k + 1) % 2);
    Role feeder = role("feed", rectangle(0, col, rows, 1), {in(lane), out(2)},
                       {{move(words, fifo(1), queue(0))}, {move(words, queue(1), fifo(1))}}, {2 * words});
    feeder.kernel = k;
    c.roles.push_back(feeder);
    c.routers.push_back(router(2, rectangle(0, col, rows, 1), {{Port::Ramp, E}}));
    c.routers.push_back(router(2, rectangle(0, col + 1, rows, cols - 1), {{Port::West, PortMask(E | R)}}));
    c.routers.push_back(router(2, rectangle(0, col + cols, rows, 1), {{Port::West, R}}));
    const Instruction load = move(words, memory(), queue(0));
    const Instruction fma = instruction(Opcode::Fma, 64, memory(), memory(), memory());
    for (int32_t s = 0; s < chain; ++s) {
      const auto north = uint8_t(3 + (s + 1) % 2), south = uint8_t(3 + s % 2);
      Thread thread{load, loop(16), fma, endLoop()};
      if (s == 0)
        thread.push_back(move(64, queue(2), memory()));
      else if (s + 1 < chain)
        thread.push_back(instruction(Opcode::Add, 64, queue(2), queue(1), memory()));
      else
        thread.push_back(instruction(Opcode::Add, 64, memory(), queue(1), memory()));
      std::vector<Queue> queues{in(2), in(north, 1), out(south)};
      if (s + 1 < chain) {
        Role mid = role("mid", grid(s, 1, col + 1, cols), queues, {thread});
        mid.kernel = k;
        c.roles.push_back(mid);
        c.routers.push_back(router(south, grid(s, 1, col + 1, cols), {{Port::Ramp, S}}));
        c.routers.push_back(router(south, grid(s + 1, 1, col + 1, cols), {{Port::North, R}}));
        continue;
      }
      if (k + 1 == kernels) {
        Role last = role("last", grid(s, 1, col + 1, cols), queues, {thread});
        c.roles.push_back(last);
        continue;
      }
      thread.push_back(move(4, fifo(1), memory()));
      queues.push_back(out(nextLane, 1));
      for (int32_t part = 0; part < 3; ++part) {
        const int32_t first = part == 0 ? 0 : part == 1 ? 1 : cols - 1, n = part == 1 ? cols - 2 : 1;
        const Thread send{move(4, queue(3), fifo(1)), control(3, part == 1 ? 2 : 1)};
        Role last = role("last", grid(s, 1, col + 1 + first, n), queues, {thread, send}, {8});
        last.kernel = k;
        c.roles.push_back(last);
      }
      c.routers.push_back(router(nextLane, grid(s, 1, col + 1, 1), {{Port::Ramp, E}}));
      c.routers.push_back(router(nextLane, grid(s, 1, col + 2, cols - 1), {{Port::West, E}, {Port::Ramp, E}}));
      // At the next feeder column: into the core and up the group.
      c.routers.push_back(router(nextLane, grid(s, 1, col + width, 1), {{Port::West, PortMask(R | N)}}));
      if (chain > 2)
        c.routers.push_back(router(nextLane, grid(1, chain - 2, col + width, 1), {{Port::South, PortMask(R | N)}}));
      c.routers.push_back(router(nextLane, grid(0, 1, col + width, 1), {{Port::South, R}}));
    }
  }
  // The first kernel's words come from column 0.
  c.roles.push_back(role("source", rectangle(0, 0, rows, 1), {out(0)}, {{move(words, queue(0), memory())}}));
  c.routers.push_back(router(0, rectangle(0, 0, rows, 1), {{Port::Ramp, E}}));
  c.routers.push_back(router(0, rectangle(0, 1, rows, 1), {{Port::West, R}}));
  return e;
}

TEST(WaferScale, SmallPipelineRuns) {
  auto time = timeIt(pipeline(12, 3, 6, 4));
  ASSERT_TRUE(time.ok()) << time.status();
  // Compute cores: loads 14 + 24, loop 16·(4 + 14 + 64), reduce 14 + 64, move to the FIFO 14 + 4, send 14 + 4 + 1.
  const int64_t slots = 38 + 1312 + 78 + 18 + 19;
  EXPECT_GE(time->intervalCycles, slots);
  EXPECT_LE(time->intervalCycles, slots + slots / 100);
  // One kernel after the other: load, multiply, chain, gather.
  EXPECT_GT(time->latencyCycles, 3 * (38 + 1312 + 64));
  EXPECT_LT(time->latencyCycles, 3 * (38 + 1312 + 78 + 18 + 200));
}

TEST(WaferScale, FullWaferStaysQuick) {
  Executable e = pipeline(750, 60, 15, 10);
  auto networks = emulator::resolveNetworks(e.target, e.configurations[0]);
  ASSERT_TRUE(networks.ok()) << networks.status();
  const auto start = std::chrono::steady_clock::now();
  auto time = emulator::analyseTiming(e, 0, *networks);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(time.ok()) << time.status();
  std::cout << "analysed 750 x 961 cores in " << seconds << " s, " << time->sampleDone.size() << " samples, latency "
            << time->latencyCycles << ", interval " << time->intervalCycles << "\n";
  EXPECT_LT(seconds, 20 * kSlowdown);
}

} // namespace
} // namespace wsc::test
