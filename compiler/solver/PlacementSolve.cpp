// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strips packed from the west in a given order, and two ways to choose the order: local search, and exactly for few
// strips.
//
// Packing goes through the order with a cursor: a strip stands at the first columns from the cursor on that no pinned
// strip needs; where none are left, in the first gap anywhere. The local search swaps neighbours in the order and moves
// strips next to those they exchange words with, and keeps what lowers the cost.
#include "compiler/solver/Placement.h"

#include "compiler/solver/PlacementOrder.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace wsc::solver::placement {

std::vector<int32_t> dataflowOrder(const Problem &problem) {
  size_t count = problem.kernels.size();
  std::vector<std::vector<int32_t>> successors(count);
  std::vector<int64_t> waitingFor(count, 0);
  for (const Edge &edge : problem.edges) {
    successors[edge.from].push_back(edge.to);
    ++waitingFor[edge.to];
  }
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready;
  for (size_t k = 0; k < count; ++k)
    if (waitingFor[k] == 0)
      ready.push(int32_t(k));
  std::vector<int32_t> order;
  std::vector<bool> done(count, false);
  size_t firstOpen = 0; // for cycles: the first kernel in the list that is not done
  while (order.size() < count) {
    if (ready.empty()) {
      while (done[firstOpen])
        ++firstOpen;
      ready.push(int32_t(firstOpen));
    }
    int32_t kernel = ready.top();
    ready.pop();
    if (done[kernel])
      continue;
    done[kernel] = true;
    order.push_back(kernel);
    for (int32_t next : successors[kernel])
      if (--waitingFor[next] == 0 && !done[next])
        ready.push(next);
  }
  return order;
}

namespace {

class Packer {
public:
  explicit Packer(const Problem &problem) : problem(problem) {
    for (const Kernel &kernel : problem.kernels)
      if (kernel.pinnedCol)
        pins.push_back({*kernel.pinnedCol, *kernel.pinnedCol + kernel.cols});
    std::sort(pins.begin(), pins.end());
  }

  // First columns per kernel; false, with the kernel that found no room, if the order does not fit.
  bool pack(const std::vector<int32_t> &order, std::vector<int32_t> &colOf, int32_t &failed) const {
    std::vector<Interval> taken; // pinned and placed, ascending; filled where the cursor has left gaps behind
    bool filling = false;
    int32_t cursor = 0;
    size_t pin = 0; // first pinned strip that ends after the cursor
    for (size_t i = 0; i < order.size(); ++i) {
      const Kernel &kernel = problem.kernels[order[i]];
      if (kernel.pinnedCol) {
        colOf[order[i]] = *kernel.pinnedCol;
        if (*kernel.pinnedCol >= cursor)
          cursor = *kernel.pinnedCol + kernel.cols;
        continue;
      }
      if (!filling) {
        while (pin < pins.size() && cursor + kernel.cols > pins[pin].begin) {
          cursor = std::max(cursor, pins[pin].end);
          ++pin;
        }
        if (cursor + kernel.cols <= problem.cols) {
          colOf[order[i]] = cursor;
          cursor += kernel.cols;
          continue;
        }
        filling = true;
        taken = pins;
        for (size_t j = 0; j < i; ++j)
          if (const Kernel &before = problem.kernels[order[j]]; !before.pinnedCol)
            taken.push_back({colOf[order[j]], colOf[order[j]] + before.cols});
        std::sort(taken.begin(), taken.end());
      }
      int32_t col = 0;
      auto next = taken.begin();
      for (; next != taken.end() && col + kernel.cols > next->begin; ++next)
        col = std::max(col, next->end);
      if (col + kernel.cols > problem.cols) {
        failed = order[i];
        return false;
      }
      colOf[order[i]] = col;
      taken.insert(next, {col, col + kernel.cols});
    }
    return true;
  }

private:
  struct Interval {
    int32_t begin, end;
    bool operator<(const Interval &other) const { return begin < other.begin; }
  };
  const Problem &problem;
  std::vector<Interval> pins;
};

bool hasPin(const Problem &problem) {
  return std::any_of(problem.kernels.begin(), problem.kernels.end(),
                     [](const Kernel &kernel) { return kernel.pinnedCol.has_value(); });
}

absl::Status noRoom(const Problem &problem, int32_t failed) {
  std::vector<int32_t> byWidth(problem.kernels.size());
  std::iota(byWidth.begin(), byWidth.end(), 0);
  std::sort(byWidth.begin(), byWidth.end(), [&](int32_t a, int32_t b) {
    return std::pair(-problem.kernels[a].cols, a) < std::pair(-problem.kernels[b].cols, b);
  });
  int64_t columns = 0;
  for (const Kernel &kernel : problem.kernels)
    columns += kernel.cols;
  std::string widest;
  for (size_t i = 0; i < byWidth.size() && i < 5; ++i)
    absl::StrAppend(&widest, i ? ", " : "", problem.kernels[byWidth[i]].name, " ", problem.kernels[byWidth[i]].cols);
  const char *way = columns > problem.cols ? "choose narrower kernels or a larger mesh"
                    : hasPin(problem)      ? "the gaps between pinned kernels are too narrow: move or drop pins"
                                           : "choose narrower kernels";
  return absl::ResourceExhaustedError(absl::StrCat("kernel ", problem.kernels[failed].name, " finds no ",
                                                   problem.kernels[failed].cols, " free columns; all kernels need ",
                                                   columns, " columns, the mesh has ", problem.cols,
                                                   "; the widest: ", widest, "; ", way));
}

Solution solutionOf(const std::vector<int32_t> &colOf) {
  Solution solution;
  for (int32_t col : colOf)
    solution.places.push_back({0, col});
  return solution;
}

int64_t costOf(const Problem &problem, const std::vector<int32_t> &colOf) {
  int64_t cost = 0;
  for (const Edge &edge : problem.edges)
    cost += edge.wordsPerSample *
            std::abs(int64_t(colOf[edge.to]) - (int64_t(colOf[edge.from]) + problem.kernels[edge.from].cols - 1));
  return cost;
}

// Packs in dataflow order, or widest first if that order leaves gaps too narrow for a strip.
absl::Status packFirst(const Problem &problem, std::vector<int32_t> &order, std::vector<int32_t> &colOf) {
  order = dataflowOrder(problem);
  colOf.assign(problem.kernels.size(), 0);
  Packer packer(problem);
  int32_t failed = 0, ignored = 0;
  if (packer.pack(order, colOf, failed))
    return absl::OkStatus();
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::pair(-problem.kernels[a].cols, a) < std::pair(-problem.kernels[b].cols, b);
  });
  if (packer.pack(order, colOf, ignored))
    return absl::OkStatus();
  return noRoom(problem, failed);
}

} // namespace

