// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/mapping/MapNetwork.h"

#include "compiler/kernels/mapping/FifoDepths.h"
#include "compiler/kernels/mapping/PlaceNetwork.h"
#include "compiler/kernels/mapping/SearchMapping.h"
#include "compiler/kernels/network/ChannelBlocks.h"
#include "compiler/kernels/network/CoLocation.h"
#include "compiler/kernels/network/StateLayout.h"
#include "compiler/kernels/network/Tiling.h"
#include "compiler/kernels/routes/ChooseTurns.h"
#include "compiler/kernels/routes/LinkLoads.h"
#include "compiler/kernels/routes/Routes.h"
#include "compiler/kernels/sizing/Candidates.h"
#include "compiler/kernels/sizing/LeftoverColumns.h"
#include "compiler/kernels/sizing/MappingScore.h"
#include "compiler/kernels/sizing/Repair.h"
#include "compiler/solver/Threads.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
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

// Cycles of all multiply-adds, spread evenly over the mesh.
static int64_t multiplyAddCycles(const target::Target &target, const NetworkPlan &network) {
  int64_t macs = 0;
  for (const KernelPlan &plan : network.kernels)
    macs += plan.spec.macs;
  return int64_t(double(macs) / (double(target.numCores()) * target.fmaPerCycleF32));
}

static IntervalBounds boundsOf(const target::Target &target, const NetworkPlan &network,
                               const solver::sizing::Problem &problem, int64_t sizing) {
  IntervalBounds bounds;
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const auto &candidate : problem.kernels[k].candidates)
      least = std::min(least, candidate.intervalCycles);
    bounds.largestKernel = std::max(bounds.largestKernel, least);
  }
  bounds.multiplyAdds = multiplyAddCycles(target, network);
  bounds.io = ioCycles(target, network);
  bounds.sizing = std::max(sizing, bounds.io);
  return bounds;
}

// The candidates of all kernels, the sizing problems that they pose, and the solution of the first.
struct Sized {
  Wanted wanted;
  std::vector<Candidates> candidates;
  solver::sizing::Problem problem, least; // least: what no queue makes worse, for the bound
  solver::sizing::Solution solution;

  absl::Status solve(int64_t columnLimit) {
    problem = least = {columnLimit, {}, {}};
    for (const Candidates &its : candidates) {
      problem.kernels.push_back(its.kernel);
      least.kernels.push_back(its.kernel);
      for (size_t c = 0; c < its.leastCycles.size(); ++c)
        least.kernels.back().candidates[c].intervalCycles = its.leastCycles[c];
    }
    auto solved = solver::sizing::solve(problem);
    if (solved.ok())
      solution = *std::move(solved);
    return solved.status();
  }
  int64_t interval() const { return solver::sizing::evaluate(problem, solution).value; }
};

static absl::StatusOr<Sized> sizeWithin(const target::Target &target, const NetworkPlan &network, int64_t columnLimit,
                                        const Wanted &wanted, const Costing &costing) {
  std::vector<std::optional<absl::StatusOr<Candidates>>> costed(network.kernels.size());
  solver::overThreads(costing.threads, costed.size(), [&](size_t k) {
    NetworkPlan own = network; // changes while its kernel is costed
    costed[k] = costing.cache.of(target, own, int32_t(k), wanted);
  });
  Sized sized{wanted, {}, {}, {}, {}};
  for (auto &its : costed) {
    if (!its->ok())
      return its->status();
    sized.candidates.push_back(*std::move(*its));
  }
  if (absl::Status status = sized.solve(columnLimit); !status.ok())
    return status;
  return sized;
}

// The narrowest candidate within `cycles` (ties: the quicker one), of those that `allows`; null: there is none.
template <typename Allows>
static const solver::sizing::Candidate *narrowest(const solver::sizing::Kernel &kernel, int64_t cycles, Allows allows) {
  const solver::sizing::Candidate *best = nullptr;
  for (size_t c = 0; c < kernel.candidates.size(); ++c) {
    const solver::sizing::Candidate &candidate = kernel.candidates[c];
    if (candidate.intervalCycles <= cycles && allows(c) &&
        (!best ||
         std::pair(candidate.columns, candidate.intervalCycles) < std::pair(best->columns, best->intervalCycles)))
      best = &candidate;
  }
  return best;
}

