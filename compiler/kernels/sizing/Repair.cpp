// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/sizing/Repair.h"

#include "compiler/kernels/network/ChannelBlocks.h"
#include "compiler/kernels/network/CoLocation.h"
#include "compiler/kernels/routes/LinkLoads.h"
#include "compiler/kernels/sizing/Candidates.h"
#include "compiler/kernels/sizing/Cost.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace wsc::kernels {

namespace {

// Candidates tried for a kernel at most, narrowest first.
constexpr size_t kMostTries = 12;
// Waiting for links is predicted less exactly than issue slots are: this part of the interval is let pass.
constexpr int64_t kContentionPart = 16;

// Gives kernel `index` a candidate's mapping and lets the kernels before it cut their channels to it.
void apply(NetworkPlan &network, int32_t index, const solver::sizing::Candidate &candidate) {
  applyCandidate(network, index, candidate);
  for (int32_t stream : streamsTaken(network, network.kernels[index])) {
    if (int32_t producer = network.streams[stream].producer; producer >= 0)
      chooseBlocks(network, network.kernels[producer]);
    else
      chooseNominalBlocks(network, stream);
    layOutLanes(network, stream);
  }
  layOutLanes(network, network.kernels[index].spec.outStream);
  if (const int32_t coLocated = network.kernels[index].coLocated; coLocated >= 0)
    layOutLanes(network, network.kernels[size_t(coLocated)].spec.outStream);
}

// Places all kernels side by side while it lives, wherever they are to lie.
class TrialPlacement {
public:
  explicit TrialPlacement(NetworkPlan &network) : network(network) {
    int32_t col = 0;
    for (KernelPlan &plan : network.kernels) {
      columns.push_back(plan.placement.col);
      plan.placement.col = plan.spec.state ? network.variables[plan.spec.state->variable].col : col;
      if (plan.coLocated >= 0)
        network.kernels[size_t(plan.coLocated)].placement.col = col;
      col += plan.spec.state || plan.host >= 0 ? 0 : plan.width();
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
      for (int32_t stream : streamsTaken(network, network.kernels[k]))
        if (network.streams[stream].producer >= 0)
          restore(network.streams[stream].producer);
    }
  }
}

namespace {

// Kernels that change to other candidates, with the columns that are left for that.
class Repairs {
public:
  Repairs(const target::Target &target, NetworkPlan &network, const solver::sizing::Problem &problem,
          int64_t limitCycles, solver::sizing::Solution &solution)
      : target(target), network(network), problem(problem), limitCycles(limitCycles), solution(solution),
        left(problem.columnLimit) {
    for (size_t k = 0; k < problem.kernels.size(); ++k)
      left -= candidateOf(int32_t(k)).columns;
  }

  void run(int32_t kernel) {
    shortenBranches(kernel);
    const auto &candidates = problem.kernels[size_t(kernel)].candidates;
    const int64_t limit = std::max(limitCycles, candidateOf(kernel).intervalCycles);
    int64_t least = expected(kernel);
    if (least <= limit)
      return;
    std::vector<int32_t> order = othersBelow(kernel, least - 1);
    order.resize(std::min(order.size(), kMostTries));
    int32_t best = solution.candidateOf[size_t(kernel)];
    for (size_t i = 0; i < order.size() && least > limit; ++i) {
      change(kernel, order[i]);
      if (const int64_t interval = expected(kernel); interval < least) {
        least = interval;
        best = order[i];
      }
    }
    for (size_t i = 0; i < order.size() && least > limit; ++i) {
      change(kernel, order[i]);
      if (candidates[size_t(order[i])].intervalCycles <= limit && alignProducer(kernel, limit))
        return;
    }
    change(kernel, best);
  }

private:
  int64_t expected(int32_t kernel) {
    return intervalAmongNeighbours(target, network, kernel, limitCycles / kContentionPart);
  }

  // Cycles of a kernel and of those that take its results, which leave nearer to each other from fewer slices.
  int64_t intervalWithReceivers(int32_t kernel) {
    int64_t most = expected(kernel);
    for (int32_t receiver : network.streams[size_t(network.kernels[size_t(kernel)].spec.outStream)].consumers)
      most = std::max(most, expected(receiver));
    return most;
  }

