// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/routes/RoutingProblem.h"

#include "compiler/kernels/routes/ChooseTurns.h"
#include "compiler/kernels/routes/LinkLoads.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::kernels {

solver::routing::Problem routingProblem(const target::Target &target, const NetworkPlan &network,
                                        const std::vector<LaneRoute> &lanes, solver::routing::Solution &routes) {
  solver::routing::Problem problem{target.rows, target.cols, {}, {}, {}};
  if (int64_t interval = wantedInterval(target, network); interval > 0)
    problem.linkCapacityWords = interval;
  for (const RouteLoad &load : networkLoads(target, network, lanes).loads)
    if (load.part == RouteLoad::Part::Gather || load.part == RouteLoad::Part::Inside)
      forEachSegment(load, [&](const solver::routing::Segment &segment, int64_t words) {
        problem.fixed.push_back({segment, words});
      });
  for (const LaneRoute &route : lanes) {
    solver::routing::Net net;
    net.name = absl::StrCat(network.streams[route.stream].name, ".", route.lane);
    net.row = route.row;
    net.colBegin = std::max(route.gatherColEnd, route.trunkBegin);
    net.wordsPerSample = laneWords(network, route);
    for (const LaneRoute::Branch &branch : route.branches)
      for (const LaneRoute::Rows &rows : branch.takers)
        net.sinks.push_back({branch.col, rows.begin, rows.end});
    if (route.toPort)
      net.sinks.push_back({target.cols - 1, route.row, route.row});
    if (net.sinks.empty())
      continue;
    std::vector<solver::routing::Segment> &segments = routes.segmentsOf.emplace_back();
    if (route.trunkEnd > net.colBegin)
      segments.push_back({route.row, net.colBegin, route.row, route.trunkEnd});
    if (route.trunkWest < route.trunkBegin) // of a one-column kernel
      segments.push_back({route.row, net.colBegin, route.row, route.trunkWest});
    for (const LaneRoute::Branch &branch : route.branches)
      forEachBranchSegment(route, branch,
                           [&](const solver::routing::Segment &segment) { segments.push_back(segment); });
    problem.nets.push_back(std::move(net));
  }
  return problem;
}

} // namespace wsc::kernels