// Whether kernel `coLocated` should run on the cores of `host`: that saves columns at the interval that is `sized`
// without, or makes the host much quicker in as many. A feeder with a co-located kernel is waited for by its row and by
// the co-located kernel's receivers: apart from multiply-adds it may be busy for half as much of the interval as links.
static bool isWorthwhile(const target::Target &target, NetworkPlan network, const Sized &sized, int32_t coLocated,
                         int32_t host, const Costing &costing) {
  constexpr int64_t kFeedingPart = 2, kMuchQuicker = 8; // parts
  setHost(network, coLocated, host);
  const auto hosting = costing.cache.of(target, network, host, sized.wanted);
  if (!hosting.ok())
    return false;
  const int64_t cycles = sized.interval();
  const auto feedsInTime = [&](size_t c) { return kFeedingPart * withWaiting(hosting->feedCycles[c]) <= cycles; };
  const auto any = [](size_t) { return true; };
  const solver::sizing::Candidate *together = narrowest(hosting->kernel, cycles, feedsInTime),
                                  *ofCoLocated = narrowest(sized.problem.kernels[size_t(coLocated)], cycles, any),
                                  *ofHost = narrowest(sized.problem.kernels[size_t(host)], cycles, any);
  if (!together || !ofCoLocated || !ofHost)
    return together != nullptr;
  const int64_t saved = ofCoLocated->columns + ofHost->columns - together->columns;
  const int64_t quicker = ofHost->intervalCycles - together->intervalCycles;
  return saved > 0 || (saved == 0 && quicker * kMuchQuicker >= ofHost->intervalCycles);
}

// Co-locates the kernels for which that is worthwhile, but for those of `apart`. Returns how many there are.
static int64_t findCoLocation(const target::Target &target, NetworkPlan &network, const Sized &sized,
                              const std::set<int32_t> &apart, const Costing &costing) {
  std::vector<std::pair<int32_t, int32_t>> pairs; // co-located kernel and host
  for (int32_t k = 0; k < int32_t(network.kernels.size()); ++k) {
    const int32_t host = apart.count(k) ? -1 : hostFor(network, k);
    if (host >= 0 && isFree(network, network.kernels[size_t(k)]) && isFree(network, network.kernels[size_t(host)]))
      pairs.emplace_back(k, host);
  }
  std::vector<char> worthwhile(pairs.size(), false);
  solver::overThreads(costing.threads, pairs.size(), [&](size_t i) {
    worthwhile[i] = isWorthwhile(target, network, sized, pairs[i].first, pairs[i].second, costing);
  });
  for (size_t i = 0; i < pairs.size(); ++i)
    if (worthwhile[i])
      setHost(network, pairs[i].first, pairs[i].second);
  return std::count(worthwhile.begin(), worthwhile.end(), true);
}

static int32_t numCoLocated(const NetworkPlan &network) {
  return int32_t(std::count_if(network.kernels.begin(), network.kernels.end(),
                               [](const KernelPlan &plan) { return plan.host >= 0; }));
}

