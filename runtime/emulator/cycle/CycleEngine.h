// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cycle engine: runs a configuration word by word and cycle by cycle under the rules of docs/Timing.md. Time only:
// a word is a data word or a control word with its count; values come from the core engine (I10 makes that exact).
//
// Event-driven: a tile (a router with its core) is looked at only in cycles in which something it waits for may have
// come; stretches of issue slots that nothing contends for pass in one event. The mesh is cut into strips of rows, one
// per thread, and results are the same for any number of them.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace wsc::emulator {

struct CycleOptions {
  int samples = 1;
  int threads = 1; // 0: all of the host
  // With fewer tiles to look at per thread, one thread does a cycle alone: waking the others costs more than they save.
  int leastTilesPerThread = 96;
  int64_t mostCycles = 0; // a run that is not over by then is an error; 0: no limit
  bool perCore = false;   // fill CycleResult::cores
  // Spans kept for the trace: those that end first, ties by tile and thread. 0: none.
  int64_t mostTraceSpans = 0;
};

// The cycles of a core between its first and its last slot, each counted once.
struct CoreStalls {
  int64_t busy = 0;  // a slot was issued,
  int64_t bank = 0;  // or one more on account of a bank conflict
  int64_t words = 0; // no slot: waited for words of an input queue or FIFO,
  int64_t room = 0;  // or for space in an output queue or FIFO
  int64_t total() const { return busy + bank + words + room; }
  bool operator==(const CoreStalls &) const = default;
};

struct CoreCycles {
  int32_t row = 0, col = 0, role = -1;
  CoreStalls stalls;
  bool operator==(const CoreCycles &) const = default;
};

struct KernelCycles {
  CoreStalls sum;     // over its cores, over all samples
  CoreCycles busiest; // the core with most issued slots; the first of equals
  int64_t cores = 0;  // that issued a slot
  bool operator==(const KernelCycles &) const = default;
};

// What the run did between two cycles, for a timeline. Kernel spans: from the first to the last slot that cores of the
// kernel issue for one sample. Thread spans: a stretch of slots of one priority without queues and FIFOs
// (opcode < 0), or one instruction with one, from its first batch to its last.
struct TraceSpan {
  int64_t begin = 0, end = 0; // cycles [begin, end)
  int32_t kernel = -1;
  int32_t row = -1, col = -1, thread = -1; // kernel spans: -1
  int32_t sample = 0;
  int32_t role = -1, instruction = -1;
  int32_t opcode = -1; // format::Opcode
  bool operator==(const TraceSpan &) const = default;
};

// Of one configuration; Session::cycles sums those of a phased entry.
struct CycleResult {
  int64_t latencyCycles = 0;       // sampleDone[0]
  int64_t intervalCycles = 0;      // mean distance of samples over the middle half of the run; 0 with one
  std::vector<int64_t> sampleDone; // cycles
  int64_t endCycle = 0;            // the first at whose start nothing is left to do

  std::vector<KernelCycles> kernels; // per Configuration::kernels, and one more for cores of no kernel if there are any
  std::vector<CoreCycles> cores;     // CycleOptions::perCore: all that issued a slot, by row and column

  int64_t wordHops = 0; // words over links to N, S, E, W
  int64_t maxLinkWords = 0;
  std::string maxLinkName;          // "row 5, col 7, EAST: nets a, b"
  std::vector<int64_t> colourWords; // word-hops per colour

  // What the engine had to do. Active: a tile that moves a word or issues a slot, counted per cycle; slots that pass in
  // one event because nothing contends for them are counted apart.
  int64_t activeTileCycles = 0, skippedTileCycles = 0;
  int64_t simulatedCycles = 0, skippedCycles = 0; // in which some tile was active, or none
  int64_t bytes = 0; // of the engine's own state; all else is the same for any number of threads
  int64_t tiles = 0; // with state: those that routes and roles touch

  std::vector<TraceSpan> trace; // by begin, row, column, thread
  bool traceCut = false;        // there were more than mostTraceSpans

  bool operator==(const CycleResult &) const = default;
};

// Runs `samples` samples of a configuration. The executable must have passed the verifier, or at least the loader.
// Errors, by the word they begin with after the configuration's name:
//  - "deadlock": nothing can move and work is left; tells the cycle of who waits for what (FailedPrecondition).
//  - "unbalanced words": all threads and ports are done and words are left; tells where (FailedPrecondition).
//  - "control word": one would move to RAMP or out of the wafer (FailedPrecondition).
//  - "two routes": two router roles with one colour on a tile; "two bindings" on one port; "two queues" of a core with
//    one colour and direction; "open route"; malformed programs (InvalidArgument).
//  - "too long": mostCycles passed (DeadlineExceeded); "too large": what the engine does not hold (ResourceExhausted).
absl::StatusOr<CycleResult> runCycles(const format::Executable &executable, int configuration,
                                      const CycleOptions &options = {});

} // namespace wsc::emulator
