// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places of stream words in the arenas of a schedule.
#pragma once

#include "runtime/emulator/UnitSchedule.h"

namespace wsc::emulator {

struct StreamLife {
  bool local = false;           // all ends in one task
  int32_t first = 0, last = -1; // levels
};

// Fills portPlace, pieces, inputs, outputs and the arena sizes of `schedule`, whose units, tasks and levels are final.
void placeStreams(const format::Configuration &configuration, const Networks &networks,
                  const std::vector<StreamLife> &lives, UnitSchedule &schedule);

} // namespace wsc::emulator
