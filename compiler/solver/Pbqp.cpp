// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/solver/Pbqp.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace wsc::solver::pbqp {

namespace {

constexpr int64_t kMostCost = int64_t(1) << 52, kMostTotal = int64_t(1) << 60;
constexpr size_t kMostNodes = size_t(1) << 20, kMostOptions = size_t(1) << 10;

/// Costs of a node's options (rows) with those of a neighbour (columns).
struct Matrix {
  size_t cols = 0;
  std::vector<int64_t> costs;
  int64_t at(size_t row, size_t col) const { return costs[row * cols + col]; }
};

class Reducer {
public:
  explicit Reducer(const Problem &problem) : neighbours(problem.nodes.size()) {
    for (const Node &node : problem.nodes)
      costs.push_back(node.costs);
    for (const Edge &edge : problem.edges)
      join(size_t(edge.a), size_t(edge.b), {costs[size_t(edge.b)].size(), edge.costs});
    for (size_t n = 0; n < costs.size(); ++n)
      order.emplace(neighbours[n].size(), n);
  }

  /// Takes nodes away until none is left. `relax`: those with three and more neighbours choose by the bound's rule, not
  /// the solution's. The sum of what is certain: the least total, or a bound of it.
  int64_t reduce(bool relax) {
    int64_t total = 0;
    while (!order.empty()) {
      // Most neighbours where all have more than two, else fewest.
      const bool isCertain = order.begin()->first <= 2;
      size_t n = order.begin()->second;
      if (!isCertain)
        n = order.lower_bound({order.rbegin()->first, 0})->second;
      if (isCertain)
        total += fold(n);
      else
        total += relax ? relaxed(n) : chosen(n);
    }
    return total;
  }

  /// Options of all nodes, those taken away last first.
  std::vector<int32_t> options() const {
    std::vector<int32_t> optionOf(costs.size(), 0);
    for (auto step = taken.rbegin(); step != taken.rend(); ++step) {
      std::vector<int64_t> sums = costs[step->node];
      for (const auto &[other, matrix] : step->neighbours)
        for (size_t i = 0; i < sums.size(); ++i)
          sums[i] += matrix.at(i, size_t(optionOf[other]));
      optionOf[step->node] =
          step->option >= 0 ? step->option : int32_t(std::min_element(sums.begin(), sums.end()) - sums.begin());
    }
    return optionOf;
  }

private:
  using Neighbours = std::map<size_t, Matrix>;
  struct Step {
    size_t node = 0;
    int32_t option = -1; // −1: as those that are left choose
    Neighbours neighbours;
  };

  /// Adds costs of a's options with b's.
  void join(size_t a, size_t b, const Matrix &added) {
    const size_t rows = costs[a].size(), cols = costs[b].size();
    Matrix &there = neighbours[a][b], &back = neighbours[b][a];
    if (there.costs.empty()) {
      there = {cols, std::vector<int64_t>(rows * cols, 0)};
      back = {rows, std::vector<int64_t>(rows * cols, 0)};
    }
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < cols; ++j) {
        there.costs[i * cols + j] += added.at(i, j);
        back.costs[j * rows + i] += added.at(i, j);
      }
  }

  /// The node with its edges, out of the graph.
  Neighbours take(size_t n, int32_t option) {
    order.erase({neighbours[n].size(), n});
    Neighbours own = std::move(neighbours[n]);
    neighbours[n].clear();
    for (const auto &[other, matrix] : own) {
      order.erase({neighbours[other].size(), other});
      neighbours[other].erase(n);
      order.emplace(neighbours[other].size(), other);
    }
    taken.push_back({n, option, own});
    return own;
  }

  /// A node with up to two neighbours: for each pair of their options its own cheapest answer.
  int64_t fold(size_t n) {
    const Neighbours own = take(n, -1);
    const std::vector<int64_t> &of = costs[n];
    if (own.empty())
      return *std::min_element(of.begin(), of.end());
    const auto &[a, toA] = *own.begin();
    if (own.size() == 1) {
      for (size_t j = 0; j < costs[a].size(); ++j) {
        int64_t least = INT64_MAX;
        for (size_t i = 0; i < of.size(); ++i)
          least = std::min(least, of[i] + toA.at(i, j));
        costs[a][j] += least;
      }
      return 0;
    }
    const auto &[b, toB] = *own.rbegin();
    const size_t rows = costs[a].size(), cols = costs[b].size();
    Matrix least{cols, std::vector<int64_t>(rows * cols, INT64_MAX)};
    for (size_t i = 0; i < of.size(); ++i)
      for (size_t j = 0; j < rows; ++j) {
        const int64_t base = of[i] + toA.at(i, j);
        const int64_t *from = &toB.costs[i * cols];
        int64_t *to = &least.costs[j * cols];
        for (size_t k = 0; k < cols; ++k)
          to[k] = std::min(to[k], base + from[k]);
      }
    order.erase({neighbours[a].size(), a});
    order.erase({neighbours[b].size(), b});
    join(a, b, least);
    order.emplace(neighbours[a].size(), a);
    order.emplace(neighbours[b].size(), b);
    return 0;
  }

  /// The cheapest option with each neighbour's cheapest answer; with the neighbours' own costs where it is to be taken.
  std::pair<size_t, int64_t> cheapest(size_t n, bool withAnswers) const {
    std::pair<size_t, int64_t> best(0, INT64_MAX);
    for (size_t i = 0; i < costs[n].size(); ++i) {
      int64_t sum = costs[n][i];
      for (const auto &[other, matrix] : neighbours[n]) {
        int64_t least = INT64_MAX;
        for (size_t j = 0; j < matrix.cols; ++j)
          least = std::min(least, matrix.at(i, j) + (withAnswers ? costs[other][j] : 0));
        sum += least;
      }
      if (sum < best.second)
        best = {i, sum};
    }
    return best;
  }

