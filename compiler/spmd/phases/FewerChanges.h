// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops whose body fits into one configuration.
//
// A plan's estimates know nothing of queues and colours. Where the body of a loop needs more of them than a core has,
// every repetition changes the configuration, which may cost more than the distribution that asks for a route family of
// its own saves. So plans are tried in which lines gather by buses, then those in which one nest that reduces in
// several groups of an axis lies in another way.
#pragma once

#include "compiler/spmd/phases/Generate.h"

namespace wsc::spmd {

/// Cycles of one run of every entry, by the cost model: phases and changes of configuration.
int64_t predictedCycles(const format::Executable &executable);

/// Leaves the quickest of the program and those that such plans make, and its plans (by the cost model, changes of
/// configuration included). One plan and one generation without gathers and for each such nest of a loop, and of these
/// as many again after a gain; nothing where no configuration is changed to twice. `plans`: one for each network;
/// others are made with the same policy but for gathers. Ends early where the host says so.
void makeFewerChanges(GeneratedProgram &program, std::vector<NetworkPlan> &plans, const std::vector<Network> &networks,
                      std::vector<Views> &views, const target::Target &target, EstimateCaches &caches,
                      const PlanHost &host);

} // namespace wsc::spmd
