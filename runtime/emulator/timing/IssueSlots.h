// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The issue slots of a core that its threads have taken, as a step function of time: what is left is there for the
// thread that is timed next. Slots are never given twice, so that all threads together take what the core has; who
// comes first is decided by the order of words (whose train is known earlier), not slot by slot as on the wafer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

class IssueSlots {
public:
  // The first cycle at whose start `slots` slots have been free since the start of cycle `from`.
  int64_t after(int64_t from, int64_t slots) const;
  // Takes `slots` slots in cycles [from, to), spread over what is free there.
  void take(int64_t from, int64_t to, int64_t slots);
  // Forgets all before `cycle`.
  void trim(int64_t cycle);

private:
  static constexpr int64_t kWhole = 1 << 16; // a slot
  struct Stretch {
    int64_t begin, end;
    int64_t used; // of each of its slots, in parts of kWhole
  };
  size_t find(int64_t cycle) const; // the first stretch that ends after `cycle`

  std::vector<Stretch> stretches; // in order, not empty; nothing is used between them
};

} // namespace wsc::emulator::timing
