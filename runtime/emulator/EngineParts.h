// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the core engine prepares per configuration, and the ways of running one sample through it.
#pragma once

#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/Network.h"
#include "runtime/emulator/ResidentStore.h"
#include "runtime/emulator/RoleProgram.h"
#include "runtime/emulator/StateStore.h"
#include "runtime/emulator/UnitSchedule.h"

#include <map>
#include <memory>

namespace wsc::emulator {

struct WavePlan;       // WavePlan.h
class WaveStreamStore; // WaveStreams.h

// Never changes once it is made, but for the streams in store: engines share it.
struct PreparedConfiguration {
  const format::Executable *executable = nullptr;
  const format::Configuration *configuration = nullptr;
  std::vector<format::ElementType> bindingTypes;
  bool hasStreams = false; // networks are made; a plan of waves needs them no more
  Networks networks;
  std::vector<std::vector<WindowPlace>> windows; // [role][buffer]
  std::vector<int32_t> residents;                // that its windows view, ascending
  std::vector<RoleProgram> programs;
  // One way of running: waves, units if their schedule is possible, else the worklist.
  std::shared_ptr<const WavePlan> waves;
  std::shared_ptr<WaveStreamStore> streams; // for waves; may be asked by any engine
  UnitSchedule schedule;
  // Tasks of a level bundled into pieces of work large enough to hand to a thread.
  struct Bundle {
    uint32_t taskBegin, taskEnd;
  };
  std::vector<Bundle> bundles;
  std::vector<uint32_t> levelBundles; // per level: first bundle; one more than there are levels
  std::vector<bool> levelIsSmall;     // not worth a second thread
};

// Cores whose state of affairs is recorded: key role and ordinal.
using TraceMap = std::map<std::pair<int32_t, int64_t>, CoreEngine::CoreTrace *>;

struct SampleContext {
  const PreparedConfiguration &prepared;
  const Kernels &kernels;
  StateStore &states;
  const ResidentStore &residents;
  int64_t iteration; // of the run step
  bool comesAgain;   // the entry runs the configuration once more
  std::span<const HostView> inputs;
  std::vector<HostTensor> &outputs;
  const TraceMap &traces;
};

// Workers with their scratch and arenas, reused from sample to sample.
class UnitRunner {
public:
  explicit UnitRunner(int threads);
  ~UnitRunner();
  absl::Status run(const SampleContext &context);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

absl::Status runWorklist(const SampleContext &context);

// Pointers to a core's constants in the file, its state and its windows of residents; scratch and FIFOs from `scratch`.
void bindBuffers(const SampleContext &context, int32_t role, int64_t ordinal, const format::LatticeIndex &index,
                 std::byte *scratch, std::byte **buffers);

// The bytes of a FIFO's ring after `pushed` bytes of a sample, which lie in order at `elements`: byte i is at i modulo
// the ring's size.
std::vector<std::byte> ringImage(const format::Buffer &buffer, const std::byte *elements, int64_t pushed);

// Fills `trace` by running the core once on a zeroed image of its own; queues must hold their words, state and
// residents are left as they were.
void traceCore(const SampleContext &context, int32_t role, int64_t ordinal, const format::LatticeIndex &index,
               std::span<const QueuePort> queues, CoreEngine::CoreTrace &trace);

} // namespace wsc::emulator
