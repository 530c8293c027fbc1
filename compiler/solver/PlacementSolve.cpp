// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strips packed from the west in a given order, and three ways to choose the order: local search, local search from
// several starts, and exactly for few strips.
//
// Packing goes through the order with a cursor: a strip stands at the first columns from the cursor on that no pinned
// strip needs; where none are left, in the first gap anywhere. The local search swaps neighbours in the order and moves
// strips next to those they exchange words with, and keeps what lowers the cost and lets eastward edges flow east.
#include "compiler/solver/Placement.h"

#include "compiler/solver/PlacementOrder.h"
#include "runtime/base/Random.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace wsc::solver::placement {

std::vector<int32_t> dataflowOrder(const Problem &problem) {
  size_t count = problem.kernels.size();
  std::vector<std::vector<int32_t>> successors(count);
  std::vector<int64_t> waitingFor(count, 0);
  const bool someEastward =
      std::any_of(problem.edges.begin(), problem.edges.end(), [](const Edge &edge) { return edge.eastward; });
  for (const Edge &edge : problem.edges) {
    if (edge.eastward != someEastward)
      continue;
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

  // Why an order does not do: a kernel that found no space, or an eastward edge that would flow west.
  struct Failure {
    int32_t kernel = -1;
    const Edge *edge = nullptr;
  };

  // First columns per kernel; false, with the reason, if the order does not do.
  bool pack(const std::vector<int32_t> &order, std::vector<int32_t> &colOf, Failure &failure) const {
    if (!packAnyhow(order, colOf, failure.kernel))
      return false;
    const auto west = std::find_if(problem.edges.begin(), problem.edges.end(), [&](const Edge &edge) {
      return edge.eastward && colOf[edge.to] < colOf[edge.from] + problem.kernels[edge.from].cols;
    });
    if (west != problem.edges.end())
      failure.edge = &*west;
    return west == problem.edges.end();
  }

private:
  bool packAnyhow(const std::vector<int32_t> &order, std::vector<int32_t> &colOf, int32_t &failed) const {
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

absl::Status noRoom(const Problem &problem, const Packer::Failure &failure) {
  if (failure.edge)
    return absl::ResourceExhaustedError(
        absl::StrCat("edge ", problem.kernels[failure.edge->from].name, " -> ", problem.kernels[failure.edge->to].name,
                     " must flow east, which the columns left by pinned kernels do not allow; move or drop pins"));
  const int32_t failed = failure.kernel;
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
  Packer::Failure failure, ignored;
  if (packer.pack(order, colOf, failure))
    return absl::OkStatus();
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::pair(-problem.kernels[a].cols, a) < std::pair(-problem.kernels[b].cols, b);
  });
  if (packer.pack(order, colOf, ignored))
    return absl::OkStatus();
  return noRoom(problem, failure);
}

// Improves `order`, which is packed at `cols`, by swaps and moves; returns the cost.
int64_t improve(const Problem &problem, int32_t effort, std::vector<int32_t> &order, std::vector<int32_t> &cols) {
  Packer packer(problem);
  int64_t bestCost = costOf(problem, cols);
  std::vector<int32_t> candidate = cols;
  // Keeps a changed order if it fits and costs less.
  auto improves = [&](const std::vector<int32_t> &changed) {
    Packer::Failure failure;
    if (!packer.pack(changed, candidate, failure))
      return false;
    int64_t cost = costOf(problem, candidate);
    if (cost >= bestCost)
      return false;
    bestCost = cost;
    cols = candidate;
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
  return bestCost;
}

// A random order that eastward edges lead forward in.
std::vector<int32_t> randomOrder(const Problem &problem, Random &random) {
  std::vector<int64_t> waitingFor(problem.kernels.size(), 0);
  std::vector<std::vector<int32_t>> successors(problem.kernels.size());
  for (const Edge &edge : problem.edges)
    if (edge.eastward) {
      ++waitingFor[edge.to];
      successors[edge.from].push_back(edge.to);
    }
  std::vector<int32_t> ready, order;
  for (size_t k = 0; k < waitingFor.size(); ++k)
    if (waitingFor[k] == 0)
      ready.push_back(int32_t(k));
  while (!ready.empty()) {
    std::swap(ready[random.next() % ready.size()], ready.back());
    const int32_t kernel = ready.back();
    ready.pop_back();
    order.push_back(kernel);
    for (int32_t next : successors[kernel])
      if (--waitingFor[next] == 0)
        ready.push_back(next);
  }
  return order;
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
  improve(problem, effort, order, best);
  return solutionOf(best);
}

absl::StatusOr<Solution> solveRestarts(const Problem &problem, uint64_t seed, int32_t starts) {
  constexpr int32_t kPasses = 8;
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  std::vector<int32_t> order, best;
  if (absl::Status status = packFirst(problem, order, best); !status.ok())
    return status;
  int64_t least = improve(problem, kPasses, order, best);
  std::vector<int32_t> cols(best.size());
  Random random(seed);
  for (int32_t start = 0; start < starts; ++start) {
    Packer::Failure failure;
    order = randomOrder(problem, random);
    if (!Packer(problem).pack(order, cols, failure))
      continue;
    if (int64_t cost = improve(problem, kPasses, order, cols); cost < least) {
      least = cost;
      best = cols;
    }
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
  Packer::Failure failure;
  if (!Packer(problem).pack(bestOrder(problem, order).order, colOf, failure))
    return noRoom(problem, failure);
  return solutionOf(colOf);
}

absl::StatusOr<Solution> solve(const Problem &problem) {
  if (problem.kernels.size() <= 12 && !hasPin(problem))
    return solveExact(problem);
  return solveLocalSearch(problem);
}

} // namespace wsc::solver::placement
