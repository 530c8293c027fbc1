// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The public C++ API of the runtime: open an executable, feed it, read results, time and statistics.
//
// A file is mapped and judged once (LoadedExecutable); any number of sessions run it, each with states of its own, and
// all read the weights in the one mapping. Everything here may be called from several threads: calls of one session
// wait for each other, sessions run side by side. A result never depends on which thread asks or how many do.
#pragma once

#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/Timing.h"
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/format/Reader.h"

#include "absl/status/statusor.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace wsc {

struct Tensor {
  format::TensorType type;
  std::vector<std::byte> bytes;
};

struct SessionOptions {
  int threads = 0; // host threads of a run, 0: all
  bool verifyWeightHashes = false;
  bool verifyLiveness = false; // refuse what would stop (emulator/liveness); takes as long as loading does, or longer
  bool worklist = false;       // force the core-by-core fallback
};

// A wafer executable that has been mapped and judged: structure, then the verifier. Never changes.
struct LoadedExecutable {
  LoadedExecutable(std::string name, format::LoadedFile loaded)
      : name(std::move(name)), content(std::move(loaded.executable)), file(loaded.bytes) {}
  LoadedExecutable(const LoadedExecutable &) = delete;
  LoadedExecutable &operator=(const LoadedExecutable &) = delete;

  const std::string name; // the file, for messages
  const format::Executable content;
  const std::span<const std::byte> file; // all of its bytes
  // What its sessions share beside the weights: what each would otherwise prepare for itself.
  const std::shared_ptr<emulator::PreparedStore> prepared = emulator::makePreparedStore();
};
using ExecutablePtr = std::shared_ptr<const LoadedExecutable>;

// `name`, if given, stands for the path in messages from then on.
absl::StatusOr<ExecutablePtr> openExecutable(const std::string &path, const format::LoadOptions &options = {},
                                             const std::string &name = "");
// From a file's content, which is copied; `name` stands for the path in messages.
absl::StatusOr<ExecutablePtr> openExecutable(std::span<const std::byte> content, const std::string &name,
                                             const format::LoadOptions &options = {});
// Index of entry `name`; empty name: the only entry, or "main". Errors list what there is.
absl::StatusOr<int> findEntry(const LoadedExecutable &executable, const std::string &name);
// Writes the executable's file (runtime/files). Unavailable, whatever hinders it: NotFound is said of what is read.
absl::Status saveExecutable(const LoadedExecutable &executable, const std::string &path);

class Session {
public:
  // Of a file that no other session runs.
  static absl::StatusOr<std::unique_ptr<Session>> open(const std::string &path, const SessionOptions &options = {});
  // Beside other sessions of the same executable.
  static absl::StatusOr<std::unique_ptr<Session>> open(ExecutablePtr executable, const SessionOptions &options = {});
  ~Session();

  const format::Executable &executable() const;
  // As the function of that name.
  absl::StatusOr<int> findEntry(const std::string &name) const;
  // Inputs by name; every input exactly once with its type and shape. Outputs in the entry's order.
  absl::StatusOr<std::vector<Tensor>> run(int entry, const std::map<std::string, Tensor> &inputs);
  // The same without names: bytes of inputs and outputs in the entry's order, row-major, inputs read in place.
  absl::StatusOr<std::vector<emulator::HostTensor>> runViews(int entry, std::span<const emulator::HostView> inputs);
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
  // Of the type and shape that the variable has.
  absl::Status writeState(const std::string &name, const Tensor &value);
  // Re-executes `count` random cores (seeded) with the scalar interpreter and compares SRAM and words sent; the error
  // names core, queue or buffer and first difference.
  absl::Status replay(int entry, const std::map<std::string, Tensor> &inputs, int count, uint64_t seed);

private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace wsc
