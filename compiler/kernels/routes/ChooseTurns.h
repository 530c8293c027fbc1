// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where lanes turn: into their consumer's column, or some columns west of it, so that vertical links of several columns
// share what one would carry alone.
//
// All lanes that a kernel takes of a channel block of a stream are one bundle, a lane from each tile. They turn in
// columns that follow each other in a short period, so that router settings repeat over the wafer and their roles stay
// few.
#pragma once

#include "compiler/kernels/routes/Routes.h"
#include "compiler/solver/Alternatives.h"

namespace wsc::kernels {

// What links should carry at most: the interval that cores and off-wafer words allow, cycles. 0: not known.
int64_t wantedInterval(const target::Target &target, const NetworkPlan &network);

// The combs of a placed network without turns.
std::vector<LaneRoute> straightRoutes(const target::Target &target, NetworkPlan network);

// The choice of turns as a problem of the solver: an item per bundle whose branches are free and, turning in the
// kernel's column, use links that carry more than wantedInterval(). Tags of options are turns by tile, "0,1". `owners`
// receives kernel, (input, component) and block of each item, and which of the patterns each option stands for. Not
// `whole`: without the fixed loads in columns that no option touches, which do not matter to the solution.
struct TurnOwner {
  int32_t kernel = 0, ordinal = 0, block = 0;
  std::vector<int32_t> variantOf;
};
solver::alternatives::Problem turnProblem(const target::Target &target, const NetworkPlan &network,
                                          std::vector<TurnOwner> &owners, bool whole = true);

// Sets KernelPlan::turns: as pinned, else what the solver chooses, else all empty. Errors: a pinned turn that a lane
// cannot take, with the reason; those of the solver.
absl::Status chooseTurns(const target::Target &target, NetworkPlan &network);
// Only what is pinned; the same errors.
absl::Status keepPinnedTurns(const target::Target &target, NetworkPlan &network);

} // namespace wsc::kernels
