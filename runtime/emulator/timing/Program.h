// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A core's thread reduced to what time depends on: steps that move words, and the cycles between them.
//
// Instructions without queue and FIFO operands are folded into `before` of the next step that has one; a loop whose
// body moves no words becomes one number. Loops that do move words stay loops (LoopBegin, LoopEnd), except that in
// programs whose samples overlap a body with a single step and more than kMergedTrips iterations becomes one train:
// total words, mean rate. Iterations of a phase may be rounds that wait for each other.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <algorithm>
#include <span>
#include <vector>

namespace wsc::emulator::timing {

constexpr int64_t kMergedTrips = 8;

// A queue or FIFO operand. `slot`: index into Role::queues, or queues.size() + index into Role::buffers; -1: none.
struct Access {
  int32_t slot = -1;
  int64_t count = 0; // fabric words, or elements of the FIFO
};

enum class ItemKind : uint8_t { Step, LoopBegin, LoopEnd };

struct Item {
  ItemKind kind = ItemKind::Step;
  int32_t instruction = 0;                  // index in the thread, for messages
  int32_t priority = 0, beforePriority = 0; // of the slots from set-up on, and of those before
  int64_t before = 0;                       // cycles of computation ahead of the step
  int64_t setup = 0;                        // cycles from issue to the first element
  int64_t stream = 0;     // cycles from the first element to past the last, never less than the words of any operand
  int64_t contention = 0; // slots that other threads of the core take meanwhile, working on what this step pushes
  int64_t rest = 0;       // slots of a batch after its first, in which its words move
  Access in[2], out;      // out.count = 0 with a slot: a control word of its own
  int64_t ahead = 0;      // words of `out` that stand in the core's queue before its turn in a gather
  int64_t controls = 0;   // control words that follow the last word of `out`, one cycle each
  int32_t routerQueue = 0, routerSpare = 0; // words that a router's queue holds; and without which it still streams
  int64_t trips = 0;                        // LoopBegin
  int32_t body = 0;                         // LoopEnd: index of the body's first item

  int64_t lead() const { return before + setup; } // cycles ahead of the first element
  // In a gather, the slots that a core needs in its turn, and the cycles that the turn takes if it gets them all: the
  // words ahead need none.
  int64_t turnSlots() const {
    return out.count > ahead ? (stream * (out.count - ahead) + out.count - 1) / out.count + controls : controls;
  }
  int64_t turnCycles() const { return std::max(out.count + controls, turnSlots() + std::min(ahead, out.count)); }
  // Cycles that the turns of so many cores take one after another. In later samples words of the next one follow those
  // of the last through the lane's routers and stand there while cores have their turns: what stands comes without the
  // gaps that turns leave behind, and a queue that holds more than it needs to stream closes as many in every turn.
  int64_t turnsOf(int64_t cores, bool firstSample) const {
    const int64_t gaps = cores * (turnCycles() - out.count);
    const int64_t closed = cores * routerSpare + gaps * routerQueue / std::max<int64_t>(1, out.count + routerQueue);
    return cores * turnCycles() - (firstSample || cores < 2 ? 0 : std::min(gaps, closed));
  }
};

struct ThreadProgram {
  std::vector<Item> items;
  int64_t tail = 0; // cycles after the last step
  int32_t tailPriority = 0;
  int64_t carry = 0;    // cycles of the task's start that the last instruction leaves to the next sample
  int64_t slots = 0;    // issue slots per sample
  int64_t fmaSlots = 0; // of these, in Fma
  int64_t fmaElements = 0;
  double fmaCycles = 0; // of these elements at the target's rate
};

// Place in a program. `item` = items.size(): the sample is over.
struct Cursor {
  int32_t item = 0, depth = 0;
  int64_t left[format::kMaxDims] = {};

  // From the program's beginning to its first step.
  void begin(const ThreadProgram &program);
  // To the step after this one.
  void next(const ThreadProgram &program);

private:
  void settle(const ThreadProgram &program);
};

// The thread's program on the core `index` of `role`. Errors: unbalanced or too deep loops, overflow of counts.
// `mergeLoops`: samples overlap.
absl::StatusOr<ThreadProgram> foldThread(const target::Target &target, const format::Role &role, int thread,
                                         const format::LatticeIndex &index, bool mergeLoops);

// Sets Item::contention in the programs of one core, thread by thread. `firstFifo`: slots from here on are FIFOs.
void findContention(std::span<ThreadProgram> threads, int32_t firstFifo);

} // namespace wsc::emulator::timing
