// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The core engine: executes the programs of an executable for values, exactly (I1, I10).
//
// The scheduled unit is a run of neighbouring cores of one role in one row; units run in the order of a topological
// sort of the streams between them, in parallel where independent. Recognised loop nests (multiply-add nests above all)
// run as blocked micro-kernels with the same bits. Programs whose cores wait for each other in circles run in waves of
// cores that have their words (WaveRunner.h). The reference for both is a worklist, core by core and element by
// element.
#pragma once

#include "runtime/emulator/Network.h"
#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <memory>
#include <span>
#include <vector>

namespace wsc::emulator {

// A tensor in host memory: raw bytes in row-major order of the entry's TensorType.
struct HostTensor {
  std::vector<std::byte> bytes;
};
// The bytes of one that somebody else holds.
using HostView = std::span<const std::byte>;

// Units: waves where cores, or threads of a core, wait in circles. The other two are for any program, to be asked for
// by name.
enum class Schedule { Units, Waves, Worklist };

// What engines of one executable share beside it (PreparedStore.h); from several threads.
class PreparedStore;
std::shared_ptr<PreparedStore> makePreparedStore();

struct CoreEngineOptions {
  int threads = 0; // 0: all
  Schedule schedule = Schedule::Units;
  std::shared_ptr<PreparedStore> shared = nullptr; // of engines of this executable; null: this engine shares nothing
};

struct ValueCounters {
  int64_t macs = 0;                // elements processed by Fma, all cores, per sample
  int64_t coresFma = 0;            // cores that execute at least one Fma element
  std::vector<int64_t> kernelMacs; // of the kernels of all runs, in their order
};

// A Run step of an entry, in the order in which they are done.
struct EntryRun {
  int32_t configuration = 0, count = 1;
  int32_t first = 0; // number of its first iteration
  bool operator==(const EntryRun &) const = default;
};

// A core in one iteration of one run of an entry.
struct CorePlace {
  int32_t run = 0;       // index into CoreEngine::runs
  int32_t iteration = 0; // 0 ≤ iteration < count of the run, whichever number the run begins with
  int32_t role = -1;
  format::LatticeIndex index{};
};

class CoreEngine {
public:
  virtual ~CoreEngine() = default;
  // Checks the order of every entry's steps and its io bindings. Streams are resolved and schedules made here for an
  // executable of one configuration, otherwise for each configuration when it first runs, so that the errors of that
  // are run()'s. The executable must outlive the engine and have passed the verifier.
  static absl::StatusOr<std::unique_ptr<CoreEngine>> create(const format::Executable &executable,
                                                            const CoreEngineOptions &options);

  // One sample through entry `entry`; inputs are read in place. State variables live in the engine between calls.
  virtual absl::StatusOr<std::vector<HostTensor>> runViews(int entry, std::span<const HostView> inputs) = 0;
  absl::StatusOr<std::vector<HostTensor>> run(int entry, std::span<const HostTensor> inputs) {
    return runViews(entry, viewsOf(inputs));
  }
  static std::vector<HostView> viewsOf(std::span<const HostTensor> tensors) {
    std::vector<HostView> views;
    for (const HostTensor &tensor : tensors)
      views.emplace_back(tensor.bytes);
    return views;
  }

  virtual ValueCounters counters(int entry) const = 0;
  // The runs of an entry; none for an entry that does not exist.
  virtual std::span<const EntryRun> runs(int entry) const = 0;
  // The resolved streams of a configuration, for the timing analysis; valid until the next run. May be called by
  // several threads at once, while none calls anything else.
  virtual absl::StatusOr<std::shared_ptr<const Networks>> networks(int configuration) = 0;

  // State variables in row-major order, for --state-in and --state-out.
  virtual HostTensor readState(int state) const = 0;
  virtual absl::Status writeState(int state, const HostTensor &value) = 0;

  // What replay needs of one core in one iteration: words received per input queue, SRAM before and after, words sent.
  struct CoreTrace {
    int32_t role = -1;
    format::LatticeIndex index{};
    std::vector<std::vector<std::byte>> buffersBefore, buffersAfter; // per buffer of the role
    std::vector<std::vector<std::byte>> queueWords;                  // per queue: received or sent in this sample
  };
  // One sample like run(), recording these cores.
  virtual absl::StatusOr<std::vector<CoreTrace>> runTracedViews(int entry, std::span<const HostView> inputs,
                                                                std::span<const CorePlace> cores,
                                                                std::vector<HostTensor> &outputs) = 0;
  absl::StatusOr<std::vector<CoreTrace>> runTraced(int entry, std::span<const HostTensor> inputs,
                                                   std::span<const CorePlace> cores, std::vector<HostTensor> &outputs) {
    return runTracedViews(entry, viewsOf(inputs), cores, outputs);
  }
};

} // namespace wsc::emulator
