// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A split kernel is one more way to make a kernel, so its parts' candidates, times the number of parts, are put beside
// the kernel's own and the sizing solver decides. Only those that are slower than anything to hope for are costed.
#include "compiler/kernels/sizing/SplitWidth.h"

#include "compiler/kernels/sizing/MappingScore.h"
#include "compiler/solver/Threads.h"

#include <algorithm>

namespace wsc::kernels {

namespace {

constexpr int64_t kMostParts = 4;      // the kernel that joins them takes a lane or two of each
constexpr int64_t kFewestColumns = 14; // of a part: set-ups would outweigh what its instructions do
constexpr int64_t kPerPart = 24;       // each part more counts as this part of the columns more: lanes of parts share
                                       // rows and colours, and their words meet once more
constexpr int64_t kNever = INT64_MAX / 4;

int64_t leastCycles(const solver::sizing::Kernel &kernel) {
  int64_t least = kNever;
  for (const solver::sizing::Candidate &candidate : kernel.candidates)
    least = std::min(least, candidate.intervalCycles);
  return least;
}

bool maySplit(const NetworkPlan &network, const KernelPlan &plan) {
  const KernelSpec &spec = plan.spec;
  const auto ofPixels = [](const TileOp &op) {
    return std::any_of(op.operands.begin(), op.operands.end(),
                       [](const TileOperand &operand) { return operand.kind == TileOperand::Kind::PerPixel; });
  };
  return spec.kind == KernelKind::Contraction && !spec.contraction.matrixProduct && !spec.state && plan.coLocated < 0 &&
         !plan.pinnedColumns && plan.placement.col < 0 && network.streams[size_t(spec.outStream)].wantedTurns.empty() &&
         spec.out.width >= 2 * kFewestColumns && std::none_of(spec.tileOps.begin(), spec.tileOps.end(), ofPixels);
}

// Fewest columns that a kernel can take within `cycles` if it could be cut as finely as one likes, at no cost.
int64_t columnsAtBest(const solver::sizing::Kernel &kernel, bool splits, int64_t cycles) {
  int64_t least = kNever;
  for (const solver::sizing::Candidate &candidate : kernel.candidates)
    if (candidate.intervalCycles <= cycles)
      least = std::min(least, candidate.columns);
    else if (splits)
      least = std::min(least, ceilDiv(candidate.columns * candidate.intervalCycles, std::max<int64_t>(1, cycles)));
  return least;
}

// The candidates of a part of kernel `k`; none if it cannot be.
std::vector<solver::sizing::Candidate> candidatesOfPart(const target::Target &target, NetworkPlan network, int32_t k,
                                                        int64_t parts, int64_t mostCycles) {
  KernelPlan &plan = network.kernels[size_t(k)];
  // The second part: its input is cut on both sides if there are more.
  const Columns columns = columnsOfPart(plan.spec.out.width, 1, parts);
  plan.spec.contraction.padLeft -= columns.begin * plan.spec.contraction.strideW;
  plan.spec.out.width = network.streams[size_t(plan.spec.outStream)].layout.plane.width = columns.count();
  const auto candidates = candidatesOf(target, network, k, {.mostCycles = mostCycles});
  return candidates.ok() ? candidates->kernel.candidates : std::vector<solver::sizing::Candidate>();
}

// Columns of the kernel that joins the parts of kernel `k` within `cycles`: a core takes each word in, puts it in
// order, a part of a line at a time, and sends it.
int64_t joinColumns(const target::Target &target, const NetworkPlan &network, const KernelSpec &spec, int64_t parts,
                    int64_t cycles) {
  const int64_t lines = ceilDiv(spec.out.channels * spec.out.rows, std::max<int64_t>(1, network.grid.rowsUsed));
  const int64_t slots = lines * (3 * spec.out.width + parts * target.vectorSetupCycles + target.loopCycles);
  return ceilDiv(slots, std::max<int64_t>(1, cycles));
}

// The narrowest candidate within `cycles` of those with a number of parts that `allows(parts)`; -1: there is none.
template <typename Allows>
int32_t narrowest(const solver::sizing::Kernel &kernel, const std::vector<int64_t> &partsOf, int64_t cycles,
                  Allows allows) {
  int32_t best = -1;
  for (size_t c = 0; c < kernel.candidates.size(); ++c)
    if (allows(partsOf[c]) && kernel.candidates[c].intervalCycles <= cycles &&
        (best < 0 || kernel.candidates[c].columns < kernel.candidates[size_t(best)].columns))
      best = int32_t(c);
  return best;
}

// What to split so that all kernels are within `cycles`: those that must be, then those that save most columns until
// there are enough.
std::vector<SplitRequest> fewestSplits(const solver::sizing::Problem &wider,
                                       const std::vector<std::vector<int64_t>> &partsOf, int64_t cycles) {
  struct Choice {
    int32_t kernel;
    int64_t parts, saved;
  };
  int64_t columns = 0;
  std::vector<SplitRequest> requests;
  std::vector<Choice> others;
  for (size_t k = 0; k < wider.kernels.size(); ++k) {
    const solver::sizing::Kernel &kernel = wider.kernels[k];
    const int32_t whole = narrowest(kernel, partsOf[k], cycles, [](int64_t parts) { return parts == 1; });
    const int32_t split = narrowest(kernel, partsOf[k], cycles, [](int64_t parts) { return parts > 1; });
    if (whole < 0 && split < 0)
      return {};
    columns += kernel.candidates[size_t(whole < 0 ? split : whole)].columns;
    if (whole < 0)
      requests.push_back({int32_t(k), partsOf[k][size_t(split)]});
    else if (split >= 0)
      others.push_back({int32_t(k), partsOf[k][size_t(split)],
                        kernel.candidates[size_t(whole)].columns - kernel.candidates[size_t(split)].columns});
  }
  std::stable_sort(others.begin(), others.end(), [](const Choice &a, const Choice &b) { return a.saved > b.saved; });
  for (const Choice &choice : others)
    if (columns > wider.columnLimit && choice.saved > 0) {
      requests.push_back({choice.kernel, choice.parts});
      columns -= choice.saved;
    }
  return requests;
}

} // namespace

std::vector<SplitRequest> findSplits(const target::Target &target, const NetworkPlan &network,
                                     const solver::sizing::Problem &problem, int64_t intervalCycles, int threads) {
  const int64_t enough = intervalCycles - intervalCycles / kWorthSplitting;
  std::vector<bool> splits;
  for (const KernelPlan &plan : network.kernels)
    splits.push_back(maySplit(network, plan));
  const auto fitsAtBest = [&](int64_t cycles) {
    int64_t columns = 0;
    for (size_t k = 0; k < problem.kernels.size(); ++k)
      columns +=
          std::min(kNever / int64_t(problem.kernels.size()), columnsAtBest(problem.kernels[k], splits[k], cycles));
    return columns <= problem.columnLimit;
  };
  int64_t least = ioCycles(target, network), most = enough; // what to hope for lies between
  if (least > enough || !fitsAtBest(enough))
    return {};
  while (least < most)
    if (const int64_t middle = least + (most - least) / 2; fitsAtBest(middle))
      most = middle;
    else
      least = middle + 1;

  struct Part {
    int32_t kernel;
    int64_t parts;
    std::vector<solver::sizing::Candidate> candidates;
  };
  std::vector<Part> tried;
  for (size_t k = 0; k < problem.kernels.size(); ++k)
    for (int64_t parts = 2; splits[k] && leastCycles(problem.kernels[k]) > most && parts <= kMostParts; ++parts)
      if (network.kernels[k].spec.out.width >= parts * kFewestColumns)
        tried.push_back({int32_t(k), parts, {}});
  solver::overThreads(threads, tried.size(), [&](size_t i) {
    tried[i].candidates = candidatesOfPart(target, network, tried[i].kernel, tried[i].parts, intervalCycles);
  });

  solver::sizing::Problem wider = problem;
  std::vector<std::vector<int64_t>> partsOf(problem.kernels.size()); // of its candidates
  for (size_t k = 0; k < problem.kernels.size(); ++k)
    partsOf[k].assign(problem.kernels[k].candidates.size(), 1);
  for (const Part &part : tried)
    for (solver::sizing::Candidate candidate : part.candidates) {
      const KernelSpec &spec = network.kernels[size_t(part.kernel)].spec;
      candidate.columns =
          part.parts * candidate.columns + joinColumns(target, network, spec, part.parts, candidate.intervalCycles);
      candidate.columns += candidate.columns * (part.parts - 1) / kPerPart;
      wider.kernels[size_t(part.kernel)].candidates.push_back(candidate);
      partsOf[size_t(part.kernel)].push_back(part.parts);
    }
  const auto solved = solver::sizing::solve(wider);
  if (!solved.ok())
    return {};
  const int64_t best = solver::sizing::evaluate(wider, *solved).value;
  if (best > enough)
    return {};
  return fewestSplits(wider, partsOf, best + best / kWorthSplitting);
}

} // namespace wsc::kernels
