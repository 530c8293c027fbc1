// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/MapNetwork.h"

#include "compiler/kernels/Candidates.h"
#include "compiler/kernels/ChannelBlocks.h"
#include "compiler/kernels/ChooseTurns.h"
#include "compiler/kernels/FifoDepths.h"
#include "compiler/kernels/LeftoverColumns.h"
#include "compiler/kernels/LinkLoads.h"
#include "compiler/kernels/MappingScore.h"
#include "compiler/kernels/PlaceNetwork.h"
#include "compiler/kernels/Repair.h"
#include "compiler/kernels/Routes.h"
#include "compiler/kernels/SearchMapping.h"
#include "compiler/kernels/StateLayout.h"
#include "compiler/kernels/Tiling.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace wsc::kernels {

namespace {

// An equal share of the columns for every kernel: the quickest candidate that is no wider, else the narrowest.
absl::Status shareColumns(const solver::sizing::Problem &problem, solver::sizing::Solution &solution) {
  int64_t share = problem.columnLimit / std::max<int64_t>(1, int64_t(problem.kernels.size()));
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    const auto &candidates = problem.kernels[k].candidates;
    auto key = [&](const solver::sizing::Candidate &candidate) {
      bool within = candidate.columns <= share;
      return std::tuple(!within, within ? candidate.intervalCycles : candidate.columns, candidate.columns);
    };
    for (size_t c = 0; c < candidates.size(); ++c)
      if (key(candidates[c]) < key(candidates[solution.candidateOf[k]]))
        solution.candidateOf[k] = int32_t(c);
  }
  return solution.verify(problem);
}

// Tiles larger than the mesh asks for, wanted by a receiver, make a kernel take in much more at a time: let a kernel of
// its own join the tiles.
void findJoinedTiles(const target::Target &target, const NetworkPlan &network, std::vector<PassRequest> &passes) {
  constexpr int64_t kWordsWorthAKernel = 8192;
  for (const StreamPlan &stream : network.streams) {
    if (stream.producer < 0)
      continue;
    const KernelSpec &producer = network.kernels[stream.producer].spec;
    int64_t natural = ceilDiv(stream.layout.liveRows(), target.rows), tileRows = stream.layout.tileRows;
    if (tileRows <= natural || (producer.kind == KernelKind::Elementwise && producer.tileOps.empty()) || producer.state)
      continue; // a variable's tiles are given
    int64_t words = 0;
    for (size_t i = 0; i < producer.inputs.size(); ++i) {
      Plane plane = inputPlane(network, producer, i);
      words += plane.channels * plane.width * inputRowsFor(producer, tileRows, plane.rows);
    }
    if (words <= kWordsWorthAKernel)
      continue;
    for (int32_t consumer : stream.consumers) {
      int64_t needed = inputRowsFor(network.kernels[consumer].spec,
                                    network.streams[network.kernels[consumer].spec.outStream].layout.tileRows,
                                    stream.layout.plane.rows);
      if (needed > natural)
        passes.push_back({int32_t(&stream - network.streams.data()), consumer});
    }
  }
}

} // namespace

static IntervalBounds boundsOf(const target::Target &target, const NetworkPlan &network,
                               const solver::sizing::Problem &problem, int64_t sizing) {
  IntervalBounds bounds;
  int64_t macs = 0;
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    macs += network.kernels[k].spec.macs;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const auto &candidate : problem.kernels[k].candidates)
      least = std::min(least, candidate.intervalCycles);
    bounds.largestKernel = std::max(bounds.largestKernel, least);
  }
  bounds.multiplyAdds = int64_t(double(macs) / (double(target.numCores()) * target.fmaPerCycleF32));
  bounds.io = ioCycles(target, network);
  bounds.sizing = std::max(sizing, bounds.io);
  return bounds;
}

absl::StatusOr<SizingReport> sizeVariant(const target::Target &target, NetworkPlan &network, bool mayAsk,
                                         bool equalColumns, const Variant &variant, CandidateCache *cache) {
  if (auto status = chooseTiles(target, network, variant); !status.ok())
    return status;
  SizingReport report;
  findJoinedTiles(target, network, report.passes);
  if (mayAsk && !report.passes.empty())
    return report;
  report.passes.clear();
  for (KernelPlan &plan : network.kernels)
    chooseSlices(network, plan, 1);
  // Until columns are chosen, producers are taken to cut their channels where it suits their receivers.
  for (size_t stream = 0; stream < network.streams.size(); ++stream)
    chooseNominalBlocks(network, int32_t(stream));
  solver::sizing::Problem problem, least; // least: what no queue makes worse, for the bound
  problem.columnLimit = freeColumns(target, network);
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    KernelPlan &plan = network.kernels[k];
    plan.mapping.fifoSamples.clear();
    int64_t components = 0;
    for (const KernelInput &input : plan.spec.inputs)
      components += int64_t(input.streams.size());
    plan.mapping.fifoSamples.assign(components, 1);
    problem.columnLimit += plan.spec.state.has_value(); // lies in its variable's column
    auto candidates = cache ? cache->of(target, network, int32_t(k)) : candidatesOf(target, network, int32_t(k));
    if (!candidates.ok())
      return candidates.status();
    least.kernels.push_back(candidates->kernel);
    for (size_t c = 0; c < candidates->leastCycles.size(); ++c)
      least.kernels.back().candidates[c].intervalCycles = candidates->leastCycles[c];
    problem.kernels.push_back(std::move(candidates->kernel));
  }
  least.columnLimit = problem.columnLimit;
  auto solution = solver::sizing::solve(problem);
  if (!solution.ok())
    return solution.status();
  if (auto status = solution->verify(problem); !status.ok())
    return status;
  auto stats = solver::sizing::evaluate(problem, *solution);
  const int64_t leastInterval = solver::sizing::evaluate(least, *solution).lowerBound;
  if (equalColumns) {
    if (auto status = shareColumns(problem, *solution); !status.ok())
      return status;
  } else {
    useLeftoverColumns(target, network, problem, least, stats.lowerBound, variant.simpleShapes, *solution);
    if (auto status = solution->verify(problem); !status.ok())
      return status;
  }
  applySolution(network, problem, *solution);
  report.columns = stats.columns;
  report.bottleneckKernel = stats.slowestKernel;
  network.bounds = boundsOf(target, network, least, leastInterval);
  if (auto status = chooseFifos(target, network, network.bounds.sizing, report.passes); !status.ok())
    return status;
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    auto cost = kernelCost(target, network, int32_t(k));
    if (!cost.ok())
      return cost.status();
    network.kernels[k].predictedIntervalCycles = cost->contendedCycles;
    if (cost->contendedCycles > report.intervalCycles) {
      report.intervalCycles = cost->contendedCycles;
      report.bottleneckKernel = int32_t(k);
    }
  }
  layOutLanes(network);
  report.problem = std::move(problem);
  report.solution = *std::move(solution);
  report.variant = variant;
  return report;
}

