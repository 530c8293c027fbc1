// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference simulator of the fabric: every cycle, every router, every core, every port, exactly as docs/Timing.md
// and docs/Execution.md say and with nothing clever, for small meshes. Words carry their values, so one run gives both
// what a program computes and when. It shares the costs of instructions (runtime/timing), the numerics and the scalar
// interpreter's memory with the engines that are tested against it, and nothing else.
#pragma once

#include "runtime/emulator/CoreEngine.h"
#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace wsc::fabric {

// How often the fabric did what is hard to get right.
struct FabricCounts {
  int64_t sharedLinks = 0;      // a colour with space everywhere found an output taken by another
  int64_t unevenMulticasts = 0; // a word waited while one of its outputs had space and another had not
  int64_t switchAdvances = 0;
  int64_t filteredMulticasts = 0; // words kept from the core that went on over other outputs
  int64_t filteredEnds = 0;       // … that had no other, and ended in the router
  int64_t filteredPastRamp = 0;   // … that moved while RAMP had no space or was taken
  int64_t sharedSlots = 0;        // cycles of cores in which two threads or more could have used the slot
  int64_t priorities = 0;         // … and the cyclic order alone would have given it to another
  int64_t bankConflicts = 0;      // batches with doubled slots
  int64_t portsRefused = 0;       // cycles in which a ready port of the wafer went without
  int64_t partialBatches = 0;     // batches short of elements or space in FIFOs
};

// Cycles of one core that issues a slot, between its first and its last, all samples.
struct CoreStalls {
  int32_t row = 0, col = 0;
  int64_t busy = 0, bank = 0, words = 0, room = 0;
  bool operator==(const CoreStalls &) const = default;
};

// The buffers of a core when the run was over.
struct CoreSram {
  int32_t role = -1;
  format::LatticeIndex index{};
  std::vector<std::vector<std::byte>> buffers;
};

// Deadlock: threads or ports have not done their part, and nothing can move. LeftoverWords: they have, but words are
// left. StrayControl: a control word would have moved to RAMP or out of the wafer.
enum class Outcome { Done, Deadlock, LeftoverWords, StrayControl };

struct FabricRun {
  Outcome outcome = Outcome::Done;
  int64_t endCycle = 0; // the first cycle at whose start the run is over; else the first in which it stands still
  std::vector<int64_t> sampleDone; // per sample that was done
  FabricCounts counts;
  int64_t wordHops = 0;                                   // words over links to N, S, E, W
  std::vector<CoreStalls> stalls;                         // per core with a slot, by row and column
  std::vector<std::vector<emulator::HostTensor>> outputs; // [sample][output of the entry], complete if Done
  std::vector<CoreSram> sram;                             // of all cores, at the end
  std::string waiting;                                    // who waits for what when it stopped
};

// Runs entry `entry` (one Run step) on inputs[sample][input of the entry]. The executable has passed the verifier, or
// breaks its rules about word counts only. An error is a fault of the simulated program beyond timing (an unwritten
// element) or a run longer than `maxCycles`.
absl::StatusOr<FabricRun> runReference(const format::Executable &executable, int entry,
                                       const std::vector<std::vector<emulator::HostTensor>> &inputs,
                                       int64_t maxCycles = 200000);

} // namespace wsc::fabric
