// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random executables with inputs for the fabric: code for a plan of streams (Plan.h). All pass the verifier; some come
// to a stop for want of space.
#pragma once

#include "runtime/emulator/CoreEngine.h"
#include "test/support/fabric/Plan.h"

#include <string>
#include <vector>

namespace wsc::fabric {

struct RandomProgram {
  format::Executable executable;                         // entry 0 runs configuration 0
  std::vector<std::vector<emulator::HostTensor>> inputs; // [sample][input]
};

RandomProgram programOf(const Plan &plan);

// The plan without some of its streams: keep[s] says whether stream s stays.
Plan without(const Plan &plan, const std::vector<bool> &keep);

} // namespace wsc::fabric
