// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Analytic time of a configuration under I10: an event graph over threads and stream segments, solved until it is
// periodic. No values, no data.
//
// A simulation that stops with unfinished threads is reported with who waits for what. That none does is not proven
// here, as trains of words approximate: liveness/ does.
#pragma once

#include "runtime/emulator/Network.h"

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace wsc::emulator {

struct KernelTiming {
  int64_t busyCycles = 0;      // issue slots of its busiest core per sample
  int64_t intervalCycles = 0;  // what the kernel alone would sustain
  int64_t fmaCycles = 0;       // cycles of its busiest core in Fma, per sample
  int64_t waitWordsCycles = 0; // of its longest waiting thread in the last simulated sample: for words,
  int64_t waitRoomCycles = 0;  // and for space at its receivers
  std::vector<int64_t> done;   // cycle at which its last thread finished each of the first kMostDone simulated samples
  static constexpr size_t kMostDone = 8;
};

// A step of a phased entry.
struct TimingPart {
  enum class Kind : uint8_t { Configure, Run };
  Kind kind = Kind::Run;
  std::string name; // of the configuration
  int32_t configuration = 0, count = 1;
  int64_t cyclesEach = 0;  // of one run, until nothing is left to do; of putting the configuration in place
  bool wordByWord = false; // a run timed by the cycle engine
  int64_t cycles() const { return count * cyclesEach; }
  bool operator==(const TimingPart &) const = default;
};

struct TimingResult {
  int64_t latencyCycles = 0; // first sample: first input word offered to last output word out; phased: sum of the parts
  int64_t intervalCycles = 0; // steady state between samples; phased: the latency, as samples do not overlap
  // Whether the interval is steady: bounds on it have met within 1/128, or the cycle engine's samples came evenly. If
  // not, it is between `intervalLow` and `intervalHigh` by what the simulated samples say; high 0: one sample says
  // nothing.
  bool intervalSettled = false;
  int64_t intervalLow = 0, intervalHigh = 0;
  std::vector<int64_t> sampleDone; // completion cycle of each simulated sample
  std::vector<KernelTiming> kernels;
  int32_t bottleneckKernel = -1;
  std::string bottleneck;        // what sets the interval: "issue slots of kernel conv3", "input words", "link …"
  int64_t maxLinkWords = 0;      // words per sample over the busiest link
  std::string maxLinkName;       // "row 5, col 7, EAST: nets a, b"
  int64_t linkWordHops = 0;      // words per sample times the links each crosses, all streams
  double computeUtilisation = 0; // macs / (cores · interval · fma rate)
  std::vector<TimingPart> parts; // of a phased entry, in order; kernels are those of its runs one after the other
};

// Simulates up to `samples` samples (0: until periodic).
absl::StatusOr<TimingResult> analyseTiming(const format::Executable &executable, int configuration,
                                           const Networks &networks, int samples = 0);

} // namespace wsc::emulator
