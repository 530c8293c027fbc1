// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns for the kernels of a sized network: full-height strips side by side, west of the state variables' columns,
// where state kernels lie.
#pragma once

#include "compiler/kernels/network/Effort.h"
#include "compiler/kernels/network/Spec.h"
#include "compiler/solver/Placement.h"
#include "runtime/target/Target.h"

#include "absl/status/status.h"

namespace wsc::kernels {

// Strips in dataflow order. Kernels with a column already fixed (>= 0) keep it or are refused. ResourceExhausted: more
// columns than the mesh has.
absl::Status placeInOrder(const target::Target &target, NetworkPlan &network);

// The order of strips as a problem of the solver: every kernel but those on state variables, and the words that each
// sends to each, eastward. `kernels` receives the kernel of each of the problem's.
solver::placement::Problem placementProblem(const target::Target &target, const NetworkPlan &network,
                                            std::vector<int32_t> &kernels);

// Places in order; where no column is fixed and the effort allows it, also in the orders that the solver finds, and
// keeps the one with the best score (MappingScore.h) once it is routed: from Effort::Default on that of the local
// search, with Effort::High those of several starts too. Errors: those of placeInOrder().
absl::Status placeNetwork(const target::Target &target, NetworkPlan &network, const SearchOptions &options = {});

} // namespace wsc::kernels
