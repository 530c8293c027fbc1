// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DSATUR: always the uncoloured item that sees most different colours around it (D. Brélaz, CACM 22, 1979); where no
// colour is left for it, one is freed by a Kempe exchange (two colours swapped in one connected part around the item)
// if that is possible.
//
// A heap holds (saturation, conflicts, order) entries; an entry whose saturation has grown since is skipped when it
// comes up.
#include "compiler/solver/ColouringConflicts.h"

#include <bit>
#include <queue>
#include <tuple>

namespace wsc::solver::colouring {

namespace {

class Dsatur {
public:
  Dsatur(const Problem &problem, const ConflictGraph &graph)
      : problem(problem), colours(problem), graph(graph), around(problem.items.size(), 0),
        bitOf(problem.items.size(), -1) {}

  Attempt run() {
    for (size_t i = 0; i < problem.items.size(); ++i) {
      if (!problem.items[i].fixedColour)
        continue;
      int bit = std::countr_zero(colours.bitOf(*problem.items[i].fixedColour));
      assign(int32_t(i), bit);
    }
    for (size_t i = 0; i < problem.items.size(); ++i)
      push(int32_t(i));
    while (!heap.empty()) {
      auto [saturation, degree, negated] = heap.top();
      heap.pop();
      int32_t item = -negated;
      if (bitOf[item] >= 0 || saturation != saturationOf(item))
        continue;
      if (!(colours.available & ~around[item]) && !exchange(item))
        return {{}, item};
      assign(item, std::countr_zero(colours.available & ~around[item]));
    }
    Attempt attempt;
    for (int bit : bitOf)
      attempt.solution.colourOf.push_back(colours.colours[bit]);
    return attempt;
  }

private:
  int saturationOf(int32_t item) const { return std::popcount(around[item] & colours.available); }
  void push(int32_t item) {
    if (bitOf[item] < 0)
      heap.push({saturationOf(item), graph.first[item + 1] - graph.first[item], -item});
  }
  template <typename Visit> void forNeighbours(int32_t item, Visit visit) const {
    for (int64_t n = graph.first[item]; n < graph.first[item + 1]; ++n)
      visit(graph.neighbours[n]);
  }
  void assign(int32_t item, int bit) {
    bitOf[item] = bit;
    forNeighbours(item, [&](int32_t other) {
      int before = saturationOf(other);
      around[other] |= uint64_t(1) << bit;
      if (saturationOf(other) != before)
        push(other);
    });
  }
  // Recomputes what surrounds an item after colours have been exchanged.
  void refresh(int32_t item) {
    int before = saturationOf(item);
    around[item] = 0;
    forNeighbours(item, [&](int32_t other) {
      if (bitOf[other] >= 0)
        around[item] |= uint64_t(1) << bitOf[other];
    });
    if (saturationOf(item) != before)
      push(item);
  }

  // Frees a colour for `item`: for two colours a and b, every part of a- and b-coloured items that touches an
  // a-coloured neighbour of it is swapped, provided that none holds a b-coloured neighbour or a fixed item.
  bool exchange(int32_t item) {
    int count = std::popcount(colours.available);
    for (int a = 0; a < count; ++a)
      for (int b = 0; b < count; ++b)
        if (a != b && exchange(item, a, b))
          return true;
    return false;
  }
  bool exchange(int32_t item, int a, int b) {
    std::vector<int32_t> part;
    std::vector<bool> seen(problem.items.size(), false), neighbour(problem.items.size(), false);
    bool possible = true;
    auto visit = [&](int32_t other) {
      if (seen[other] || (bitOf[other] != a && bitOf[other] != b))
        return;
      seen[other] = true;
      part.push_back(other);
      if (problem.items[other].fixedColour || (neighbour[other] && bitOf[other] == b))
        possible = false;
    };
    forNeighbours(item, [&](int32_t other) { neighbour[other] = true; });
    forNeighbours(item, [&](int32_t other) {
      if (bitOf[other] == a)
        visit(other);
    });
    for (size_t next = 0; next < part.size() && possible; ++next)
      forNeighbours(part[next], visit);
    if (!possible)
      return false;
    for (int32_t other : part)
      bitOf[other] = bitOf[other] == a ? b : a;
    for (int32_t other : part) {
      refresh(other);
      forNeighbours(other, [&](int32_t next) { refresh(next); });
    }
    return true;
  }

  const Problem &problem;
  ColourBits colours;
  const ConflictGraph &graph;
  std::vector<uint64_t> around; // colours of each item's neighbours
  std::vector<int> bitOf;       // per item, -1: none yet
  std::priority_queue<std::tuple<int, int64_t, int32_t>> heap;
};

} // namespace

absl::StatusOr<Attempt> tryDsatur(const Problem &problem, const ConflictGraph &graph) {
  if (absl::Status status = checkFixed(problem); !status.ok())
    return status;
  return Dsatur(problem, graph).run();
}

absl::StatusOr<Solution> solveDsatur(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  if (absl::Status status = checkLoad(problem); !status.ok())
    return status;
  return finish(problem, tryDsatur(problem, ConflictGraph(problem)));
}

} // namespace wsc::solver::colouring
