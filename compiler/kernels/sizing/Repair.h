// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Second look at a sized network. Candidates are costed one kernel at a time, with producers that cut their channels
// where it suits; once all are chosen, lanes end where columns and bands allow, and some kernels have to let more words
// pass.
#pragma once

#include "compiler/kernels/network/Spec.h"
#include "compiler/solver/Sizing.h"
#include "runtime/target/Target.h"

#include <vector>

namespace wsc::kernels {

// Gives every kernel the mapping of its candidate, and all streams their blocks and lane rows.
void applySolution(NetworkPlan &network, const solver::sizing::Problem &problem,
                   const solver::sizing::Solution &solution);

// Cycles of every kernel among the neighbours it has: its cores, its lanes and the links in its columns. Needs lane
// rows. Of a mapping that cannot be: the largest number.
std::vector<int64_t> intervalsAmongNeighbours(const target::Target &target, NetworkPlan &network);

// Takes back changes from solution `before`, in which kernels took `intervals` cycles among their neighbours, as far as
// they make a kernel take longer than that and than `limitCycles`: its own and those of the kernels it takes from.
void undoHarm(const target::Target &target, NetworkPlan &network, const solver::sizing::Problem &problem,
              const solver::sizing::Solution &before, const std::vector<int64_t> &intervals, int64_t limitCycles,
              solver::sizing::Solution &solution);

// From west to east, kernels that take longer than `limitCycles` among their neighbours, and longer than they were
// costed at, change to the candidate that is quickest there, as far as columns are left; `solution` and `network`
// follow.
void repair(const target::Target &target, NetworkPlan &network, const solver::sizing::Problem &problem,
            int64_t limitCycles, solver::sizing::Solution &solution);

} // namespace wsc::kernels
