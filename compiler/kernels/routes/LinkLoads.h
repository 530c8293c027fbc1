// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words per sample over the links between routers, from the routes alone: what bounds the interval beside the cores.
#pragma once

#include "compiler/kernels/routes/Routes.h"
#include "compiler/solver/Routing.h"

#include <string>

namespace wsc::kernels {

// The busiest link: the output of router (row, col) to `side` (N, S, E or W), and the streams that use it.
struct LinkLoad {
  int64_t words = 0;
  int32_t row = 0, col = 0;
  char side = 'E';
  std::vector<std::string> nets; // by name: streams, "KERNEL row", "KERNEL chain"
  std::string describe() const;  // "link (15, 65) S: conv0, pool1"
};

// What a straight run of links carries per sample, or runs of several columns side by side: loads are as many as lanes
// and rows, however wide a kernel is.
struct RouteLoad {
  // Trunks and branches are the part of a lane behind its senders.
  enum class Part : uint8_t { Gather, Trunk, Branch, Inside } part = Part::Inside;
  solver::routing::Segment segment; // a trunk that leaves the wafer ends one column east of it
  int64_t words = 0;                // on the first link
  int32_t net = 0;                  // of NetworkLoads::nets
  int64_t wordsMore = 0;            // on each next one: of a gather, what one sender adds
  int32_t columns = 1;              // of a vertical run: it, and so many less one east of it

  int32_t links() const; // of one run
};
struct NetworkLoads {
  std::vector<std::string> nets;
  std::vector<RouteLoad> loads;
};

// Words that a lane carries per sample.
int64_t laneWords(const NetworkPlan &network, const LaneRoute &route);

// Exact: data and control words of lanes (gathers, trunks, branches), row multicasts and chains of a placed network.
NetworkLoads networkLoads(const target::Target &target, const NetworkPlan &network,
                          const std::vector<LaneRoute> &lanes);
// Calls visit(segment, words) for stretches of one run of links that carry the same.
template <typename Visit> void forEachSegment(const RouteLoad &load, Visit visit) {
  for (int32_t column = 0; column < load.columns; ++column) {
    solver::routing::Segment s = load.segment;
    s.col += column;
    s.colEnd += column;
    if (load.wordsMore == 0) {
      visit(s, load.words);
      continue;
    }
    const int32_t rowStep = (s.rowEnd > s.row) - (s.rowEnd < s.row), colStep = (s.colEnd > s.col) - (s.colEnd < s.col);
    for (int32_t link = 0; link < load.links(); ++link, s.row += rowStep, s.col += colStep)
      visit({s.row, s.col, s.row + rowStep, s.col + colStep}, load.words + link * load.wordsMore);
  }
}
// Calls visit(segment, rows alike) for the runs of links of one branch that leaves its trunk in column `via`: its
// vertical links, and those by which rows take from one further west, rows below each other together.
template <typename Visit>
void forEachBranchRun(const LaneRoute &route, const LaneRoute::Branch &branch, int32_t via, Visit visit) {
  using solver::routing::Segment;
  if (branch.lastRow() > route.row)
    visit(Segment{route.row, via, branch.lastRow(), via}, 1);
  if (branch.firstRow() < route.row)
    visit(Segment{route.row, via, branch.firstRow(), via}, 1);
  if (via == branch.col)
    return;
  for (const LaneRoute::Rows &takers : branch.takers) {
    auto take = [&](int32_t begin, int32_t end) {
      if (begin <= end)
        visit(Segment{begin, via, begin, branch.col}, end - begin + 1);
    };
    if (takers.begin <= route.row && route.row <= takers.end) { // there the trunk goes on
      take(takers.begin, route.row - 1);
      take(route.row + 1, takers.end);
    } else {
      take(takers.begin, takers.end);
    }
  }
}
// Calls visit(segment) for each of them as the branch lies, row by row.
template <typename Visit>
void forEachBranchSegment(const LaneRoute &route, const LaneRoute::Branch &branch, Visit visit) {
  forEachBranchRun(route, branch, branch.via, [&](solver::routing::Segment segment, int32_t rowsAlike) {
    for (; rowsAlike-- > 0; ++segment.row, ++segment.rowEnd)
      visit(segment);
  });
}

// The busiest link of all that networkLoads() lists. Cost: the loads, those along columns times the columns of theirs
// where others begin or end; nothing grows with the mesh's area.
LinkLoad busiestLink(const NetworkLoads &loads);
LinkLoad busiestLink(const target::Target &target, const NetworkPlan &network, const std::vector<LaneRoute> &lanes);

// The same of the links that leave routers in the columns of kernel `index` of a placed network. Cost: the lanes that
// begin, end or pass there.
LinkLoad busiestLinkOf(const target::Target &target, const NetworkPlan &network, int32_t index);

// Streams that share a link wait for each other: an interval of so many cycles leaves that many words space to spare.
inline int64_t withWaiting(int64_t words) { return words + words / 8; }

// Words times links, of all loads.
int64_t wordHopsOf(const NetworkLoads &loads);
// How far something lies above what is wanted of it: the part beyond, in 1024ths of `wanted` (2^20 at most), squared.
int64_t excessOf(int64_t value, int64_t wanted);
// By net, the excess of words over the links that it uses. `all` receives that of all links, each once.
std::vector<int64_t> excessOf(const NetworkLoads &loads, int64_t capacity, int64_t &all);

// Words over the busiest vertical link of the lanes that a kernel takes, in one of its columns; known before it is
// placed. Needs lane rows (layOutLanes).
int64_t branchWords(const NetworkPlan &network, const KernelRows &rows);

} // namespace wsc::kernels