  // Where links leave little space to spare, takes the fewer slices that are quickest.
  void shortenBranches(int32_t kernel) {
    const int32_t before = solution.candidateOf[size_t(kernel)];
    const auto &candidates = problem.kernels[size_t(kernel)].candidates;
    auto isKin = [&](size_t c) {
      return hasFewerSlices(candidates[c]) && candidates[c].columns == candidates[size_t(before)].columns &&
             candidates[c].intervalCycles <= limitCycles;
    };
    size_t first = 0;
    while (first < candidates.size() && !isKin(first))
      ++first;
    if (first == candidates.size() || hasFewerSlices(candidates[size_t(before)]))
      return;
    if (withWaiting(expected(kernel)) <= limitCycles)
      return;
    int64_t least = intervalWithReceivers(kernel);
    int32_t best = before;
    for (size_t c = first; c < candidates.size(); ++c) {
      if (!isKin(c))
        continue;
      change(kernel, int32_t(c));
      if (const int64_t interval = intervalWithReceivers(kernel); interval < least) {
        least = interval;
        best = int32_t(c);
      }
    }
    change(kernel, best);
  }

  const solver::sizing::Candidate &candidateOf(int32_t kernel) const {
    return problem.kernels[size_t(kernel)].candidates[size_t(solution.candidateOf[size_t(kernel)])];
  }

  // The candidates of a kernel that it does not have, take no more cycles than that and find columns; narrowest first.
  std::vector<int32_t> othersBelow(int32_t kernel, int64_t mostCycles) const {
    const auto &candidates = problem.kernels[size_t(kernel)].candidates;
    std::vector<int32_t> order;
    for (size_t c = 0; c < candidates.size(); ++c)
      if (int32_t(c) != solution.candidateOf[size_t(kernel)] && candidates[c].intervalCycles <= mostCycles &&
          candidates[c].columns <= candidateOf(kernel).columns + left)
        order.push_back(int32_t(c));
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return candidates[size_t(a)].columns < candidates[size_t(b)].columns;
    });
    return order;
  }

  void change(int32_t kernel, int32_t candidate) {
    left += candidateOf(kernel).columns;
    solution.candidateOf[size_t(kernel)] = candidate;
    left -= candidateOf(kernel).columns;
    apply(network, kernel, candidateOf(kernel));
  }

  // Whether the kernel that makes what `kernel` takes has now changed so that it sends each column lanes of its own,
  // and both are within the limit.
  bool alignProducer(int32_t kernel, int64_t limit) {
    const KernelSpec &spec = network.kernels[size_t(kernel)].spec;
    if (spec.kind == KernelKind::Contraction || spec.inputs.size() != 1 || spec.inputs.front().streams.size() != 1)
      return false;
    const int32_t stream = spec.inputs.front().streams.front(), producer = network.streams[size_t(stream)].producer;
    if (producer < 0)
      return false;
    const int32_t before = solution.candidateOf[size_t(producer)];
    size_t tries = 0;
    for (int32_t candidate : othersBelow(producer, limit)) {
      applyCandidate(network, producer, problem.kernels[size_t(producer)].candidates[size_t(candidate)]);
      if (!endsBetweenColumns(stream, network.kernels[size_t(kernel)].mapping))
        continue;
      if (tries++ == kMostTries)
        break;
      change(producer, candidate);
      if (std::max(expected(kernel), expected(producer)) <= limit)
        return true;
    }
    change(producer, before);
    return false;
  }

  // Whether a block of the stream begins where each of a receiver's columns does, and none within a slice.
  bool endsBetweenColumns(int32_t stream, const Mapping &receiver) const {
    const std::vector<int64_t> &begins = network.streams[size_t(stream)].layout.blockBegin;
    for (int64_t column = 1; column < receiver.columns; ++column)
      if (!std::binary_search(begins.begin(), begins.end(), column * receiver.channelsPerColumn))
        return false;
    return std::all_of(begins.begin(), begins.end() - 1,
                       [&](int64_t begin) { return slicesCut(network, stream, begin) == 0; });
  }

  const target::Target &target;
  NetworkPlan &network;
  const solver::sizing::Problem &problem;
  const int64_t limitCycles;
  solver::sizing::Solution &solution;
  int64_t left; // columns
};

} // namespace

void repair(const target::Target &target, NetworkPlan &network, const solver::sizing::Problem &problem,
            int64_t limitCycles, solver::sizing::Solution &solution) {
  Repairs repairs(target, network, problem, limitCycles, solution);
  for (size_t k = 0; k < problem.kernels.size(); ++k)
    repairs.run(int32_t(k));
}

} // namespace wsc::kernels
