// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The issue slots of a core that its threads have taken, as a step function of time.
//
// Threads are timed in the order in which words become known, train by train, not in the order of time: a thread may
// ask for slots that another was given although it would have got them on the wafer, because its instruction has a
// higher priority or because they take turns. It gets them all the same, what its priority and its turn entitle it to,
// and the other one is owed as many: they delay whatever that does next. So all threads together take what the core
// has, and each the share that docs/Timing.md gives it, though who was timed first has its words earlier by what it was
// owed.
#pragma once

#include "absl/container/inlined_vector.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

class SharedSlots {
public:
  // Who asks: a thread of the core, at the priority of its instruction.
  struct Claim {
    int32_t thread = 0;
    int32_t priority = 0;
  };

  explicit SharedSlots(int32_t threads) : owedParts(size_t(threads)) {}

  // The first cycle at whose start the claimant could have had `slots` slots since the start of cycle `from`.
  int64_t after(int64_t from, int64_t slots, Claim claim) const;
  // Takes `slots` slots in cycles [from, to), spread over what the claimant is entitled to there.
  void take(int64_t from, int64_t to, int64_t slots, Claim claim);
  // Slots that others have taken from the thread; and the thread has them back.
  int64_t owed(int32_t thread) const { return owedParts[size_t(thread)] / kWhole; }
  void repay(int32_t thread) { owedParts[size_t(thread)] %= kWhole; }
  // Forgets all before `cycle`.
  void trim(int64_t cycle);

private:
  static constexpr int64_t kWhole = 1 << 16; // a slot

  // Of each slot of a stretch, in parts of kWhole.
  struct Share {
    int16_t thread, priority;
    int32_t used;
    bool operator==(const Share &) const = default;
  };
  using Shares = absl::InlinedVector<Share, 4>;
  struct Stretch {
    int64_t begin, end;
    Shares shares;
  };
  size_t find(int64_t cycle) const; // the first stretch that ends after `cycle`
  // What the claimant can have of each slot of the stretch beside what it has.
  static int64_t entitled(const Stretch &stretch, Claim claim);
  // What each of the threads of the claimant's priority gets at least.
  static int64_t turn(const Stretch &stretch, Claim claim);
  void give(Stretch &stretch, Claim claim, int64_t parts);

  std::vector<Stretch> pieced;    // of take()
  std::vector<Stretch> stretches; // in order, not empty; nothing is used between them
  std::vector<int64_t> owedParts; // per thread
};

} // namespace wsc::emulator::timing
