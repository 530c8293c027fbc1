// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bytes of a core's scratch go to a slot when the core goes on, and back when it waits (CoreScratch.h). Both are
// known before: they depend on the operations that are done between.
//
// Bytes that matter while cores wait are kept one behind the other. Waits at which nearly the same bytes matter share a
// layout, so that what is kept stays where it is from one to the next. Then only bytes that operations touch are
// brought to the slot, and only those that they changed, and that still matter, are taken back:
//
//     kept    [x  |acc    |y  ]                       waits, then acc += … , then waits again
//     slot     .........[acc    ]..........
//
// Where layouts differ, what matters is moved to the new one. Threads with loops bring all that matters and take all
// back.
#pragma once

#include "runtime/emulator/CopyGrid.h"
#include "runtime/emulator/LiveScratch.h"
#include "runtime/emulator/NarrowReads.h"

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace wsc::emulator {

struct ScratchCopy {
  int32_t from = 0, to = 0, bytes = 0;
  bool operator==(const ScratchCopy &) const = default;
};
using ScratchCopies = std::vector<ScratchCopy>;

inline void copyScratch(const ScratchCopies &copies, const std::byte *from, std::byte *to) {
  for (const ScratchCopy &copy : copies)
    copyRun(to + copy.to, from + copy.from, size_t(copy.bytes));
}

// How waiting cores of a role keep their scratch.
struct ScratchPlan {
  // Per operation of the only thread (LiveScratch.h). Empty: there is too little scratch to be moved.
  std::vector<std::vector<ScratchRange>> live, touched, changed;
  std::vector<bool> mayWait;                      // per operation
  std::vector<int32_t> layoutAt;                  // per operation at which cores may wait; else -1
  std::vector<std::vector<ScratchRange>> layouts; // bytes that are kept, in this order
  std::vector<NarrowScratch> narrow;              // of which each core needs a part alone, if nobody looks at the rest
  bool hasLoops = false;

  bool moves() const { return !live.empty(); }
  const std::vector<ScratchRange> &keptAt(int32_t pc) const;
  void layOut(); // from the others
};

// Copies between a slot and where bytes are kept, with what each core needs a part of apart.
struct NarrowedCopies {
  ScratchCopies common; // the same on all cores
  struct Part {
    ScratchCopy copy;
    int32_t inSlot = 0; // where its bytes begin there
    const NarrowScratch *narrow = nullptr;
  };
  std::vector<Part> parts;
};

// Of cores that go on at one operation.
class ScratchPath {
public:
  ScratchPath(const ScratchPlan &plan, int32_t begin) : plan(plan), begin(begin) {}

  // From where bytes are kept to the slot, before an operation at which cores may wait is done, or the first one.
  const ScratchCopies &enter(int32_t pc);
  // When the core waits at `pc`, or is done.
  struct Leave {
    bool stays = false;               // what is kept stays where it is
    ScratchCopies fromSlot, fromKept; // to where bytes are kept from then on; fromKept: from where they were kept
    std::vector<int32_t> inSlot;      // of each copy of fromKept, where its bytes would begin in the slot
  };
  const Leave &leave(int32_t pc);
  // To the core's own area from where bytes are kept, and back.
  const ScratchCopies &unpack();
  const ScratchCopies &pack();
  // The copies of enter(pc), leave(pc).fromSlot or leave(pc).fromKept, with what each core needs a part of apart.
  enum class Way { Enter, FromSlot, FromKept };
  const NarrowedCopies &narrowed(int32_t pc, Way way);
  // To the same from the slot, in front of a loop at `pc` that the core does by itself.
  const ScratchCopies &settle(int32_t pc);

private:
  struct Sets {
    std::vector<ScratchRange> inSlot, changed;
  };
  Sets before(int32_t pc) const;
  std::vector<ScratchRange> entering(int32_t pc, const std::vector<ScratchRange> &inSlot) const;
  int32_t nextWait(int32_t pc) const;

  const ScratchPlan &plan;
  const int32_t begin;
  template <typename T> using ByOperation = std::vector<std::pair<int32_t, std::unique_ptr<const T>>>;
  ByOperation<ScratchCopies> enters, packs, unpacks, settles;
  ByOperation<Leave> leaves;
  std::array<ByOperation<NarrowedCopies>, 3> narrowedCopies; // per way
};

} // namespace wsc::emulator
