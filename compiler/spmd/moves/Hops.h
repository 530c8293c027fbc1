// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A move by factors, in one hop or in several over shardings between source and result:
//
//     [112 = r*2 | 2, 32 = c]  ──►  [112 = 0 | 112, 32 = c, W = r*2 | 2]  ──►  …  ──►  [112 = c*2 | 2, 32 = r]
//
// The shardings between are blocks of dimensions on rows and columns: what source and result have on an axis, one whole
// dimension, or nothing. Of the chains of at most three hops the one that is shortest by quick estimates is taken whose
// hops all have a form by factors.
#pragma once

#include "compiler/spmd/moves/FactoredMove.h"

#include <optional>
#include <vector>

namespace wsc::spmd {

struct Hop {
  MoveProblem problem;             // of the first one: the sources; of others: the result of the hop before
  std::vector<FactoredMove> moves; // one for each piece
};

struct HopPlan {
  std::vector<Hop> hops;
  int64_t estimatedCycles = 0;
  int64_t scratchBytes = 0; // of the largest hop, with what it reads where that is no tensor at rest
  int64_t tableBytes = 0;   // of all index tables and masks
};

/// Nothing where no chain is found. Shardings between keep to the problem's room.
std::optional<HopPlan> planHops(const MoveProblem &problem);

} // namespace wsc::spmd
