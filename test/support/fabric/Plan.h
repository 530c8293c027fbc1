// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A random program before it is code: streams with their routes and what each end moves in which order. Parts can be
// left out of a plan and the rest still is a program, which is how a failing one is made small.
#pragma once

#include "runtime/format/Executable.h"

#include <cstdint>
#include <random>
#include <vector>

namespace wsc::fabric {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  // In [low, high].
  int64_t pick(int64_t low, int64_t high) { return low + int64_t(engine() % uint64_t(high - low + 1)); }
  bool chance(int percent) { return pick(0, 99) < percent; }
  template <typename Values> auto of(const Values &values) {
    return *(std::begin(values) + pick(0, int64_t(std::size(values)) - 1));
  }
  uint64_t seed() { return engine(); }

private:
  std::mt19937_64 engine;
};

// Elements that one end moves in a row, or a control word.
struct Item {
  int64_t elements = 0;
  int64_t growth = 0; // more of them on each further copy of the region
  uint8_t control = 0;
  double key = 0; // all threads do what they do in the order of keys, unless a program is to stop
};

// The words that a core's filter lets through: of every `period` those from `begin` on. On each further copy of the
// region the window begins later and is wider.
struct Window {
  int64_t period = 0; // 0: no filter
  int64_t begin = 0, words = 0;
  int64_t beginStep = 0, wordsStep = 0;
};

// An end of a stream: a core's queue, or a port of the wafer.
struct Party {
  int32_t row = 0, col = 0;
  bool port = false;
  format::Port side = format::Port::Ramp; // of a port
  std::vector<Item> items;                // that come to its router, or that it sends
  Window window{};                        // what of them it takes
};

struct Setting {
  int32_t row = 0, col = 0;
  std::vector<format::SwitchPosition> positions;
};

struct StreamPlan {
  uint8_t colour = 0;
  format::ElementType type = format::ElementType::F32;
  std::vector<Setting> routers;
  std::vector<Party> senders, takers;
};

struct Plan {
  target::Target target; // its mesh: `copies` regions below each other
  int32_t rows = 0, cols = 0, copies = 1;
  size_t copyDim = 0; // of lattices: counts the copies
  int rounds = 1;     // of all transfers in a sample: threads are loops
  int samples = 1;
  int swapPercent = 0;   // chance that neighbours in a thread change places: what makes programs stop
  int filterPercent = 0; // of takers that are cores
  int priorities = 1;    // that instructions have
  uint64_t codeSeed = 0;
  std::vector<StreamPlan> streams;
};

Plan randomPlan(uint64_t seed);
// One in which one transfer moves an element less at one of its ends, or one control word turns a switch more: words
// are left over, never come, or go astray.
Plan faultyPlan(uint64_t seed);

// A window for the items that come to a taker, all of which fill their words; it is whole.
Window randomWindow(Random &random, const Plan &plan, const Party &taker, format::ElementType type);
// Whether the items are a multiple of the window's period.
bool isWhole(const Party &taker, format::ElementType type);
// What a taker takes of the items that come to it. Items of a window that moves from copy to copy become one, unless
// its period divides each.
std::vector<Item> takenItems(const Party &taker, format::ElementType type);

// Values of the target disturbed at random: latencies, depths, costs, rates, banks, I/O.
target::Target randomTarget(Random &random, int32_t rows, int32_t cols);

constexpr int64_t kMostElements = 24;          // of an item
constexpr int kMaxInputs = 8, kMaxOutputs = 6; // queues of a core, as many as wse2's

} // namespace wsc::fabric
