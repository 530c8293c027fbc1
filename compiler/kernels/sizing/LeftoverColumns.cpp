// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/sizing/LeftoverColumns.h"

#include "compiler/kernels/network/ChannelBlocks.h"
#include "compiler/kernels/sizing/Candidates.h"
#include "compiler/kernels/sizing/Repair.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace wsc::kernels {

using solver::sizing::Candidate;
using solver::sizing::Problem;
using solver::sizing::Solution;

namespace {

// Simple shapes may cost this part of all kernels' intervals, which is about what the first sample takes,
constexpr int64_t kSlackPart = 32;
// and this part of the network's interval in predicted waiting, which is less exact than issue slots are.
constexpr int64_t kWaitingPart = 16;
// Receivers that take each lane once are worth this part of a kernel's columns, or one column.
constexpr int64_t kFewColumns = 4;
// What a saved cycle counts falls with this power of the part of the interval that its kernel takes.
constexpr double kUrgency = 4;

int64_t columnsLeft(const Problem &problem, const Solution &solution) {
  int64_t left = problem.columnLimit;
  for (size_t k = 0; k < problem.kernels.size(); ++k)
    left -= problem.kernels[k].candidates[solution.candidateOf[k]].columns;
  return left;
}

// A kernel's change from the candidate it has to another.
struct Change {
  size_t kernel = 0;
  int32_t candidate = 0;
  int64_t columns = 0, cycles = 0, parts = 0; // more than now; negative: less
};

// The change that `rate(change)` puts highest; none if no rate is above 0. Kernels whose blocks end between slices keep
// to candidates whose blocks do, and to all the slices there can be.
template <typename Rate>
std::optional<Change> bestChange(const Problem &problem, const NetworkTraits &traits, const Solution &solution,
                                 Rate rate) {
  std::optional<Change> best;
  double bestRate = 0;
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    const std::vector<Candidate> &candidates = problem.kernels[k].candidates;
    const int32_t now = solution.candidateOf[k];
    for (size_t c = 0; c < candidates.size(); ++c) {
      if ((traits[k][now].aligned && !traits[k][c].aligned) ||
          (traits[k][c].fewerSlices && !traits[k][now].fewerSlices))
        continue;
      const Change change{k, int32_t(c), candidates[c].columns - candidates[now].columns,
                          candidates[c].intervalCycles - candidates[now].intervalCycles,
                          traits[k][c].parts - traits[k][now].parts};
      if (const double r = rate(change); r > bestRate) {
        bestRate = r;
        best = change;
      }
    }
  }
  return best;
}

} // namespace

NetworkTraits traitsOf(NetworkPlan &network, const Problem &problem, const Problem &least) {
  NetworkTraits traits(problem.kernels.size());
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    const KernelPlan &plan = network.kernels[k];
    const int32_t stream = plan.spec.outStream;
    const StreamLayout &layout = network.streams[stream].layout;
    for (size_t c = 0; c < problem.kernels[k].candidates.size(); ++c) {
      applyCandidate(network, int32_t(k), problem.kernels[k].candidates[c]);
      int64_t cut = 0;
      for (int64_t block = 1; block < layout.numBlocks(); ++block)
        cut += slicesCut(network, stream, layout.blockBegin[block]);
      const int64_t shares = plan.spec.kind == KernelKind::Contraction ? plan.mapping.bands : plan.mapping.columns;
      traits[k].push_back({cut == 0, shares + layout.numBlocks(), least.kernels[k].candidates[c].intervalCycles,
                           hasFewerSlices(problem.kernels[k].candidates[c])});
    }
  }
  return traits;
}

void alignColumns(const Problem &problem, const NetworkTraits &traits, Solution &solution) {
  int64_t left = columnsLeft(problem, solution);
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    const std::vector<Candidate> &candidates = problem.kernels[k].candidates;
    int32_t now = solution.candidateOf[k], best = now;
    if (traits[k][now].aligned)
      continue;
    const int64_t few = std::max<int64_t>(1, candidates[now].columns / kFewColumns);
    for (size_t c = 0; c < candidates.size(); ++c)
      if (traits[k][c].aligned && !traits[k][c].fewerSlices &&
          candidates[c].intervalCycles <= candidates[now].intervalCycles &&
          candidates[c].columns - candidates[now].columns <= std::min(left, few) &&
          (best == now || candidates[c].columns < candidates[best].columns))
        best = int32_t(c);
    left -= candidates[best].columns - candidates[now].columns;
    solution.candidateOf[k] = best;
  }
}

