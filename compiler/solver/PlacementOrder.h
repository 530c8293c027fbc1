// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cheapest order of a few strips that stand side by side, by dynamic programming over sets.
#pragma once

#include "compiler/solver/Placement.h"

namespace wsc::solver::placement {

struct BestOrder {
  int64_t cost = 0;           // word-hops of the edges between these kernels
  std::vector<int32_t> order; // from the west
};

// Ignores gaps and all other kernels, and of pins sees only which order they force; keeps to eastward edges: a lower
// bound on what the edges between `kernels` cost in any placement, exact where there are no pins and no other kernels.
// No order and no cost if pins and eastward edges contradict each other. At most 16 kernels.
// Time: 2^n·n² for n kernels.
BestOrder bestOrder(const Problem &problem, const std::vector<int32_t> &kernels);

} // namespace wsc::solver::placement
