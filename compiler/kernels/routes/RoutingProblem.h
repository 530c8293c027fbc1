// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lanes of a placed network as a problem of the general router, to compare regular routes with (wsc-bench place).
#pragma once

#include "compiler/kernels/routes/Routes.h"
#include "compiler/solver/Routing.h"

namespace wsc::kernels {

// Lanes behind their senders as nets of a routing problem: what they reach; gathers and what flows inside kernels are
// fixed loads. `routes` receives the lanes' own routes as its solution.
solver::routing::Problem routingProblem(const target::Target &target, const NetworkPlan &network,
                                        const std::vector<LaneRoute> &lanes, solver::routing::Solution &routes);

} // namespace wsc::kernels
