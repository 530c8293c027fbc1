// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The issue slots of a core that its threads have taken, as a step function of time.
//
// Threads are timed in the order in which words become known, train by train, not in the order of time: a thread may
// ask for slots that another was given although it would have got them on the wafer, because its instruction has a
// higher priority or because they take turns. It gets them all the same, what its priority and its turn entitle it to,
// and the other one is due as many, but for those that nobody has until the end of its train: they delay whatever that
// does next. So all threads together take what the core has, and each the share that docs/Timing.md gives it, though
// who was timed first has its words earlier by what it was due.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

class SharedSlots {
public:
  static constexpr int64_t kWhole = 1 << 16; // parts of a slot

  // Who asks: a thread of the core, at the priority of its instruction.
  struct Claim {
    int32_t thread = 0;
    int32_t priority = 0;
  };

  explicit SharedSlots(int32_t threads)
      : threads(size_t(threads)), width(kShares + size_t(threads)), numbers(size_t(threads)) {}

  // The first cycle at whose start the claimant could have had `slots` slots since the start of cycle `from`.
  int64_t after(int64_t from, int64_t slots, Claim claim) const {
    return slots <= 0 || freeFrom() <= from ? from + std::max<int64_t>(0, slots) : afterOthers(from, slots, claim);
  }
  // Takes `slots` slots in cycles [from, to), spread over what the claimant is entitled to there.
  void take(int64_t from, int64_t to, int64_t slots, Claim claim);
  // Slots that others have taken from the thread since its last train, without those of the train's cycles [from, to)
  // that nobody has: it can have had these. And the thread has them back.
  int64_t due(int32_t thread, int64_t from, int64_t to) const {
    const int64_t parts = numbers[size_t(thread)];
    return parts < kWhole ? 0 : std::max<int64_t>(0, parts - free(from, to)) / kWhole;
  }
  void repay(int32_t thread) { numbers[size_t(thread)] %= kWhole; }
  // Calls visit(begin, end, parts) for the stretches of cycles [from, to) with what others than the claimant have of
  // each slot there, at no lower priority.
  template <typename Visit> void forOthers(int64_t from, int64_t to, Claim claim, Visit visit) const {
    for (const int64_t *here = find(from); here != pastStretches() && here[kBegin] < to; here += width) {
      const int64_t *shares = here + kShares;
      int64_t parts = 0;
      for (size_t t = 0; t < threads; ++t)
        if (t != size_t(claim.thread) && priorityOf(shares[t]) >= claim.priority)
          parts += usedOf(shares[t]);
      visit(std::max(from, here[kBegin]), std::min(to, here[kEnd]), parts);
    }
  }
  // Who has parts of the slot before `cycle` beside the claimant.
  struct Holders {
    bool lower = false, equal = false; // of a lower priority, of the same or a higher one
  };
  Holders holders(int64_t cycle, Claim claim) const;
  // Forgets all.
  void clear() { numbers.assign(threads, 0); }
  // Brings near what is looked at first.
  void fetch() const { __builtin_prefetch(numbers.data() + numbers.size() - 1); }
  // Forgets all before `cycle`.
  void trim(int64_t cycle);

private:
  // A stretch is a row of numbers: its first cycle, the one after its last, and a share for each thread: of each slot,
  // what the thread has, in parts of kWhole, and the priority that it has it at.
  static constexpr size_t kBegin = 0, kEnd = 1, kShares = 2;
  static constexpr int64_t kNone = -(int64_t(1) << 32); // has asked for nothing: nothing, at priority -1
  static int64_t shareOf(int64_t used, int64_t priority) { return priority << 32 | used; }
  static int64_t usedOf(int64_t share) { return share & 0xFFFFFFFF; }
  static int64_t priorityOf(int64_t share) { return share >> 32; }

  const int64_t *stretches() const { return numbers.data() + threads; }
  const int64_t *pastStretches() const { return numbers.data() + numbers.size(); }
  const int64_t *find(int64_t cycle) const; // the first stretch that ends after `cycle`
  // What the claimant can have of each slot of the stretch beside what it has.
  int64_t entitled(const int64_t *stretch, Claim claim) const;
  // What each of the threads of the claimant's priority gets at least.
  int64_t turn(const int64_t *stretch, Claim claim) const;
  void give(int64_t *stretch, Claim claim, int64_t parts);

  // Parts of slots in cycles [from, to) that nobody has.
  int64_t free(int64_t from, int64_t to) const;

  // The cycle from which on nothing is taken.
  int64_t freeFrom() const { return numbers.size() > threads ? (pastStretches() - width)[kEnd] : INT64_MIN; }
  int64_t afterOthers(int64_t from, int64_t slots, Claim claim) const;
  void append(int64_t from, int64_t to, int64_t slots, Claim claim);

  size_t threads, width;
  // What each thread is due, in parts of kWhole; then the stretches in order, none empty. Nothing is used between
  // them.
  std::vector<int64_t> numbers;
};

} // namespace wsc::emulator::timing
