// The public C++ API of the runtime: open an executable, feed it, read results, time and statistics.
#pragma once

#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/Timing.h"
#include "runtime/emulator/cycle/CycleEngine.h"

#include "absl/status/statusor.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace wsc {

struct Tensor {
  format::TensorType type;
  std::vector<std::byte> bytes;
};

struct SessionOptions {
  int threads = 0;
  bool verifyWeightHashes = false;
  bool verifyLiveness = false; // refuse what would stop (emulator/liveness); takes as long as loading does, or longer
  bool worklist = false; // force the core-by-core fallback
};

class Session {
public:
  // Maps and checks the file (structure, then the verifier).
  static absl::StatusOr<std::unique_ptr<Session>> open(const std::string &path, const SessionOptions &options = {});
  ~Session();

  const format::Executable &executable() const;
  // Index of entry `name`; empty name: the only entry, or "main". Errors list what there is.
  absl::StatusOr<int> findEntry(const std::string &name) const;
  // Inputs by name; every input exactly once with its type and shape. Outputs in the entry's order.
  absl::StatusOr<std::vector<Tensor>> run(int entry, const std::map<std::string, Tensor> &inputs);
  // Cached per entry. Of an executable that is not phased, entries that run one configuration once. Of a phased one the
  // sum of its parts (EntryTime.h).
  absl::StatusOr<const emulator::TimingResult *> timing(int entry);
  // The same entries on the cycle engine; not cached. Errors as runCycles. `parts` (may be null) takes those of a
  // phased entry.
  absl::StatusOr<emulator::CycleResult> cycles(int entry, const emulator::CycleOptions &options,
                                               std::vector<emulator::TimingPart> *parts = nullptr);
  // What kernels and roles are numbered by in the two above: the entry's one configuration, or those of its runs one
  // after the other. Errors as timing's.
  absl::StatusOr<const format::Configuration *> timedConfiguration(int entry);
  emulator::ValueCounters counters(int entry) const;
  absl::StatusOr<Tensor> readState(const std::string &name) const;
  absl::Status writeState(const std::string &name, const Tensor &value);
  // Re-executes `count` random cores (seeded) with the scalar interpreter and compares SRAM and words sent; the error
  // names core, queue or buffer and first difference.
  absl::Status replay(int entry, const std::map<std::string, Tensor> &inputs, int count, uint64_t seed);

private:
  Session();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace wsc
