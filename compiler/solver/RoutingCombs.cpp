// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Combs: the trunk runs both ways from the source to the outermost sink columns, and a branch each way from the trunk
// at every sink column.
#include "compiler/solver/Routing.h"

#include <algorithm>
#include <map>

namespace wsc::solver::routing {

absl::StatusOr<Solution> solveCombs(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  Solution solution;
  for (const Net &net : problem.nets) {
    std::map<int32_t, std::pair<int32_t, int32_t>> branches; // column → northern and southern end
    for (const Sink &sink : net.sinks) {
      auto [branch, isNew] = branches.try_emplace(sink.col, net.row, net.row);
      branch->second.first = std::min(branch->second.first, sink.rowLo);
      branch->second.second = std::max(branch->second.second, sink.rowHi);
    }
    std::vector<Segment> segments;
    if (int32_t east = branches.rbegin()->first; east > net.colBegin)
      segments.push_back({net.row, net.colBegin, net.row, east});
    if (int32_t west = branches.begin()->first; west < net.colBegin)
      segments.push_back({net.row, net.colBegin, net.row, west});
    for (const auto &[col, ends] : branches) {
      if (ends.first < net.row)
        segments.push_back({net.row, col, ends.first, col});
      if (ends.second > net.row)
        segments.push_back({net.row, col, ends.second, col});
    }
    solution.segmentsOf.push_back(std::move(segments));
  }
  return solution;
}

} // namespace wsc::solver::routing
