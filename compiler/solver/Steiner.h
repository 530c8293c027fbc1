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

#include <map>
#include <optional>
#include <vector>

namespace wsc::solver::routing {

constexpr int kMostPins = 13, kFewPins = 9;

// Links of a shortest tree; nothing for a net of more than `mostPins` pins, at most kMostPins, the source's included.
// Cost: O(3^pins · pins^2).
std::optional<int64_t> shortestTree(const Net &net, int mostPins = kMostPins);

// Shortest trees of many nets: nets that differ only in where they lie share one search. Those of more than kFewPins
// pins are searched as long as `searches` lasts, so that a problem with many kinds of them is still evaluated soon.
class ShortestTrees {
public:
  std::optional<int64_t> of(const Net &net);

private:
  std::map<std::vector<int32_t>, std::optional<int64_t>> known; // by the sinks' places relative to the source
  int64_t searches = 100;                                       // left for nets of many pins
};

} // namespace wsc::solver::routing