absl::StatusOr<Solution> solveInOrder(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  std::vector<int32_t> order, colOf;
  if (absl::Status status = packFirst(problem, order, colOf); !status.ok())
    return status;
  return solutionOf(colOf);
}

absl::StatusOr<Solution> solveLocalSearch(const Problem &problem, int32_t effort) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  std::vector<int32_t> order, best;
  if (absl::Status status = packFirst(problem, order, best); !status.ok())
    return status;
  Packer packer(problem);
  int64_t bestCost = costOf(problem, best);
  std::vector<int32_t> candidate = best;
  // Keeps a changed order if it fits and costs less.
  auto improves = [&](const std::vector<int32_t> &changed) {
    int32_t failed = 0;
    if (!packer.pack(changed, candidate, failed))
      return false;
    int64_t cost = costOf(problem, candidate);
    if (cost >= bestCost)
      return false;
    bestCost = cost;
    best = candidate;
    return true;
  };
  for (int32_t pass = 0; pass < effort; ++pass) {
    int64_t before = bestCost;
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      std::swap(order[i], order[i + 1]);
      if (!improves(order))
        std::swap(order[i], order[i + 1]);
    }
    // Either end of each edge moves to the place just before and just behind the other.
    for (const Edge &edge : problem.edges)
      for (auto [moved, anchor] : {std::pair{edge.from, edge.to}, std::pair{edge.to, edge.from}})
        for (int behind : {0, 1}) {
          std::vector<int32_t> changed = order;
          changed.erase(std::find(changed.begin(), changed.end(), moved));
          changed.insert(std::find(changed.begin(), changed.end(), anchor) + behind, moved);
          if (improves(changed))
            order = changed;
        }
    if (bestCost == before)
      break;
  }
  return solutionOf(best);
}

absl::StatusOr<Solution> solveExact(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  constexpr size_t kMost = 16;
  if (problem.kernels.size() > kMost || hasPin(problem))
    return absl::InvalidArgumentError(absl::StrCat("placement: the exact algorithm takes up to ", kMost,
                                                   " kernels without pins, not ", problem.kernels.size(),
                                                   hasPin(problem) ? " with pins" : ""));
  std::vector<int32_t> order(problem.kernels.size()), colOf(problem.kernels.size());
  std::iota(order.begin(), order.end(), 0);
  int32_t failed = 0;
  if (!Packer(problem).pack(bestOrder(problem, order).order, colOf, failed))
    return noRoom(problem, failed);
  return solutionOf(colOf);
}

absl::StatusOr<Solution> solve(const Problem &problem) {
  if (problem.kernels.size() <= 12 && !hasPin(problem))
    return solveExact(problem);
  return solveLocalSearch(problem);
}

} // namespace wsc::solver::placement
