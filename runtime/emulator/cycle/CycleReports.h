// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cycle run for people and other programs: as the timing that all reports know, and as a timeline.
#pragma once

#include "runtime/emulator/Timing.h"
#include "runtime/emulator/cycle/CycleEngine.h"

#include <string>

namespace wsc::emulator {

// The run of `samples` samples as a TimingResult. Per-kernel cycles are those of its busiest core per sample. What
// needs the program's multiply-adds (utilisation, cycles in Fma) is taken from the analytic timing, with the run's
// interval; without one (null) it is 0.
TimingResult timingOf(const CycleResult &run, const format::Configuration &configuration, int samples,
                      const TimingResult *analytic);

// Spans of CycleResult::trace as JSON of Chrome's trace events, which Perfetto opens: a process per kernel with a track
// of its samples, and a track for each of its cores' threads, named by role. Between two spans of a thread stands what
// the second can have waited for. One cycle is shown as one microsecond. Sorted by cycle, row, column and thread.
// `mostSpans`: the limit the run had, named in the file beside whether and when it was reached.
std::string traceJson(const CycleResult &run, const format::Configuration &configuration, int64_t mostSpans);

} // namespace wsc::emulator
