// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/mapping/PlaceNetwork.h"

#include "compiler/kernels/mapping/Generate.h"
#include "compiler/kernels/network/CoLocation.h"
#include "compiler/kernels/network/StateLayout.h"
#include "compiler/kernels/sizing/MappingScore.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <optional>

namespace wsc::kernels {

absl::Status placeInOrder(const target::Target &target, NetworkPlan &network) {
  if (network.grid.height() > target.rows)
    return absl::ResourceExhaustedError(absl::StrCat("the network is spread over ", network.grid.height(),
                                                     " rows, target ", target.name, " has ", target.rows,
                                                     "; size it for this target"));
  int32_t col = 0, free = freeColumns(target, network);
  for (KernelPlan &kernel : network.kernels) {
    if (kernel.spec.state) {
      const VariablePlan &variable = network.variables[kernel.spec.state->variable];
      if (kernel.placement.col >= 0 && kernel.placement.col != variable.col)
        return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.spec.name, " cannot lie at column ",
                                                       kernel.placement.col, ": its variable ", variable.tensor.name,
                                                       " lies at column ", variable.col));
      kernel.placement.col = variable.col;
      continue;
    }
    if (kernel.host >= 0)
      continue; // on its host's first column
    if (kernel.placement.col >= 0) {
      if (kernel.placement.col < col)
        return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.spec.name, " cannot begin at column ",
                                                       kernel.placement.col, ": columns up to ", col,
                                                       " are taken by kernels before it"));
      col = kernel.placement.col;
    }
    kernel.placement.col = col;
    col += kernel.width();
  }
  for (const KernelPlan &coLocated : network.kernels)
    if (coLocated.host >= 0 && coLocated.placement.col >= 0)
      if (const KernelPlan &host = network.kernels[size_t(coLocated.host)];
          coLocated.placement.col != host.placement.col)
        return absl::InvalidArgumentError(
            absl::StrCat("kernel ", coLocated.spec.name, " cannot lie at column ", coLocated.placement.col,
                         ": as a co-located kernel it lies with ", host.spec.name, " at column ", host.placement.col));
  placeCoLocated(network);
  if (col > free)
    return absl::ResourceExhaustedError(
        absl::StrCat("the network needs ", col, " columns, target ", target.name, " has ", free,
                     free < target.cols ? " west of the state variables" : "", "; use a larger mesh"));
  return absl::OkStatus();
}

solver::placement::Problem placementProblem(const target::Target &target, const NetworkPlan &network,
                                            std::vector<int32_t> &kernels) {
  constexpr int64_t kMostWords = int64_t(1) << 24; // of an edge, as the problem allows
  solver::placement::Problem problem{target.rows, freeColumns(target, network), {}, {}};
  std::vector<int32_t> indexOf(network.kernels.size(), -1);
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    const KernelPlan &plan = network.kernels[k];
    if (plan.spec.state || plan.host >= 0)
      continue;
    indexOf[k] = int32_t(kernels.size());
    if (plan.coLocated >= 0)
      indexOf[size_t(plan.coLocated)] = indexOf[k];
    kernels.push_back(int32_t(k));
    problem.kernels.push_back({plan.spec.name, int32_t(network.grid.rowsUsed), plan.width(), {}});
  }
  for (const StreamPlan &stream : network.streams) {
    const int32_t from = stream.producer < 0 ? -1 : indexOf[stream.producer];
    const Plane &plane = stream.layout.plane;
    const int64_t words = plane.channels * stream.layout.liveRows() * plane.width;
    for (int32_t consumer : stream.consumers)
      if (const int32_t to = indexOf[consumer]; from >= 0 && to >= 0 && from != to)
        problem.edges.push_back({from, to, std::min(words, kMostWords), true});
  }
  return problem;
}

namespace {

// A placed network to compare. Routing takes long, so it is only done where the bound does not tell.
struct Order {
  explicit Order(const target::Target &target, NetworkPlan placed)
      : network(std::move(placed)), least(leastScoreOf(target, network)) {}

  // None: it cannot be routed.
  const std::optional<MappingScore> &score(const target::Target &target) {
    if (!isRouted) {
      isRouted = true;
      NetworkPlan routed = network;
      if (turnNetwork(target, routed).ok())
        routedScore = scoreOf(target, routed);
    }
    return routedScore;
  }

  NetworkPlan network;
  MappingScore least; // no turns make it better

private:
  bool isRouted = false;
  std::optional<MappingScore> routedScore;
};

// Whether `other` can be routed, and with a better score than `order`, if that can be. The more promising is routed
// first, and often that tells.
bool isBetter(const target::Target &target, Order &other, Order &order) {
  if (other.least.isBetterThan(order.least)) {
    if (!other.score(target))
      return false;
    if (other.score(target)->isBetterThan(order.least))
      return true;
  } else if (order.score(target) && !other.least.isBetterThan(*order.score(target))) {
    return false;
  }
  return other.score(target) && (!order.score(target) || other.score(target)->isBetterThan(*order.score(target)));
}

} // namespace

absl::Status placeNetwork(const target::Target &target, NetworkPlan &network, const SearchOptions &options) {
  constexpr int32_t kStarts = 32;
  const bool isFixed = std::any_of(network.kernels.begin(), network.kernels.end(),
                                   [](const KernelPlan &plan) { return plan.placement.col >= 0 && !plan.spec.state; });
  if (absl::Status status = placeInOrder(target, network); !status.ok())
    return status;
  if (isFixed || options.effort == Effort::Fast)
    return absl::OkStatus();

  std::vector<int32_t> kernels;
  const solver::placement::Problem problem = placementProblem(target, network, kernels);
  std::vector<absl::StatusOr<solver::placement::Solution>> solutions{solver::placement::solveLocalSearch(problem)};
  if (options.effort == Effort::High)
    solutions.push_back(solver::placement::solveRestarts(problem, options.seed, kStarts));
  std::optional<Order> best; // `network` as it is placed, once there is another order to compare with
  for (const auto &solution : solutions) {
    if (!solution.ok() || !solution->verify(problem).ok())
      continue;
    NetworkPlan placed = network;
    bool differs = false;
    for (size_t i = 0; i < kernels.size(); ++i) {
      int32_t &col = placed.kernels[kernels[i]].placement.col;
      differs |= col != solution->places[i].col;
      col = solution->places[i].col;
    }
    placeCoLocated(placed);
    if (!differs)
      continue;
    if (!best)
      best.emplace(target, network);
    Order other(target, std::move(placed));
    if (isBetter(target, other, *best)) {
      network = other.network;
      best = std::move(other);
    }
  }
  return absl::OkStatus();
}

} // namespace wsc::kernels
