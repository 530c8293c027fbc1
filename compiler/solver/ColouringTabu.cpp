// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tabu search over partial colourings (I. Blöchliger, N. Zufferey, "A graph coloring heuristic using partial solutions
// and a reactive tabu scheme", Computers & Operations Research 35, 2008; here with the dynamic tenure). Some items are
// without a colour. A step gives one of them the colour that the fewest of its neighbours hold, takes it from those,
// and keeps them from getting it back for a while.
#include "compiler/solver/ColouringConflicts.h"

#include "runtime/base/Random.h"

#include <algorithm>
#include <bit>

namespace wsc::solver::colouring {

namespace {

// Steps in all, and without a better colouring. Networks' colourings gave their best within 3,200 steps of a search,
// and most searches end without a whole one.
constexpr int64_t kSteps = 30'000, kIdleSteps = 4'000;

// More than the neighbours of any item.
constexpr int32_t kKept = int32_t(1) << 30;

class TabuSearch {
public:
  TabuSearch(const Problem &problem, const ConflictGraph &graph)
      : problem(problem), colours(problem), graph(graph), count(problem.colours.size()),
        bitOf(problem.items.size(), -1), holders(problem.items.size() * count, 0),
        allowedFrom(problem.items.size() * count, 0) {}

  Partial run(int64_t least) {
    begin();
    Partial best{solution(), without};
    int64_t end = kIdleSteps;
    for (int64_t step = 0; step < std::min(end, kSteps) && int64_t(without.size()) > least; ++step) {
      improve(step);
      if (without.size() < best.without.size()) {
        best = {solution(), without};
        end = step + kIdleSteps;
      }
    }
    std::sort(best.without.begin(), best.without.end());
    return best;
  }

private:
  template <typename Visit> void forNeighbours(int32_t item, Visit visit) const {
    for (int64_t n = graph.first[size_t(item)]; n < graph.first[size_t(item) + 1]; ++n)
      visit(graph.neighbours[size_t(n)]);
  }
  Solution solution() const {
    Solution result;
    for (int bit : bitOf)
      result.colourOf.push_back(bit < 0 ? -1 : colours.colours[size_t(bit)]);
    return result;
  }
  size_t at(int32_t item, int bit) const { return size_t(item) * count + size_t(bit); }

  void colour(int32_t item, int bit) {
    bitOf[size_t(item)] = bit;
    forNeighbours(item, [&](int32_t other) { ++holders[at(other, bit)]; });
  }
  void uncolour(int32_t item) {
    const int bit = bitOf[size_t(item)];
    bitOf[size_t(item)] = -1;
    forNeighbours(item, [&](int32_t other) { --holders[at(other, bit)]; });
  }

  // First fit in the given order; items that find nothing stay without.
  void begin() {
    for (size_t i = 0; i < problem.items.size(); ++i) {
      if (!problem.items[i].fixedColour)
        continue;
      bitOf[i] = std::countr_zero(colours.bitOf(*problem.items[i].fixedColour));
      if (bitOf[i] < int(count))
        forNeighbours(int32_t(i), [&](int32_t other) { holders[at(other, bitOf[i])] = kKept; });
    }
    for (int32_t item = 0; item < int32_t(problem.items.size()); ++item) {
      if (bitOf[size_t(item)] >= 0)
        continue;
      int bit = 0;
      while (bit < int(count) && holders[at(item, bit)] > 0)
        ++bit;
      if (bit < int(count))
        colour(item, bit);
      else
        without.push_back(item);
    }
  }

  void improve(int64_t step) {
    int32_t fewest = kKept - 1, ties = 0;
    size_t chosen = 0;
    int bit = -1;
    for (size_t u = 0; u < without.size(); ++u)
      for (int b = 0; b < int(count); ++b) {
        const size_t cell = at(without[u], b);
        // Forbidden, unless it leaves fewer items without a colour.
        if (holders[cell] > fewest || (allowedFrom[cell] > step && holders[cell] > 0))
          continue;
        ties = holders[cell] < fewest ? 1 : ties + 1;
        fewest = holders[cell];
        if (ties == 1 || random.below(uint64_t(ties)) == 0) {
          chosen = u;
          bit = b;
        }
      }
    if (bit < 0)
      return; // all are forbidden for now
    const int32_t item = without[chosen];
    without[chosen] = without.back();
    without.pop_back();
    const int64_t tenure = random.in(0, 9) + int64_t(without.size()) * 6 / 10;
    forNeighbours(item, [&](int32_t other) {
      if (bitOf[size_t(other)] != bit || problem.items[size_t(other)].fixedColour)
        return;
      uncolour(other);
      without.push_back(other);
      allowedFrom[at(other, bit)] = step + 1 + tenure;
    });
    colour(item, bit);
  }

  const Problem &problem;
  ColourBits colours;
  const ConflictGraph &graph;
  size_t count;                     // of colours
  std::vector<int> bitOf;           // per item, -1: none
  std::vector<int32_t> holders;     // per item and colour: neighbours that hold it; from kKept on one never loses it
  std::vector<int64_t> allowedFrom; // the same: the step from which the item may have it again
  std::vector<int32_t> without;
  Random random{1};
};

} // namespace

absl::StatusOr<Partial> searchTabu(const Problem &problem, const ConflictGraph &graph, int64_t least) {
  if (absl::Status status = checkFixed(problem); !status.ok())
    return status;
  return TabuSearch(problem, graph).run(least);
}

absl::StatusOr<Solution> solveTabu(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  if (absl::Status status = checkLoad(problem); !status.ok())
    return status;
  auto partial = searchTabu(problem, ConflictGraph(problem), /*least=*/0);
  if (!partial.ok())
    return partial.status();
  if (!partial->without.empty())
    return noColour(problem, partial->without.front());
  return std::move(partial->solution);
}

} // namespace wsc::solver::colouring