  int64_t relaxed(size_t n) {
    const int64_t least = cheapest(n, false).second;
    take(n, 0);
    return least;
  }

  int64_t chosen(size_t n) {
    const size_t option = cheapest(n, true).first;
    const Neighbours own = take(n, int32_t(option));
    for (const auto &[other, matrix] : own)
      for (size_t j = 0; j < matrix.cols; ++j)
        costs[other][j] += matrix.at(option, j);
    return costs[n][option];
  }

  std::vector<std::vector<int64_t>> costs;
  std::vector<Neighbours> neighbours;
  std::set<std::pair<size_t, size_t>> order; // number of neighbours, node
  std::vector<Step> taken;
};

/// Single nodes choose again until none gains.
void improve(const Problem &problem, std::vector<int32_t> &optionOf) {
  std::vector<std::vector<const Edge *>> edges(problem.nodes.size());
  for (const Edge &edge : problem.edges)
    for (int32_t node : {edge.a, edge.b})
      edges[size_t(node)].push_back(&edge);
  for (bool gains = true; gains;) {
    gains = false;
    for (size_t n = 0; n < problem.nodes.size(); ++n) {
      std::vector<int64_t> sums = problem.nodes[n].costs;
      for (const Edge *edge : edges[n]) {
        const size_t cols = problem.nodes[size_t(edge->b)].costs.size();
        for (size_t i = 0; i < sums.size(); ++i)
          sums[i] += size_t(edge->a) == n ? edge->costs[i * cols + size_t(optionOf[size_t(edge->b)])]
                                          : edge->costs[size_t(optionOf[size_t(edge->a)]) * cols + i];
      }
      const auto least = std::min_element(sums.begin(), sums.end());
      if (*least < sums[size_t(optionOf[n])]) {
        optionOf[n] = int32_t(least - sums.begin());
        gains = true;
      }
    }
  }
}

} // namespace

absl::Status Problem::check() const {
  auto refuse = [](auto &&...parts) { return absl::InvalidArgumentError(absl::StrCat("pbqp: ", parts...)); };
  if (nodes.size() > kMostNodes)
    return refuse(nodes.size(), " nodes, must be at most 2^20");
  int64_t total = 0;
  auto costsAreWithin = [&](const std::vector<int64_t> &costs) {
    int64_t most = 0;
    for (int64_t cost : costs)
      if (cost < 0 || cost > kMostCost)
        return false;
      else
        most = std::max(most, cost);
    total = std::min(kMostTotal + 1, total + most);
    return true;
  };
  for (const Node &node : nodes) {
    if (node.costs.empty() || node.costs.size() > kMostOptions)
      return refuse("node ", node.name, " has ", node.costs.size(), " options, must be 1 to 2^10");
    if (!costsAreWithin(node.costs))
      return refuse("node ", node.name, " has a cost outside 0 to 2^52");
  }
  for (const Edge &edge : edges) {
    const std::string what = absl::StrCat("edge ", edge.a, " ", edge.b);
    for (int32_t node : {edge.a, edge.b})
      if (node < 0 || size_t(node) >= nodes.size())
        return refuse(what, ": no node ", node, ", there are ", nodes.size());
    if (edge.a == edge.b)
      return refuse(what, " joins a node with itself");
    const size_t pairs = nodes[size_t(edge.a)].costs.size() * nodes[size_t(edge.b)].costs.size();
    if (edge.costs.size() != pairs)
      return refuse(what, " has ", edge.costs.size(), " costs, its nodes have ", pairs, " pairs of options");
    if (!costsAreWithin(edge.costs))
      return refuse(what, " has a cost outside 0 to 2^52");
  }
  if (total > kMostTotal)
    return refuse("costs may sum up to more than 2^60");
  return absl::OkStatus();
}

absl::Status Solution::verify(const Problem &problem) const {
  if (optionOf.size() != problem.nodes.size())
    return absl::FailedPreconditionError(
        absl::StrCat("pbqp: options for ", optionOf.size(), " of ", problem.nodes.size(), " nodes"));
  for (size_t n = 0; n < optionOf.size(); ++n)
    if (optionOf[n] < 0 || size_t(optionOf[n]) >= problem.nodes[n].costs.size())
      return absl::FailedPreconditionError(absl::StrCat("pbqp: node ", problem.nodes[n].name, " has no option ",
                                                        optionOf[n], ", it has ", problem.nodes[n].costs.size()));
  return absl::OkStatus();
}

absl::StatusOr<Solution> solve(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  Reducer reducer(problem);
  reducer.reduce(false);
  Solution solution{reducer.options()};
  improve(problem, solution.optionOf);
  return solution;
}

Stats evaluate(const Problem &problem, const Solution &solution) {
  Stats stats;
  for (size_t n = 0; n < problem.nodes.size(); ++n)
    stats.value += problem.nodes[n].costs[size_t(solution.optionOf[n])];
  for (const Edge &edge : problem.edges)
    stats.value += edge.costs[size_t(solution.optionOf[size_t(edge.a)]) * problem.nodes[size_t(edge.b)].costs.size() +
                              size_t(solution.optionOf[size_t(edge.b)])];
  stats.lowerBound = Reducer(problem).reduce(true);
  return stats;
}

} // namespace wsc::solver::pbqp
