// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Freedom from deadlock (I10), proven: the count-only program of a configuration is executed for one sample with the
// target's queue depths and has to come back to where it began. Cores and routers are determinate processes with
// bounded queues, so one complete run, in whatever order, proves that every run of any number of samples is complete,
// and a run that stops proves that every run does (docs/Execution.md, "Why one run is enough").
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/status.h"

#include <cstdint>

namespace wsc::emulator {

struct LivenessOptions {
  // Moves of threads and routers that the check of a configuration may take: some minutes of work.
  int64_t mostMoves = int64_t(1) << 32;
  // Of the host, 0: all; and how many bytes of state configurations that are checked side by side may have together.
  // The result depends on neither.
  int threads = 1;
  int64_t mostBytes = int64_t(1) << 29;
};

// What a check had to do.
struct LivenessStats {
  int64_t configurations = 0, repeated = 0; // checked; not, as they count the same as one that was
  int64_t cores = 0, threads = 0;
  int64_t turns = 0;       // of threads, each from where it could go on to where it could not
  int64_t flows = 0;       // stretches of words that went all the way from a sender to its takers
  int64_t routerSteps = 0; // words that moved by one router, where they could not go all the way
  int64_t bytes = 0;       // most state of a configuration
};

// Checks configuration `number`. The executable has passed the verifier, or at least the loader. Errors, by the word
// they begin with after the configuration's name:
//  - "deadlock": tells the circle of who waits for what, with cores, threads, colours and counts (FailedPrecondition);
//  - "unbalanced words", "switch", "filter": one sample does not come back to where it began (FailedPrecondition);
//  - "control word": one reaches RAMP or the end of the wafer (FailedPrecondition);
//  - "two routes", "two queues", "two bindings", "open route", malformed programs (InvalidArgument);
//  - "too large" (ResourceExhausted).
absl::Status checkLiveness(const format::Executable &executable, int number, const LivenessOptions &options = {},
                           LivenessStats *stats = nullptr);

// Checks all configurations; those that differ only in what no count depends on (names, addresses, constants,
// residents) once.
absl::Status checkLiveness(const format::Executable &executable, const LivenessOptions &options = {},
                           LivenessStats *stats = nullptr);

} // namespace wsc::emulator
