// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Says why a simulation stopped: the cycle of processes that wait for each other, or who waits at the end of the chain.
#pragma once

#include "runtime/emulator/timing/Simulation.h"

#include "absl/status/status.h"

namespace wsc::emulator::timing {

// Call after runSample returned false. The error names up to five waiting threads.
absl::Status livenessError(const format::Configuration &configuration, const Model &model, Simulation &simulation);

} // namespace wsc::emulator::timing
