// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores of roles that differ only in queues, places and constants do the same steps. Groups of a recorded wave that do
// are made one, so that a step is looked at once for more cores:
//
//     group of role A   0: Row, 20 cores   1: Nest, 20 cores   2: Row, 12 cores
//     group of role B   0: Row, 28 cores   1: Nest, 28 cores   2: Row, 28 cores
//     merged            0: Row, 48 cores   1: Nest, 48 cores   2: Row, 40 cores
#pragma once

#include "runtime/emulator/WaveRecord.h"

namespace wsc::emulator {

// Merges groups of each wave and stream as long as a step has at most kMostCores cores, and they all `mostSlotBytes`
// bytes of slots. Links have been joined. Steps at which no chain ends are dropped.
void mergeGroups(WaveRecord &record, int64_t mostSlotBytes);

} // namespace wsc::emulator
