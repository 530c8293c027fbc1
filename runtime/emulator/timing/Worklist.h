// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which process the simulation looks at next.
//
// Processes stand in the order in which words flow; sweeps go through those that wait, sources first, so that a sink
// sees a train when it is complete. Who could move only a part of its train is put off until nobody can move a whole
// one: a train cut in one place would otherwise run in pieces through all that follow. Put-off processes then go on
// together, in the same order.
#pragma once

#include "runtime/emulator/timing/Model.h"

#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

class Worklist {
public:
  explicit Worklist(const Model &model);

  // Processes in the order of the flow; where it has cycles, by number.
  const std::vector<int32_t> &order() const { return processAt; }

  void add(int32_t process) { insert(waiting, process); }
  void putOff(int32_t process) { insert(late, process); }
  // True while a sweep over processes that were put off is under way: parts of trains may move.
  bool takesParts() const { return parts; }

  // Calls advance(process) until nobody waits and nobody is put off.
  template <typename Advance> void run(Advance advance) {
    for (;;) {
      parts = false;
      while (sweep(advance)) {
      }
      parts = true;
      waiting.swap(late);
      if (!sweep(advance))
        return;
    }
  }

private:
  using Set = std::vector<uint64_t>; // bits by place

  void insert(Set &set, int32_t process) {
    const auto place = size_t(placeOf[process]);
    set[place / 64] |= uint64_t(1) << (place % 64);
  }

  // Once over all places; false: there was nobody. Who is added behind the sweep waits for the next one.
  template <typename Advance> bool sweep(Advance advance) {
    bool any = false;
    for (size_t w = 0; w < waiting.size(); ++w) {
      uint64_t ahead = ~uint64_t(0); // places of this word that the sweep has not passed
      while (const uint64_t next = waiting[w] & ahead) {
        const int bit = __builtin_ctzll(next);
        ahead = bit == 63 ? 0 : ~uint64_t(0) << (bit + 1);
        waiting[w] &= ~(uint64_t(1) << bit);
        any = true;
        advance(processAt[w * 64 + size_t(bit)]);
      }
    }
    return any;
  }

  std::vector<int32_t> processAt, placeOf;
  Set waiting, late;
  bool parts = false;
};

} // namespace wsc::emulator::timing
