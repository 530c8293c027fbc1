// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/Repair.h"

#include "compiler/kernels/Candidates.h"
#include "compiler/kernels/ChannelBlocks.h"
#include "compiler/kernels/Cost.h"
#include "compiler/kernels/LinkLoads.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace wsc::kernels {

namespace {

// Candidates tried for a kernel at most, narrowest first.
constexpr int kMostTries = 12;
// Waiting for links is predicted less exactly than issue slots are: this part of the interval is let pass.
constexpr int64_t kContentionPart = 16;

// Gives kernel `index` a candidate's mapping and lets the kernels before it cut their channels to it.
void apply(NetworkPlan &network, int32_t index, const solver::sizing::Candidate &candidate) {
  applyCandidate(network, index, candidate);
  layOutLanes(network, network.kernels[index].spec.outStream);
  for (const KernelInput &input : network.kernels[index].spec.inputs)
    for (int32_t stream : input.streams) {
      if (int32_t producer = network.streams[stream].producer; producer >= 0)
        chooseBlocks(network, network.kernels[producer]);
      else
        chooseNominalBlocks(network, stream);
      layOutLanes(network, stream);
    }
}

// Places all kernels side by side while it lives, wherever they are to lie.
class TrialPlacement {
public:
  explicit TrialPlacement(NetworkPlan &network) : network(network) {
    int32_t col = 0;
    for (KernelPlan &plan : network.kernels) {
      columns.push_back(plan.placement.col);
      plan.placement.col = plan.spec.state ? network.variables[plan.spec.state->variable].col : col;
      col += plan.spec.state ? 0 : plan.width();
    }
  }
  ~TrialPlacement() {
    for (size_t k = 0; k < columns.size(); ++k)
      network.kernels[k].placement.col = columns[k];
  }
  TrialPlacement(const TrialPlacement &) = delete;
  TrialPlacement &operator=(const TrialPlacement &) = delete;

private:
  NetworkPlan &network;
  std::vector<int32_t> columns;
};

} // namespace

void applySolution(NetworkPlan &network, const solver::sizing::Problem &problem,
                   const solver::sizing::Solution &solution) {
  for (size_t k = network.kernels.size(); k-- > 0;) // receivers first: their slices tell where blocks may end
    applyCandidate(network, int32_t(k), problem.kernels[k].candidates[solution.candidateOf[k]]);
  for (size_t stream = 0; stream < network.streams.size(); ++stream)
    if (network.streams[stream].producer < 0)
      chooseNominalBlocks(network, int32_t(stream));
  layOutLanes(network);
}

// Cycles of kernel `index` among the neighbours it has, with what it waits for its rows' links beyond `contention`.
static int64_t intervalAmongNeighbours(const target::Target &target, NetworkPlan &network, int32_t index,
                                       std::optional<int64_t> contention = {}) {
  const TrialPlacement placed(network);
  auto cost = kernelCost(target, network, index);
  if (!cost.ok())
    return std::numeric_limits<int64_t>::max();
  return std::max({cost->predictedCycles, contention ? cost->contendedCycles - *contention : 0,
                   busiestLinkOf(target, network, index).words});
}

std::vector<int64_t> intervalsAmongNeighbours(const target::Target &target, NetworkPlan &network) {
  std::vector<int64_t> intervals;
  for (size_t k = 0; k < network.kernels.size(); ++k)
    intervals.push_back(intervalAmongNeighbours(target, network, int32_t(k)));
  return intervals;
}

void undoHarm(const target::Target &target, NetworkPlan &network, const solver::sizing::Problem &problem,
              const solver::sizing::Solution &before, const std::vector<int64_t> &intervals, int64_t limitCycles,
              solver::sizing::Solution &solution) {
  for (bool changes = true; changes;) {
    changes = false;
    applySolution(network, problem, solution);
    const std::vector<int64_t> now = intervalsAmongNeighbours(target, network);
    auto restore = [&](int32_t kernel) {
      changes |= solution.candidateOf[kernel] != before.candidateOf[kernel];
      solution.candidateOf[kernel] = before.candidateOf[kernel];
    };
    for (size_t k = 0; k < now.size(); ++k) {
      if (now[k] <= std::max(limitCycles, intervals[k]))
        continue;
      restore(int32_t(k));
      for (const KernelInput &input : network.kernels[k].spec.inputs)
        for (int32_t stream : input.streams)
          if (network.streams[stream].producer >= 0)
            restore(network.streams[stream].producer);
    }
  }
}

void repair(const target::Target &target, NetworkPlan &network, const solver::sizing::Problem &problem,
            int64_t limitCycles, solver::sizing::Solution &solution) {
  int64_t left = problem.columnLimit;
  for (size_t k = 0; k < problem.kernels.size(); ++k)
    left -= problem.kernels[k].candidates[solution.candidateOf[k]].columns;
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    const auto &candidates = problem.kernels[k].candidates;
    const auto expected = [&] {
      return intervalAmongNeighbours(target, network, int32_t(k), limitCycles / kContentionPart);
    };
    int32_t now = solution.candidateOf[k], best = now;
    int64_t least = expected();
    const int64_t limit = std::max(limitCycles, candidates[now].intervalCycles);
    if (least <= limit)
      continue;
    std::vector<int32_t> order;
    for (size_t c = 0; c < candidates.size(); ++c)
      if (int32_t(c) != now && candidates[c].intervalCycles < least &&
          candidates[c].columns <= candidates[now].columns + left)
        order.push_back(int32_t(c));
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return candidates[a].columns < candidates[b].columns; });
    for (size_t i = 0; i < order.size() && i < kMostTries && least > limit; ++i) {
      apply(network, int32_t(k), candidates[order[i]]);
      if (const int64_t interval = expected(); interval < least) {
        least = interval;
        best = order[i];
      }
    }
    apply(network, int32_t(k), candidates[best]);
    left -= candidates[best].columns - candidates[now].columns;
    solution.candidateOf[k] = best;
  }
}

} // namespace wsc::kernels
