// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs on a row of cores against the cycle engine: what runs there must be live, and take nearly the same
// time.
#include "Builder.h"

#include "runtime/emulator/liveness/Liveness.h"
#include "test/support/Seed.h"

#include <iostream>
#include <random>

namespace wsc::test {
namespace {

constexpr int kCores = 6;

// Nets run eastward, each on its own colour, with one to three sinks. Every core takes and sends all words of its nets
// in pieces of random order; pieces of equal length are joined to relays and additions at random; some go through a
// FIFO to a second thread.
Executable randomProgram(std::mt19937_64 &random) {
  const auto pick = [&](int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); };
  Executable e = executable("mesh-1x" + std::to_string(kCores));
  Configuration &c = e.configurations[0];
  std::vector<std::vector<Queue>> queues(kCores);
  const int nets = int(pick(2, 6));
  const int64_t words = 12 * pick(1, 20);
  for (int n = 0; n < nets; ++n) {
    const int from = int(pick(0, kCores - 2)), to = int(pick(from + 1, kCores - 1));
    const auto colour = uint8_t(n);
    if (queues[from].size() >= 5 || queues[to].size() >= 5)
      continue;
    queues[from].push_back(out(colour, uint8_t(queues[from].size())));
    c.routers.push_back(router(colour, rectangle(0, from, 1, 1), {{Port::Ramp, bit(Port::East)}}));
    for (int k = from + 1; k <= to; ++k) {
      const bool takes = k == to || (pick(0, 2) == 0 && queues[k].size() < 5);
      if (takes)
        queues[k].push_back(in(colour, uint8_t(queues[k].size())));
      c.routers.push_back(
          router(colour, rectangle(0, k, 1, 1),
                 {{Port::West, PortMask((takes ? bit(Port::Ramp) : 0) | (k < to ? bit(Port::East) : 0))}}));
    }
  }
  for (int k = 0; k < kCores; ++k) {
    struct Piece {
      int16_t queue;
      int64_t count;
    };
    std::vector<Piece> takes, sends;
    for (size_t q = 0; q < queues[k].size(); ++q) {
      const int64_t pieces = pick(1, 3);
      for (int64_t p = 0; p < pieces; ++p)
        (queues[k][q].output ? sends : takes).push_back({int16_t(q), words / pieces});
    }
    Thread main, second;
    std::vector<int64_t> fifos;
    while (!takes.empty() || !sends.empty()) {
      const int64_t t = takes.empty() ? -1 : pick(0, int64_t(takes.size()) - 1),
                    s = sends.empty() ? -1 : pick(0, int64_t(sends.size()) - 1);
      const int64_t kind = pick(0, 5);
      if (t >= 0 && s >= 0 && takes[t].count == sends[s].count && kind < 3) {
        main.push_back(instruction(kind ? Opcode::Add : Opcode::Move, takes[t].count, queue(sends[s].queue),
                                   queue(takes[t].queue), kind ? memory() : Operand()));
        takes.erase(takes.begin() + t);
        sends.erase(sends.begin() + s);
      } else if (t >= 0 && (s < 0 || kind < 5)) {
        if (kind == 4 && fifos.size() < 3) { // through a FIFO, to be thrown away by the second thread
          const auto buffer = int16_t(1 + fifos.size());
          fifos.push_back(pick(1, takes[t].count + 10));
          main.push_back(move(takes[t].count, fifo(buffer), queue(takes[t].queue)));
          second.push_back(move(takes[t].count, memory(), fifo(buffer)));
        } else {
          main.push_back(move(takes[t].count, pick(0, 1) ? memory() : null(), queue(takes[t].queue)));
        }
        takes.erase(takes.begin() + t);
      } else if (s >= 0) {
        main.push_back(move(sends[s].count, queue(sends[s].queue), memory()));
        sends.erase(sends.begin() + s);
      }
    }
    std::vector<Thread> threads{main};
    if (!second.empty())
      threads.push_back(second);
    c.roles.push_back(role("core" + std::to_string(k), rectangle(0, k, 1, 1), queues[k], threads, fifos));
  }
  return e;
}

// What runs on the wafer the analysis takes for live, and mean errors are small; what stops there the liveness check
// refuses, all of it and nothing else.
TEST(WordByWord, RandomProgramsAgree) {
  const uint64_t seed = seedOf(1);
  std::mt19937_64 random(seed);
  constexpr int kSamples = 24;
  const int cases = casesOf(400);
  int live = 0, dead = 0;
  double latencyErrors = 0, intervalErrors = 0;
  for (int round = 0; round < cases; ++round) {
    const Executable e = randomProgram(random);
    auto alone = cyclesOf(e, 1);
    const bool runs = cyclesOf(e, kSamples).ok();
    ASSERT_EQ(alone.ok(), runs) << "round " << round << " of seed " << seed;
    const absl::Status check = emulator::checkLiveness(e, 0);
    ASSERT_EQ(check.ok(), runs) << "round " << round << " of seed " << seed << ": " << check;
    if (!runs) {
      ++dead;
      continue;
    }
    auto time = timeIt(e);
    ASSERT_TRUE(time.ok()) << "round " << round << " of seed " << seed << ": " << time.status();
    if (alone->latencyCycles == 0)
      continue;
    ++live;
    latencyErrors += std::abs(double(time->latencyCycles) / double(alone->latencyCycles) - 1);
    intervalErrors += std::abs(double(time->intervalCycles) / cycleInterval(e, kSamples) - 1);
  }
  std::cout << live << " live, " << dead << " dead; mean error of latency " << 100 * latencyErrors / live
            << " %, of the interval " << 100 * intervalErrors / live << " %\n";
  EXPECT_GE(live, cases / 8);
  EXPECT_GE(dead, cases / 40);
  EXPECT_LE(latencyErrors, 0.08 * live);
  EXPECT_LE(intervalErrors, 0.08 * live);
}

} // namespace
} // namespace wsc::test
