// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same result for any number of threads: cycles, stalls, loads, what was skipped, traces, errors.
#include "Cycle.h"
#include "test/support/Seed.h"

#include "tools/wsc-bench/CycleWorkloads.h"

#include <random>

namespace wsc::test {
namespace {

void expectSameForAnyThreads(const Executable &executable, int samples, const std::string &name) {
  CycleOptions options;
  options.samples = samples;
  options.perCore = true;
  options.mostTraceSpans = 500; // cuts most of them
  auto one = runCycles(executable, 0, options);
  for (int threads : {2, 3, 4}) {
    options.threads = threads;
    options.leastTilesPerThread = threads == 3 ? 0 : 20; // 3: all cycles on all threads
    auto more = runCycles(executable, 0, options);
    ASSERT_EQ(more.ok(), one.ok()) << name << ": " << one.status() << " " << more.status();
    if (!one.ok()) {
      EXPECT_EQ(more.status(), one.status()) << name;
      continue;
    }
    more->bytes = one->bytes;
    EXPECT_TRUE(*more == *one) << name << " with " << threads << " threads";
  }
}

TEST(CycleThreads, StencilExchange) {
  target::Target target = executable("mesh-1x1").target;
  expectSameForAnyThreads(bench::stencilExchange(target, 24, 24), 5, "stencil");
}

TEST(CycleThreads, SaturatedRelays) {
  target::Target target = executable("mesh-1x1").target;
  Executable relays = bench::saturatedRelays(target, 24, 24, 100);
  expectSameForAnyThreads(relays, 2, "relays");
  allowWordsPerCycle(relays, 20.3);
  expectSameForAnyThreads(relays, 1, "relays with little I/O");
}

// Streams along rows and columns of a small mesh that share links, multicast and get in each other's way.
Executable randomMesh(std::mt19937_64 &random) {
  const auto pick = [&](int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); };
  const int32_t rows = int32_t(pick(2, 7)), cols = int32_t(pick(2, 7));
  Executable e = executable("mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
  Configuration &c = e.configurations[0];
  struct Core {
    std::vector<Queue> queues;
    Thread takes, sends;
    int inputs = 0, outputs = 0;
  };
  std::vector<Core> cores(size_t(rows * cols));
  const int streams = int(pick(3, 12));
  for (int s = 0; s < streams; ++s) {
    // From one core along its row, then along the column, to another; cores on the way may take, too.
    const int32_t row = int32_t(pick(0, rows - 1)), col = int32_t(pick(0, cols - 1));
    const int32_t toRow = int32_t(pick(0, rows - 1)), toCol = int32_t(pick(0, cols - 1));
    if (row == toRow && col == toCol)
      continue;
    const auto colour = uint8_t(s);
    const int64_t words = pick(1, 60);
    Core &from = cores[size_t(row * cols + col)];
    if (from.outputs == 6)
      continue;
    from.sends.push_back(move(words, queue(int16_t(from.queues.size())), memory()));
    from.queues.push_back(out(colour, uint8_t(from.outputs++)));
    int32_t r = row, k = col;
    Port input = Port::Ramp;
    for (bool end = false; !end;) {
      end = r == toRow && k == toCol;
      PortMask outputs = 0;
      const Port next = k < toCol ? Port::East : k > toCol ? Port::West : r < toRow ? Port::South : Port::North;
      Core &here = cores[size_t(r * cols + k)];
      if (!end)
        outputs |= bit(next);
      if (input != Port::Ramp && here.inputs < 8 && (end || pick(0, 3) == 0)) {
        outputs |= bit(Port::Ramp);
        here.takes.push_back(move(words, memory(), queue(int16_t(here.queues.size()))));
        here.queues.push_back(in(colour, uint8_t(here.inputs++)));
      }
      c.routers.push_back(router(colour, rectangle(r, k, 1, 1), {{input, outputs}}));
      if (end)
        break;
      r += next == Port::South ? 1 : next == Port::North ? -1 : 0;
      k += next == Port::East ? 1 : next == Port::West ? -1 : 0;
      input = next == Port::East    ? Port::West
              : next == Port::West  ? Port::East
              : next == Port::South ? Port::North
                                    : Port::South;
    }
  }
  for (int32_t i = 0; i < rows * cols; ++i) {
    Core &core = cores[size_t(i)];
    std::shuffle(core.takes.begin(), core.takes.end(), random);
    std::vector<Thread> threads{core.takes, core.sends};
    if (pick(0, 4) == 0) { // one thread for all: may deadlock
      core.takes.insert(core.takes.end(), core.sends.begin(), core.sends.end());
      threads = {core.takes};
    }
    c.roles.push_back(role("core" + std::to_string(i), rectangle(i / cols, i % cols, 1, 1), core.queues, threads));
  }
  return e;
}

TEST(CycleThreads, RandomMeshes) {
  const uint64_t seed = test::seedOf(1);
  std::mt19937_64 random(seed);
  int live = 0, dead = 0;
  for (int round = 0; round < 150; ++round) {
    const Executable e = randomMesh(random);
    expectSameForAnyThreads(e, 2, "round " + std::to_string(round));
    ++(cycles(e, 2).ok() ? live : dead);
  }
  std::cout << live << " live, " << dead << " dead\n";
  EXPECT_GT(live, 10);
  EXPECT_GT(dead, 10);
}

} // namespace
} // namespace wsc::test