enum class Colours { None, Free, InTurn };

// Whether the routes of a sized network find colours where the kernels would lie.
static Colours coloursOf(const target::Target &target, NetworkPlan network) {
  if (!placeInOrder(target, network).ok())
    return Colours::InTurn; // not for want of colours
  const std::vector<LaneRoute> lanes = laneRoutes(target, network);
  const solver::colouring::Problem problem = colouringProblem(target, network, lanes);
  if (colourLanes(network, lanes, problem, /*allInTurn=*/true).ok())
    return Colours::InTurn;
  return colourLanes(network, lanes, problem).ok() ? Colours::Free : Colours::None;
}

// Sizes with as many channel blocks as colours suffice for: at best, so that lanes take them in turn.
static absl::StatusOr<SizingReport> sizeWithinColours(const target::Target &target, NetworkPlan &network, bool mayAsk,
                                                      bool equalColumns, bool centred) {
  constexpr int64_t kTolerance = 64; // part of the interval that regular colours may cost
  std::optional<std::pair<NetworkPlan, SizingReport>> irregular;
  for (int64_t colourShare : {100, 75, 50}) {
    auto report = sizeVariant(target, network, mayAsk, equalColumns, {.colourShare = colourShare, .centred = centred});
    if (report.ok() ? mayAsk && !report->passes.empty() : !absl::IsResourceExhausted(report.status()))
      return report;
    if (irregular &&
        (!report.ok() || report->intervalCycles > irregular->second.intervalCycles * (kTolerance + 1) / kTolerance))
      break;
    const Colours colours = report.ok() ? coloursOf(target, network) : Colours::None;
    if (colours == Colours::InTurn)
      return report;
    if (colours == Colours::Free && !irregular)
      irregular = {network, *report};
  }
  if (irregular) {
    network = std::move(irregular->first);
    return irregular->second;
  }
  return sizeVariant(target, network, mayAsk, equalColumns, {.colourShare = 25, .centred = centred});
}

// Words over the busiest link when lanes have chosen where they turn.
static absl::StatusOr<int64_t> linkCycles(const target::Target &target, NetworkPlan network) {
  if (auto status = placeInOrder(target, network); !status.ok())
    return status;
  if (auto status = chooseTurns(target, network); !status.ok())
    return status;
  return busiestLink(target, network, laneRoutes(target, network)).words;
}

// The first mapping.
static absl::StatusOr<SizingReport> sizeFirst(const target::Target &target, NetworkPlan &network, bool mayAsk,
                                              bool equalColumns) {
  constexpr int64_t kTolerance = 64; // part of the interval that does not matter
  auto report = sizeWithinColours(target, network, mayAsk, equalColumns, /*centred=*/false);
  if (!report.ok() || equalColumns || (mayAsk && !report->passes.empty()))
    return report;
  auto links = linkCycles(target, network);
  const int64_t cores = wantedInterval(target, network);
  if (!links.ok() || *links <= cores + cores / kTolerance)
    return report;
  // Links bind it. Where windows' outputs lie in the middle of their inputs, fewer lanes meet on a link.
  NetworkPlan centred = network;
  auto other = sizeWithinColours(target, centred, mayAsk, equalColumns, /*centred=*/true);
  if (!other.ok())
    return report;
  auto otherLinks = linkCycles(target, centred);
  if (!otherLinks.ok() || std::max(*otherLinks, other->intervalCycles) >= std::max(*links, report->intervalCycles))
    return report;
  network = std::move(centred);
  return other;
}

absl::StatusOr<SizingReport> sizeNetwork(const target::Target &target, NetworkPlan &network, bool mayAsk,
                                         bool equalColumns, const SearchOptions &options) {
  const NetworkPlan unsized = network;
  auto report = sizeFirst(target, network, mayAsk, equalColumns);
  const bool asks = report.ok() && mayAsk && !report->passes.empty();
  if (report.ok() && !asks && !equalColumns)
    searchMapping(target, unsized, options, network, *report);
  return report;
}

} // namespace wsc::kernels