// Sizes with co-located kernels but for the kernels of `apart`. `cramped`: co-located kernels that hold less in the
// FIFOs of their hosts' feeders than they want.
static absl::StatusOr<SizingReport> sizeWithCoLocation(const target::Target &target, NetworkPlan &network,
                                                       Asking mayAsk, bool equalColumns, const Variant &variant,
                                                       const Costing &costing, const std::set<int32_t> &apart,
                                                       std::set<int32_t> &cramped) {
  constexpr int64_t kFar = 8; // times what multiply-adds or I/O take: intervals are rarely that long
  // Results leave a row over the links on which its next input comes, and all its cores wait for that: they should take
  // a small part of the interval. Where I/O sets it, cores wait anyway.
  constexpr int64_t kLeavingPart = 4, kFewWords = 1024;
  const int64_t io = ioCycles(target, network), multiplyAdds = multiplyAddCycles(target, network);
  const bool waitsForIo = io / 2 >= multiplyAdds;
  const int64_t leavingWords = waitsForIo ? 0 : std::max(kFewWords, std::max(io, multiplyAdds) / kLeavingPart);
  if (auto status = chooseTiles(target, network, variant, leavingWords); !status.ok())
    return status;
  network.bounds = {};
  SizingReport report;
  findJoinedTiles(target, network, report.passes);
  if (mayAsk.passes && !report.passes.empty())
    return report;
  report.passes.clear();
  int64_t columnLimit = freeColumns(target, network);
  for (KernelPlan &plan : network.kernels) {
    int64_t components = 0;
    for (const KernelInput &input : plan.spec.inputs)
      components += int64_t(input.streams.size());
    plan.mapping.fifoSamples.assign(components, 1);
    columnLimit += plan.spec.state.has_value(); // lies in its variable's column
  }
  // Costing is most of the work, and shapes slower than the interval have no part in it. Where I/O sets it, feeders
  // that only feed suffice, and let rows drift apart further.
  const int64_t far = kFar * std::max(io, multiplyAdds);
  std::optional<Sized> sized;
  absl::Status failure; // of the last try, where there is none
  auto trySizing = [&](const Wanted &wanted) {
    absl::StatusOr<Sized> its = sizeWithin(target, network, columnLimit, wanted, costing);
    failure = its.status();
    sized = its.ok() ? std::optional(*std::move(its)) : std::nullopt;
  };
  auto takesMoreThan = [&](int64_t cycles) { return !sized || sized->interval() > cycles; };
  auto sizeAll = [&] {
    sized.reset();
    for (KernelPlan &plan : network.kernels)
      chooseSlices(network, plan, 1);
    // Until columns are chosen, producers are taken to cut their channels where it suits their receivers.
    for (size_t stream = 0; stream < network.streams.size(); ++stream) {
      network.streams[stream].layout.laneRows.clear(); // of a sizing before
      network.streams[stream].layout.exitSlices.clear();
      chooseNominalBlocks(network, int32_t(stream));
    }
    if (!equalColumns && waitsForIo)
      trySizing({.feedersCompute = false, .mostCycles = far});
    if (!equalColumns && takesMoreThan(io))
      trySizing({.evenShares = !waitsForIo, .mostCycles = far});
    if (equalColumns || takesMoreThan(far))
      trySizing({.evenShares = !waitsForIo});
    return failure;
  };
  if (auto status = sizeAll(); !status.ok())
    return status;
  // Columns are worth saving where more of them make the network faster.
  const int64_t quickest = boundsOf(target, network, sized->problem, 0).largestKernel;
  if (!equalColumns && sized->interval() > std::max(io, quickest) &&
      findCoLocation(target, network, *sized, apart, costing) > 0) {
    if (auto status = sizeAll(); !status.ok())
      return status;
  }
  auto &[wanted, candidates, problem, least, solution] = *sized;
  network.bounds = boundsOf(target, network, least, solver::sizing::evaluate(least, solution).lowerBound);
  // What is not worth having at that interval, unless others take more columns than there are.
  const int64_t interval = sized->interval();
  if (mayAsk.splits)
    report.splits = findSplits(target, network, problem, interval, costing.threads);
  {
    Sized fewer{sized->wanted, sized->candidates, {}, {}, {}};
    for (Candidates &its : fewer.candidates)
      dropNeedless(its, interval);
    if (fewer.solve(columnLimit).ok() && fewer.interval() <= interval)
      *sized = std::move(fewer);
  }
  if (auto status = solution.verify(problem); !status.ok())
    return status;
  auto stats = solver::sizing::evaluate(problem, solution);
  if (equalColumns) {
    if (auto status = shareColumns(problem, solution); !status.ok())
      return status;
  } else {
    useLeftoverColumns(target, network, problem, least, stats.lowerBound, variant.simpleShapes, solution);
    if (auto status = solution.verify(problem); !status.ok())
      return status;
  }
  applySolution(network, problem, solution);
  report.columns = stats.columns;
  report.bottleneckKernel = stats.slowestKernel;
  if (auto status = chooseFifos(target, network, network.bounds.sizing, report.passes); !status.ok())
    return status;
  for (const PassRequest &request : report.passes)
    if (network.kernels[size_t(request.consumer)].host >= 0)
      cramped.insert(request.consumer);
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
  report.solution = std::move(solution);
  report.variant = variant;
  return report;
}

absl::StatusOr<SizingReport> sizeVariant(const target::Target &target, NetworkPlan &network, Asking mayAsk,
                                         bool equalColumns, const Variant &variant, const Costing &costing) {
  std::set<int32_t> apart; // kernels that are to have cores of their own
  for (;;) {
    NetworkPlan sized = network;
    for (int32_t k = 0; k < int32_t(sized.kernels.size()); ++k)
      setHost(sized, k, -1);
    std::set<int32_t> cramped;
    auto report = sizeWithCoLocation(target, sized, mayAsk, equalColumns, variant, costing, apart, cramped);
    const bool isDone = report.ok() ? cramped.empty() : numCoLocated(sized) == 0;
    if (isDone) {
      network = std::move(sized);
      return report;
    }
    if (report.ok())
      apart.merge(cramped);
    else
      for (int32_t k = 0; k < int32_t(network.kernels.size()); ++k)
        apart.insert(k);
  }
}

