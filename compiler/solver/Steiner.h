// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortest trees: the fewest links that join a net's source and sinks, by Dreyfus and Wagner's recurrence ("The Steiner
// problem in graphs", 1971) on Hanan's grid.
//
// Routers that must be reached side by side in a column belong together in some shortest tree, for a link between two
// of them can stand in for any other link of the cycle it closes. So a *pin* is such a run of routers: its links are
// counted, and moving along it is free. Hanan's grid then needs the rows of runs' ends only.
#pragma once

#include "compiler/solver/Routing.h"

#include <optional>

namespace wsc::solver::routing {

constexpr int kMostPins = 9;

// Links of a shortest tree; nothing for a net of more than kMostPins pins, the source's included. Cost: O(3^pins ·
// pins^2).
std::optional<int64_t> shortestTree(const Net &net);

} // namespace wsc::solver::routing
