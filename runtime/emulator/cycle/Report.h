// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run has to tell: its errors, with who waits for what, and its figures.
#pragma once

#include "runtime/emulator/cycle/Strip.h"

#include "absl/status/status.h"

#include <vector>

namespace wsc::emulator::cycle {

absl::Status tooLong(const Fabric &fabric, const CycleOptions &options);
absl::Status strayControl(const Fabric &fabric, const StrayControl &stray, int64_t cycle);
// After the last cycle: all done, or a deadlock, or words left.
absl::Status checkEnd(const Fabric &fabric, const CycleOptions &options, const std::vector<Strip> &strips);
// Adds the figures of the run to `result`, whose simulatedCycles stand already.
void collect(Fabric &fabric, const CycleOptions &options, std::vector<Strip> &strips, CycleResult &result);

// "router (3, 4), colour 5".
std::string nodeName(const Fabric &fabric, uint32_t tile, uint32_t bit);

} // namespace wsc::emulator::cycle
