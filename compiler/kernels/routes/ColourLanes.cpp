// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colours in turn: lanes i, i + P, i + 2P … of a stream are one item of the solver's problem. P is the least period at
// which lanes of one item have no router in common; first rounded up to whole tiles, so that every tile finds its
// blocks' colours in the same order, and cores of all tiles that take or make the stream have few roles. Where colours
// do not suffice for that, streams that were left without share them less: each of twice as many tiles in turn, then
// lanes in turn, then none: their lanes become items of their own. In the end all lanes do.
#include "compiler/kernels/routes/Routes.h"

#include <algorithm>
#include <set>

namespace wsc::kernels {

using solver::colouring::Item;
using solver::colouring::Problem;
using solver::colouring::Rectangle;
using solver::colouring::Solution;

namespace {

bool overlap(const Item &a, const Item &b) {
  for (const Rectangle &x : a.rectangles)
    for (const Rectangle &y : b.rectangles)
      if (x.rowBegin < y.rowEnd && y.rowBegin < x.rowEnd && x.colBegin < y.colEnd && y.colBegin < x.colEnd)
        return true;
  return false;
}

// The largest distance between two lanes of `items` that have a router in common.
size_t farthestOverlap(const Item *items, size_t count) {
  struct Rows {
    int32_t begin, end;
    size_t lane;
  };
  std::vector<Rows> byBegin;
  for (size_t i = 0; i < count; ++i) {
    Rows rows{items[i].rectangles.front().rowBegin, items[i].rectangles.front().rowEnd, i};
    for (const Rectangle &rect : items[i].rectangles) {
      rows.begin = std::min(rows.begin, rect.rowBegin);
      rows.end = std::max(rows.end, rect.rowEnd);
    }
    byBegin.push_back(rows);
  }
  std::sort(byBegin.begin(), byBegin.end(), [](const Rows &a, const Rows &b) { return a.begin < b.begin; });
  size_t farthest = 0;
  for (size_t i = 0; i < count; ++i)
    for (size_t j = i + 1; j < count && byBegin[j].begin < byBegin[i].end; ++j) {
      auto [near, far] = std::minmax(byBegin[i].lane, byBegin[j].lane);
      if (far - near > farthest && overlap(items[near], items[far]))
        farthest = far - near;
    }
  return farthest;
}

// How the lanes of a stream share colours, from the most regular on. Items of twice as many tiles in turn meet half as
// many others.
enum class Sharing : uint8_t { TilesInTurn, TwiceTheTiles, LanesInTurn, Apart };

// Items of `problem` that are to have one colour, by item: the first of them. `sharing`: of each stream.
std::vector<size_t> itemsInTurn(const NetworkPlan &network, const std::vector<LaneRoute> &lanes, const Problem &problem,
                                const std::vector<Sharing> &sharing) {
  std::vector<size_t> leader(problem.items.size());
  for (size_t i = 0; i < leader.size(); ++i)
    leader[i] = i;
  size_t offset = problem.items.size() - lanes.size();
  for (size_t first = 0, end; first < lanes.size(); first = end) {
    for (end = first; end < lanes.size() && lanes[end].stream == lanes[first].stream;)
      ++end;
    const Sharing of = sharing[size_t(lanes[first].stream)];
    if (of == Sharing::Apart)
      continue;
    size_t period = farthestOverlap(&problem.items[offset + first], end - first) + 1;
    if (auto blocks = size_t(network.streams[lanes[first].stream].layout.numBlocks()); of != Sharing::LanesInTurn)
      period = (period + blocks - 1) / blocks * blocks * (of == Sharing::TwiceTheTiles ? 2 : 1);
    for (size_t lane = first + period; lane < end; ++lane)
      leader[offset + lane] = leader[offset + lane - period];
  }
  return leader;
}

// `problem` with one item for all that have the same leader, and that item of each.
std::pair<Problem, std::vector<size_t>> joined(const Problem &problem, const std::vector<size_t> &leader) {
  Problem result{problem.rows, problem.cols, problem.colours, {}};
  std::vector<size_t> itemOf(leader.size());
  for (size_t i = 0; i < leader.size(); ++i) {
    const Item &item = problem.items[i];
    if (leader[i] == i) {
      itemOf[i] = result.items.size();
      result.items.push_back(item);
      continue;
    }
    itemOf[i] = itemOf[leader[i]];
    std::vector<Rectangle> &rectangles = result.items[itemOf[i]].rectangles;
    rectangles.insert(rectangles.end(), item.rectangles.begin(), item.rectangles.end());
  }
  return {std::move(result), std::move(itemOf)};
}

// Streams of which an item found no colour, and of a kernel's row or chain those that the kernel takes or makes.
std::set<int32_t> streamsWithout(const NetworkPlan &network, const std::vector<LaneRoute> &lanes, size_t items,
                                 const std::vector<size_t> &itemOf, const std::vector<int32_t> &without) {
  std::set<int32_t> streams;
  const std::set<size_t> missing(without.begin(), without.end());
  const size_t offset = items - lanes.size();
  size_t item = 0;
  for (const KernelPlan &plan : network.kernels)
    if (plan.spec.kind == KernelKind::Contraction)
      for (int i = 0; i < 3; ++i)
        if (missing.count(itemOf[item++])) {
          streams.insert(plan.spec.outStream);
          for (const KernelInput &input : plan.spec.inputs)
            streams.insert(input.streams.begin(), input.streams.end());
        }
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    if (missing.count(itemOf[offset + lane]))
      streams.insert(lanes[lane].stream);
  return streams;
}

} // namespace

absl::StatusOr<Solution> colourLanes(const NetworkPlan &network, const std::vector<LaneRoute> &lanes,
                                     const Problem &problem, bool allInTurn) {
  constexpr int kRounds = 8;
  std::vector<Sharing> sharing(network.streams.size(), Sharing::TilesInTurn);
  for (int round = 0; round < (allInTurn ? 2 : kRounds); ++round) {
    auto [shared, itemOf] = joined(problem, itemsInTurn(network, lanes, problem, sharing));
    auto partial = solver::colouring::solvePartial(shared);
    if (!partial.ok())
      return partial.status();
    if (partial->without.empty()) {
      Solution all;
      for (size_t item : itemOf)
        all.colourOf.push_back(partial->solution.colourOf[item]);
      return all;
    }
    if (allInTurn)
      sharing.assign(sharing.size(), Sharing::LanesInTurn);
    else
      for (int32_t stream : streamsWithout(network, lanes, problem.items.size(), itemOf, partial->without))
        if (Sharing &of = sharing[size_t(stream)]; of != Sharing::Apart)
          of = Sharing(int(of) + 1);
  }
  if (allInTurn)
    return absl::ResourceExhaustedError("colours do not suffice for all lanes in turn");
  return solver::colouring::solve(problem);
}

absl::Status checkColours(const NetworkPlan &network, const std::vector<LaneRoute> &lanes, const Problem &problem) {
  return solver::colouring::solveFirstFit(problem).ok() ? absl::OkStatus()
                                                        : colourLanes(network, lanes, problem).status();
}

} // namespace wsc::kernels