void spendColumns(const Problem &problem, const NetworkTraits &traits, int64_t limitCycles, Solution &solution) {
  int64_t left = columnsLeft(problem, solution);
  const auto rate = [&](const Change &c) {
    if (c.columns <= 0 || c.columns > left)
      return 0.0;
    const int32_t now = solution.candidateOf[c.kernel];
    const double used =
        double(problem.kernels[c.kernel].candidates[now].intervalCycles) / double(std::max<int64_t>(1, limitCycles));
    return double(-c.cycles) / double(c.columns) * std::pow(used, kUrgency);
  };
  while (auto change = bestChange(problem, traits, solution, rate)) {
    left -= change->columns;
    solution.candidateOf[change->kernel] = change->candidate;
  }
}

void simplifyShapes(const Problem &problem, const NetworkTraits &traits, int64_t limitCycles, Solution &solution) {
  int64_t left = columnsLeft(problem, solution), slack = 0;
  for (size_t k = 0; k < problem.kernels.size(); ++k)
    slack += problem.kernels[k].candidates[solution.candidateOf[k]].intervalCycles;
  slack /= kSlackPart;
  // Parts saved per share of what is left of columns and cycles.
  auto rate = [&](const Change &c) {
    const int64_t slower = std::max<int64_t>(0, c.cycles), wider = std::max<int64_t>(0, c.columns);
    if (c.parts >= 0 || wider > left || slower > slack)
      return 0.0;
    const int32_t now = solution.candidateOf[c.kernel];
    const bool waitsOnly = traits[c.kernel][c.candidate].leastCycles <= traits[c.kernel][now].leastCycles;
    const int64_t limit = limitCycles + (waitsOnly ? limitCycles / kWaitingPart : 0);
    if (slower > 0 && problem.kernels[c.kernel].candidates[c.candidate].intervalCycles > limit)
      return 0.0;
    return double(-c.parts) / (double(wider + 1) / double(left + 1) + double(slower) / double(slack + 1));
  };
  while (auto change = bestChange(problem, traits, solution, rate)) {
    left -= change->columns;
    slack -= std::max<int64_t>(0, change->cycles);
    solution.candidateOf[change->kernel] = change->candidate;
  }
}

void useLeftoverColumns(const target::Target &target, NetworkPlan &network, const Problem &problem,
                        const Problem &least, int64_t limitCycles, bool simplify, Solution &solution) {
  constexpr int64_t kTolerance = 64; // part of the interval that does not matter
  const NetworkTraits traits = traitsOf(network, problem, least);
  auto settle = [&] { // producers that changed cut their channels elsewhere
    applySolution(network, problem, solution);
    repair(target, network, problem, limitCycles, solution);
    applySolution(network, problem, solution);
    return intervalsAmongNeighbours(target, network);
  };
  auto most = [&](const std::vector<int64_t> &intervals) {
    int64_t result = limitCycles;
    for (int64_t interval : intervals)
      result = std::max(result, interval);
    return result;
  };
  // Where it is the number of columns that sets the interval, each that is left is worth most at multiply-adds.
  const bool scarce = network.bounds.sizing > std::max(network.bounds.io, network.bounds.largestKernel);
  std::vector<int64_t> intervals = settle();
  for (bool shapes : {false, true}) {
    if (shapes && (!simplify || scarce))
      break;
    const Solution before = solution;
    if (shapes) {
      simplifyShapes(problem, traits, limitCycles, solution);
      undoHarm(target, network, problem, before, intervals, limitCycles, solution);
    } else {
      if (!scarce)
        alignColumns(problem, traits, solution);
      spendColumns(problem, traits, limitCycles, solution);
    }
    // What is taken back may be wider than what took its place.
    auto isNoWorse = [&](const std::vector<int64_t> &changed, int64_t tolerance) {
      return columnsLeft(problem, solution) >= 0 && most(changed) <= most(intervals) + tolerance;
    };
    std::vector<int64_t> changed = settle();
    bool keep = isNoWorse(changed, limitCycles / kTolerance);
    // Where I/O sets the interval the columns are not needed.
    if (!keep && !shapes && network.bounds.sizing > network.bounds.io) {
      undoHarm(target, network, problem, before, intervals, most(intervals), solution);
      changed = settle();
      keep = isNoWorse(changed, 0);
    }
    if (keep)
      intervals = std::move(changed);
    else
      solution = before;
  }
}

} // namespace wsc::kernels
