// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The placement problem judged: limits, an independent check of solutions, cost and bound.
//
// The bound is the larger of two. By stars: the kernels that one kernel sends to stand at different columns, so the
// j-th nearest of them in the east is at least 1 + j·m hops away and the j-th nearest in the west at least (own width +
// m − 1) + j·m, with m the narrowest of them; giving the shortest distances to the heaviest edges is the least possible
// sum (rearrangement inequality). The same holds for the kernels it receives from; each edge is counted once, at its
// sender or at its receiver, and the larger sum counts. By groups: the kernels in dataflow order are cut into groups,
// the edges inside a group cost at least what its cheapest order costs alone, the others one hop per word. Edges
// between two pinned kernels are exact.
#include "compiler/solver/Placement.h"

#include "compiler/solver/PlacementOrder.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>

namespace wsc::solver::placement {

namespace {
constexpr int32_t kMostMesh = 1 << 16;
constexpr size_t kMostKernels = size_t(1) << 16;
constexpr size_t kMostEdges = size_t(1) << 20;
constexpr int64_t kMostWords = int64_t(1) << 24;
} // namespace

absl::Status Problem::check() const {
  if (rows < 1 || cols < 1 || rows > kMostMesh || cols > kMostMesh)
    return absl::InvalidArgumentError(
        absl::StrCat("placement: mesh ", rows, "x", cols, " must have 1 to ", kMostMesh, " rows and columns"));
  if (kernels.size() > kMostKernels || edges.size() > kMostEdges)
    return absl::InvalidArgumentError(absl::StrCat("placement: ", kernels.size(), " kernels and ", edges.size(),
                                                   " edges, the limits are ", kMostKernels, " and ", kMostEdges));
  std::vector<int32_t> pinned;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const Kernel &kernel = kernels[k];
    if (kernel.rows < 1 || kernel.cols < 1 || kernel.rows > rows || kernel.cols > cols)
      return absl::InvalidArgumentError(absl::StrCat("placement: kernel ", kernel.name, " has ", kernel.rows, "x",
                                                     kernel.cols, " cores, the mesh ", rows, "x", cols));
    if (!kernel.pinnedCol)
      continue;
    if (*kernel.pinnedCol < 0 || *kernel.pinnedCol > cols - kernel.cols)
      return absl::InvalidArgumentError(absl::StrCat("placement: kernel ", kernel.name, " is pinned to columns [",
                                                     *kernel.pinnedCol, ", ", int64_t(*kernel.pinnedCol) + kernel.cols,
                                                     "), the mesh has ", cols));
    pinned.push_back(int32_t(k));
  }
  std::sort(pinned.begin(), pinned.end(),
            [&](int32_t a, int32_t b) { return *kernels[a].pinnedCol < *kernels[b].pinnedCol; });
  for (size_t p = 0; p + 1 < pinned.size(); ++p) {
    const Kernel &left = kernels[pinned[p]], &right = kernels[pinned[p + 1]];
    if (*left.pinnedCol + left.cols > *right.pinnedCol)
      return absl::InvalidArgumentError(absl::StrCat("placement: kernels ", left.name, " and ", right.name,
                                                     " are both pinned to column ", *right.pinnedCol));
  }
  for (const Edge &edge : edges)
    if (edge.from < 0 || edge.to < 0 || size_t(edge.from) >= kernels.size() || size_t(edge.to) >= kernels.size() ||
        edge.from == edge.to || edge.wordsPerSample < 0 || edge.wordsPerSample > kMostWords)
      return absl::InvalidArgumentError(absl::StrCat("placement: edge ", edge.from, " -> ", edge.to, " of ",
                                                     edge.wordsPerSample, " words must join two of ", kernels.size(),
                                                     " kernels with 0 to ", kMostWords, " words"));
  const std::vector<int32_t> order = dataflowOrder(*this);
  std::vector<size_t> positionOf(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    positionOf[order[i]] = i;
  for (const Edge &edge : edges)
    if (edge.eastward && positionOf[edge.from] > positionOf[edge.to])
      return absl::InvalidArgumentError(absl::StrCat("placement: eastward edge ", kernels[edge.from].name, " -> ",
                                                     kernels[edge.to].name,
                                                     " closes a circle; in a circle some edge must flow west"));
  return absl::OkStatus();
}

absl::Status Solution::verify(const Problem &problem) const {
  if (places.size() != problem.kernels.size())
    return absl::FailedPreconditionError(
        absl::StrCat("placement: solution has ", places.size(), " places for ", problem.kernels.size(), " kernels"));
  std::vector<int32_t> owner(problem.cols, -1);
  for (size_t k = 0; k < places.size(); ++k) {
    const Kernel &kernel = problem.kernels[k];
    const Place &place = places[k];
    if (place.row < 0 || place.col < 0 || place.row > problem.rows - kernel.rows ||
        place.col > problem.cols - kernel.cols)
      return absl::FailedPreconditionError(absl::StrCat("placement: kernel ", kernel.name, " of ", kernel.rows, "x",
                                                        kernel.cols, " cores at (", place.row, ", ", place.col,
                                                        ") leaves mesh ", problem.rows, "x", problem.cols));
    if (kernel.pinnedCol && *kernel.pinnedCol != place.col)
      return absl::FailedPreconditionError(absl::StrCat("placement: kernel ", kernel.name, " is at column ", place.col,
                                                        ", but pinned to ", *kernel.pinnedCol));
    for (int32_t col = place.col; col < place.col + kernel.cols; ++col) {
      if (owner[col] >= 0)
        return absl::FailedPreconditionError(absl::StrCat("placement: kernels ", problem.kernels[owner[col]].name,
                                                          " and ", kernel.name, " both stand on column ", col));
      owner[col] = int32_t(k);
    }
  }
  for (const Edge &edge : problem.edges)
    if (edge.eastward && places[edge.to].col < places[edge.from].col + problem.kernels[edge.from].cols)
      return absl::FailedPreconditionError(absl::StrCat(
          "placement: edge ", problem.kernels[edge.from].name, " -> ", problem.kernels[edge.to].name,
          " must flow east, but columns ", places[edge.from].col, " and ", places[edge.to].col, " make it flow west"));
  return absl::OkStatus();
}

namespace {

struct Neighbour {
  int64_t words = 0;
  int32_t cols = 0;
};

// Least word-hops between a kernel of width `cols` and the kernels it sends to (or receives from).
int64_t starBound(int32_t cols, const std::vector<Neighbour> &neighbours) {
  if (neighbours.empty())
    return 0;
  std::vector<int64_t> words, distances;
  int64_t narrowest = neighbours[0].cols;
  for (const Neighbour &neighbour : neighbours)
    narrowest = std::min<int64_t>(narrowest, neighbour.cols);
  for (size_t j = 0; j < neighbours.size(); ++j) {
    words.push_back(neighbours[j].words);
    distances.push_back(1 + int64_t(j) * narrowest);
    distances.push_back(cols + narrowest - 1 + int64_t(j) * narrowest);
  }
  std::sort(words.begin(), words.end(), std::greater<>());
  std::sort(distances.begin(), distances.end());
  int64_t bound = 0;
  for (size_t j = 0; j < words.size(); ++j)
    bound += words[j] * distances[j];
  return bound;
}

// The bound by groups, over all edges.
int64_t groupBound(const Problem &problem) {
  constexpr size_t kGroup = 12;
  std::vector<int32_t> order = dataflowOrder(problem);
  std::vector<size_t> groupOf(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    groupOf[order[i]] = i / kGroup;
  // Edges by group, so that each group sees only its own.
  std::vector<Problem> groups((order.size() + kGroup - 1) / kGroup);
  for (Problem &group : groups)
    group.cols = problem.cols;
  std::vector<int32_t> indexInGroup(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    indexInGroup[order[i]] = int32_t(i % kGroup);
    groups[i / kGroup].kernels.push_back(problem.kernels[order[i]]);
  }
  int64_t bound = 0;
  for (const Edge &edge : problem.edges) {
    if (groupOf[edge.from] == groupOf[edge.to])
      groups[groupOf[edge.from]].edges.push_back(
          {indexInGroup[edge.from], indexInGroup[edge.to], edge.wordsPerSample, edge.eastward});
    else
      bound += edge.wordsPerSample;
  }
  for (const Problem &group : groups) {
    std::vector<int32_t> members(group.kernels.size());
    std::iota(members.begin(), members.end(), 0);
    bound += bestOrder(group, members).cost;
  }
  return bound;
}

int64_t hops(int32_t fromCol, int32_t fromCols, int32_t toCol) {
  return std::abs(int64_t(toCol) - (int64_t(fromCol) + fromCols - 1));
}

} // namespace

Stats evaluate(const Problem &problem, const Solution &solution) {
  Stats stats;
  int64_t exact = 0;
  std::map<std::pair<int32_t, int32_t>, int64_t> words; // of parallel edges together
  for (const Edge &edge : problem.edges) {
    const Kernel &from = problem.kernels[edge.from], &to = problem.kernels[edge.to];
    stats.value += edge.wordsPerSample * hops(solution.places[edge.from].col, from.cols, solution.places[edge.to].col);
    if (from.pinnedCol && to.pinnedCol)
      exact += edge.wordsPerSample * hops(*from.pinnedCol, from.cols, *to.pinnedCol);
    else
      words[{edge.from, edge.to}] += edge.wordsPerSample;
  }
  std::vector<std::vector<Neighbour>> receivers(problem.kernels.size()), senders(problem.kernels.size());
  for (const auto &[edge, sum] : words) {
    receivers[edge.first].push_back({sum, problem.kernels[edge.second].cols});
    senders[edge.second].push_back({sum, problem.kernels[edge.first].cols});
  }
  int64_t bySender = 0, byReceiver = 0;
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    bySender += starBound(problem.kernels[k].cols, receivers[k]);
    byReceiver += starBound(problem.kernels[k].cols, senders[k]);
  }
  stats.lowerBound = std::max(exact + std::max(bySender, byReceiver), groupBound(problem));
  return stats;
}

} // namespace wsc::solver::placement
