// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From planned networks to an executable of phases: programs, residents, addresses, steps.
#pragma once

#include "compiler/spmd/phases/Assemble.h"
#include "compiler/spmd/plan/Plan.h"

#include "absl/status/statusor.h"

#include <vector>

namespace wsc::spmd {

/// Plans and generates one entry for each network; they share the variables of equal name. A single network whose
/// samples have nothing to do with each other runs them in groups where that is quicker (SampleGroups.h).
/// Errors: a network that does not fit (with who needs which bytes), an unreadable constant, what no instruction can
/// express.
/// Cancelled: as the host says.
absl::StatusOr<GeneratedProgram> generatePhases(const std::vector<Network> &networks, const target::Target &target,
                                                const PlanHost &host = {});

struct PlannedProgram {
  std::vector<Network> networks; // as planned: with loops, or without
  std::vector<NetworkPlan> plans;
  GeneratedProgram program;
};

/// The quickest program by the cost model of all networks together, whatever their samples.
absl::StatusOr<PlannedProgram> planProgram(std::vector<Network> networks, const target::Target &target,
                                           PlanPolicy policy, const PlanHost &host);

/// The same for given plans, one for each network, all on one rectangle.
absl::StatusOr<GeneratedProgram> generateWith(const std::vector<Network> &networks, std::vector<Views> &views,
                                              const target::Target &target, const std::vector<NetworkPlan> &plans);

} // namespace wsc::spmd
