// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What engines of one executable prepare alike, made once and shared: streams, programs and schedules of
// configurations. They are many times larger than what an engine has for itself.
#pragma once

#include "runtime/emulator/EngineParts.h"

#include <map>
#include <mutex>

namespace wsc::emulator {

class PreparedStore {
public:
  using Prepared = std::shared_ptr<const PreparedConfiguration>;

  // The configuration as an engine with this schedule runs it; `make` is called where nobody has made it, while others
  // who want the same one wait. Its errors are not kept.
  template <typename Make> absl::StatusOr<Prepared> get(int configuration, Schedule schedule, Make make) {
    Slot &slot = slotOf(configuration, schedule);
    const std::lock_guard lock(slot.mutex);
    if (!slot.prepared) {
      absl::StatusOr<Prepared> made = make();
      if (!made.ok())
        return made.status();
      slot.prepared = *std::move(made);
    }
    return slot.prepared;
  }

private:
  struct Slot {
    std::mutex mutex;
    Prepared prepared;
  };
  Slot &slotOf(int configuration, Schedule schedule) {
    const std::lock_guard lock(mutex);
    return slots[{configuration, schedule}];
  }

  std::mutex mutex;
  std::map<std::pair<int, Schedule>, Slot> slots;
};

} // namespace wsc::emulator
