// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What residents hold, core by core, while configurations come and go.
//
// A resident with a section is viewed in the mapped file, or in a copy of its windows. Any other has memory, [number of
// the core in its lattice] [bytes], made when a configuration first uses it and kept from sample to sample. Residents
// of one entry whose lives do not meet share it: memory that is there is quicker to fill with zeros than new memory is
// to get. A role reaches it through windows: the number of each of its cores in the resident's lattice is looked up
// once, when the configuration is prepared.
#pragma once

#include "runtime/emulator/Pages.h"
#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <memory>
#include <span>
#include <vector>

namespace wsc::emulator {

// A copy of a window of all cores of a constant, iteration by iteration (NearWindows.h).
struct NearWindow {
  Pages pages;
  int64_t coreStep = 0, iterationStep = 0; // bytes from core to core, from iteration to iteration
};

// A buffer's window of a resident.
struct WindowPlace {
  int32_t resident = -1;                                // -1: the buffer is none
  std::shared_ptr<const std::vector<int32_t>> ordinals; // per core of the role, its number in the resident's lattice
  int64_t offset = 0, runStep = 0;                      // bytes: at offset + i·runStep in iteration i
  std::shared_ptr<const NearWindow> near = nullptr;     // where it is instead, if not null

  // Bytes from where it is in an iteration to where it is in the next one.
  int64_t iterationStep() const { return near ? near->iterationStep : runStep; }
};

// [role][buffer]. Errors: a role runs on a core that the resident does not have; a resident that does not exist.
absl::StatusOr<std::vector<std::vector<WindowPlace>>> placeWindows(const format::Executable &executable,
                                                                   const format::Configuration &configuration);

class ResidentStore {
public:
  explicit ResidentStore(const format::Executable &executable);

  // Which residents each run of each entry uses, [entry][run]; to be called before any is needed. A resident lives from
  // the first run of an entry that uses it to the last. Where it lies stays as it is from then on.
  void share(std::span<const std::vector<std::vector<int32_t>>> entries);

  // Makes memory for these residents. ResourceExhausted when the host has none.
  absl::Status need(std::span<const int32_t> residents);
  // Forgets what these hold unless it comes from a section or belongs to a state: they are zero when used again.
  void forget(std::span<const int32_t> residents);

  // The bytes of core number `ordinal`. Those of a section are read-only by contract.
  std::byte *core(int32_t resident, int64_t ordinal) const;
  std::byte *window(const WindowPlace &place, int64_t roleOrdinal, int64_t iteration) const {
    const int64_t ordinal = (*place.ordinals)[size_t(roleOrdinal)];
    if (place.near)
      return place.near->pages.get() + ordinal * place.near->coreStep + iteration * place.near->iterationStep;
    return core(place.resident, ordinal) + place.offset + iteration * place.runStep;
  }

  // Between a state variable's elements in host order and the residents that hold it. Elements that no core holds stay
  // as they are; of cores that hold the same element the last counts.
  absl::Status load(int32_t state, std::span<const std::byte> host);
  void store(int32_t state, std::span<std::byte> host) const;

private:
  template <typename Visit> void forStatePieces(int32_t resident, int64_t hostBytes, Visit visit) const;

  // Memory of residents, one at a time.
  struct Area {
    Pages pages;
    int64_t bytes = 0;
    int32_t holder = -1; // the resident that lives; -1: none
    bool isClean = true;
  };
  bool hasMemory(int32_t resident) const { return executable.residents[size_t(resident)].section < 0; }
  Area &areaFor(int32_t resident) { return areas[size_t(areaOf[size_t(resident)])]; }

  const format::Executable &executable;
  std::vector<Area> areas;
  std::vector<int32_t> areaOf;    // per resident
  std::vector<std::byte *> begin; // per resident, of its first core; null before it is needed
  std::vector<int64_t> strides;   // bytes from core to core
};

} // namespace wsc::emulator
