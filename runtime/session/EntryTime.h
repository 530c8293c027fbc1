// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of a phased entry: the drained runs of its configurations one after another and, before each that is not in
// place, the change to it. Samples do not overlap, so the interval is the latency.
#pragma once

#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/Timing.h"
#include "runtime/emulator/cycle/CycleEngine.h"

#include "absl/status/statusor.h"

#include <map>
#include <vector>

namespace wsc {

class EntryTime {
public:
  // Both must outlive this. `threads`: of the host, 0: all.
  EntryTime(const format::Executable &executable, emulator::CoreEngine &engine, int threads)
      : executable(executable), engine(engine), threads(threads) {}

  // Each configuration is timed once. Those whose words make up to kMostWordHops hops are timed word by word, others by
  // the analytic engine; where that refuses a program that comes to an end, word by word as well. Errors: as
  // analyseTiming and runCycles.
  absl::StatusOr<emulator::TimingResult> timing(int entry);

  // All runs on the cycle engine: sums and largest values over the entry and its samples. Kernels and roles are
  // numbered as in merged(). `parts` is filled as in TimingResult.
  absl::StatusOr<emulator::CycleResult> cycles(int entry, const emulator::CycleOptions &options,
                                               std::vector<emulator::TimingPart> &parts);

  // Kernels (with what they do in all iterations) and roles (without programs) of the entry's runs one after the other,
  // for reports.
  format::Configuration merged(int entry) const;

  static constexpr int64_t kMostWordHops = 10'000'000; // about half a second of the cycle engine

private:
  // About what the analytic engine needs, and how much configurations that are timed side by side may need together.
  static constexpr int64_t kBytesPerCore = 10'000, kMostBytes = int64_t(3) << 30;

  struct Drained {
    emulator::TimingResult time; // of one sample
    int64_t cycles = 0;          // until nothing is left to do
    double useful = 0;           // cycles that the multiply-adds would take all cores of the wafer
    bool wordByWord = false;
  };
  absl::StatusOr<Drained> drain(int configuration, int threadsOfCycles) const;
  // Fills `times` for all configurations that the entry runs, several of them at a time.
  absl::Status drainAll(int entry);
  // The entry's parts in order; cyclesEach of runs is left to `run`.
  template <typename Run> absl::StatusOr<std::vector<emulator::TimingPart>> walk(int entry, Run run) const;

  const format::Executable &executable;
  emulator::CoreEngine &engine;
  const int threads;
  std::map<int, Drained> times;
};

} // namespace wsc