// Whether the network is to be changed before anything else is tried.
static bool asks(const Asking &may, const SizingReport &report) {
  return (may.passes && !report.passes.empty()) || !report.splits.empty();
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
static absl::StatusOr<SizingReport> sizeWithinColours(const target::Target &target, NetworkPlan &network, Asking mayAsk,
                                                      bool equalColumns, Variant variant, const Costing &costing) {
  constexpr int64_t kTolerance = 64; // part of the interval that regular colours may cost
  std::optional<std::pair<NetworkPlan, SizingReport>> irregular;
  for (int64_t colourShare : {100, 75, 50}) {
    variant.colourShare = colourShare;
    auto report = sizeVariant(target, network, mayAsk, equalColumns, variant, costing);
    if (report.ok() ? asks(mayAsk, *report) : !absl::IsResourceExhausted(report.status()))
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
  variant.colourShare = 25;
  return sizeVariant(target, network, mayAsk, equalColumns, variant, costing);
}

// Words over the busiest link when lanes have chosen where they turn.
static absl::StatusOr<int64_t> linkCycles(const target::Target &target, NetworkPlan network) {
  if (auto status = placeInOrder(target, network); !status.ok())
    return status;
  if (auto status = chooseTurns(target, network); !status.ok())
    return status;
  return busiestLink(target, network, laneRoutes(target, network)).words;
}

// What streams into kernels that take longer than `mostCycles` among their neighbours should do: be cut into more
// blocks, though colours may not suffice.
static std::vector<StreamWish> wishesOfSlow(const target::Target &target, NetworkPlan network, int64_t mostCycles) {
  std::vector<StreamWish> wishes;
  const std::vector<int64_t> intervals = intervalsAmongNeighbours(target, network);
  for (size_t k = 0; k < intervals.size(); ++k) {
    const KernelSpec &spec = network.kernels[k].spec;
    if (intervals[k] <= mostCycles || spec.kind == KernelKind::Contraction)
      continue;
    wishes.resize(network.streams.size());
    for (const KernelInput &input : spec.inputs)
      for (int32_t stream : input.streams)
        wishes[size_t(stream)].colourShare = 150;
  }
  return wishes;
}

// The first mapping.
static absl::StatusOr<SizingReport> sizeFirst(const target::Target &target, NetworkPlan &network, Asking mayAsk,
                                              bool equalColumns, const Costing &costing) {
  constexpr int64_t kTolerance = 64; // part of the interval that does not matter
  const NetworkPlan unsized = network;
  auto report = sizeWithinColours(target, network, mayAsk, equalColumns, {}, costing);
  if (!report.ok() || equalColumns || asks(mayAsk, *report))
    return report;
  mayAsk.splits = false;
  auto cyclesOf = [&](const NetworkPlan &sized, const SizingReport &of) {
    const auto links = linkCycles(target, sized);
    return links.ok() ? std::max(*links, of.intervalCycles) : std::numeric_limits<int64_t>::max();
  };
  int64_t least = cyclesOf(network, *report);
  const int64_t enough = network.bounds.sizing + network.bounds.sizing / kTolerance;
  const std::vector<StreamWish> wishes = wishesOfSlow(target, network, enough);
  // Where windows' outputs lie in the middle of their inputs, fewer lanes meet on a link; so they do with more blocks.
  std::vector<Variant> variants{{.centred = true}};
  if (!wishes.empty())
    variants.insert(variants.end(), {{.streams = wishes}, {.centred = true, .streams = wishes}});
  for (const Variant &variant : variants) {
    if (least <= enough)
      break;
    NetworkPlan changed = unsized;
    auto other = sizeWithinColours(target, changed, mayAsk, equalColumns, variant, costing);
    if (!other.ok() || asks(mayAsk, *other))
      continue;
    const int64_t cycles = cyclesOf(changed, *other);
    if (cycles < least) {
      least = cycles;
      network = std::move(changed);
      report = std::move(other);
    }
  }
  return report;
}

absl::StatusOr<SizingReport> sizeNetwork(const target::Target &target, NetworkPlan &network, Asking mayAsk,
                                         bool equalColumns, const SearchOptions &options, CandidateCache *cache) {
  const NetworkPlan unsized = network;
  CandidateCache own;
  const Costing costing{cache ? *cache : own, options.threads};
  auto report = sizeFirst(target, network, mayAsk, equalColumns, costing);
  if (report.ok() && !asks(mayAsk, *report) && !equalColumns)
    searchMapping(target, unsized, options, costing.cache, network, *report);
  return report;
}

} // namespace wsc::kernels
