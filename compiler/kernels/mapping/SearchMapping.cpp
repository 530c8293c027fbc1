// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/mapping/SearchMapping.h"

#include "compiler/kernels/mapping/Generate.h"
#include "compiler/kernels/mapping/PlaceNetwork.h"
#include "compiler/kernels/routes/LinkLoads.h"
#include "compiler/kernels/sizing/MappingScore.h"
#include "compiler/solver/Threads.h"
#include "runtime/base/Random.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>

namespace wsc::kernels {

namespace {

constexpr int kStepsPerRound = 8;
constexpr size_t kRoutedPerRound = 2; // of the steps for the interval: routing takes longer than sizing
// A stage has so many rounds at most for the interval, and is left after so many without a gain.
struct Stage {
  int rounds = 0, patience = 0;
};
constexpr Stage kDefaultStage{4, 2}, kHighStage{42, 6};
constexpr int kWireRounds = 12;
// Another mapping must be quicker by this part of the interval while that is looked at: predictions of mappings that
// differ in many things are no more exact.
constexpr int64_t kGainPart = 64;
// All kernels together, about what the first sample takes, may get slower by this part for shorter wires.
constexpr int64_t kSlackPart = 32;
// A mapping may take twice the instructions and switch positions of the first, or this number (some megabytes) where
// that is more: irregular lanes make many kinds of cores, each to be written, verified and loaded.
constexpr int64_t kMetadataFactor = 2, kFreeMetadata = 50'000;
// Time grows with them too: Effort::Default leaves networks with more to Effort::High.
constexpr int64_t kMostForDefault = 30'000;
// Emulating takes longer than predicting: only mappings with fewer are, and where the first one waits for more than
// this part of the interval.
constexpr int64_t kMostToEmulate = 100'000, kWaitingPart = 32;

// The random numbers of one of the streams of a seed.
Random streamOf(uint64_t seed, uint64_t stream) {
  return Random(seed * 0xD1342543DE82EF95u + stream * 0x2545F4914F6CDD1Du);
}

// A sized network.
struct Mapped {
  Variant variant;
  NetworkPlan network;
  SizingReport report;
  // Of what kernels take, counted for every row, and links carry with straight branches, over the bound (LinkLoads.h).
  int64_t excess = 0;
  std::vector<int64_t> excessAt = {}; // by stream: of kernels at it, and of links that it uses
  int64_t wordHops = 0;               // with straight branches
  int64_t allCycles = 0;              // of all kernels together
};

// A mapping that is better than those before it, with its score as it is placed in order and routed.
struct Found {
  Mapped mapped;
  MappingScore score;
  int64_t timedCycles = 0; // by SearchOptions::timer; 0: not timed
};

class Search {
public:
  Search(const target::Target &target, const NetworkPlan &unsized, const SearchOptions &options, CandidateCache &cache)
      : target(target), unsized(unsized), options(options), cache(cache) {}

  void run(NetworkPlan &sized, SizingReport &report) {
    if (options.effort == Effort::Fast || !measure(now = {report.variant, sized, report}))
      return;
    const std::optional<NetworkPlan> first = routed(sized, true);
    if (!first)
      return;
    bounds = sized.bounds;
    wanted = bounds.sizing;
    for (const StreamPlan &stream : sized.streams)
      mostTiles = std::max(mostTiles, stream.layout.numTiles());
    mostPasses = report.passes.size();
    mostAllCycles = now.allCycles + now.allCycles / kSlackPart;
    settled.push_back({now, scoreOf(target, *first)});
    const bool mayWait = options.timer && bounds.io >= bounds.sizing;
    if (options.effort == Effort::Default && !isAboveBound() && !mayWait)
      return;
    const int64_t metadata = metadataOf(*first);
    mostMetadata = std::max(kFreeMetadata, kMetadataFactor * metadata);
    if (mayWait && metadata <= kMostToEmulate)
      spendOtherwise();
    if (options.effort == Effort::Default && (!isAboveBound() || metadata > kMostForDefault)) {
      take(settled.back(), sized, report);
      return;
    }
    bottleneck = settled.back().score.bottleneck;
    quicken(kDefaultStage);
    if (options.effort == Effort::High) {
      quicken(kHighStage);
      now = settled.back().mapped;
      for (int i = 0; i < kWireRounds && !ends(); ++i)
        shorten(kWires + i);
    }
    take(bestPlaced(), sized, report);
  }

private:
  void take(Found &chosen, NetworkPlan &sized, SizingReport &report) const {
    const bool isFirst = &chosen == &settled.front() && !isFirstReplaced;
    if (&chosen == &settled.front() && firstEmulated && firstEmulated->ok())
      chosen.timedCycles = **firstEmulated;
    chosen.mapped.report.search = {tries, !isFirst, chosen.timedCycles};
    chosen.mapped.network.bounds = bounds;
    sized = std::move(chosen.mapped.network);
    report = std::move(chosen.mapped.report);
  }

  // Where words over the wafer's edge set the interval, columns are left over, and no prediction tells how long kernels
  // wait for each other. So where they do, other ways to spend the columns are emulated, and the quickest takes the
  // place of the first mapping.
  void spendOtherwise() {
    firstEmulated = emulated(settled.front().mapped.network);
    if (!firstEmulated->ok() || **firstEmulated <= wanted + wanted / kWaitingPart)
      return;
    std::vector<Variant> variants(2, now.variant);
    variants[0].simpleShapes = false;
    variants[1].wordsPerLane = now.variant.wordsPerLane * 5 / 6;
    struct Tried {
      std::optional<Mapped> mapped;
      std::optional<MappingScore> score;
      int64_t cycles = std::numeric_limits<int64_t>::max();
    };
    std::vector<Tried> tried(variants.size());
    tries += int64_t(variants.size());
    solver::overThreads(options.threads, tried.size(), [&](size_t i) {
      Tried &one = tried[i];
      one.mapped = sizedAs(variants[i]);
      if (one.mapped && (one.score = routedScore(one.mapped->network)) &&
          one.score->intervalCycles <= settled.front().score.intervalCycles)
        if (const absl::StatusOr<int64_t> cycles = emulated(one.mapped->network); cycles.ok())
          one.cycles = *cycles;
    });
    const auto quickest = std::min_element(tried.begin(), tried.end(),
                                           [](const Tried &a, const Tried &b) { return a.cycles < b.cycles; });
    if (quickest->cycles >= **firstEmulated - **firstEmulated / kGainPart)
      return;
    now = std::move(*quickest->mapped);
    settled = {{now, *quickest->score}};
    isFirstReplaced = true;
    firstEmulated = quickest->cycles;
  }

  static constexpr int kWires = 1 << 16; // number of the first round for wires

  const Found &best() const { return found.empty() ? settled.back() : found.back(); }

  // Whether a mapping of these tiles, or others, could be quicker.
  bool isAboveBound() const { return best().score.intervalCycles > bounds.sizing + bounds.sizing / kGainPart; }

  bool ends() const { return options.cancelled && options.cancelled(); }

  // Rounds for the interval. Of what they find, the last that keeps its promise when emulated is settled on.
  void quicken(const Stage &stage) {
    for (int i = 0, left = stage.patience; i < stage.rounds && left > 0 && isAboveBound() && !ends(); ++i)
      left = quickenOnce() ? stage.patience : left - 1;
    while (!found.empty() && !isSound(found.back()))
      found.pop_back();
    if (!found.empty())
      settled.push_back(std::move(found.back()));
    found.clear();
  }

  // Whether a mapping is no slower than the first when both are emulated, or nobody can tell.
  bool isSound(Found &one) {
    if (!options.timer)
      return true;
    std::optional<absl::StatusOr<int64_t>> its;
    solver::overThreads(options.threads, 2, [&](size_t i) {
      if (i == 0)
        its = emulated(one.mapped.network);
      else if (!firstEmulated)
        firstEmulated = emulated(settled.front().mapped.network);
    });
    if (its->ok())
      one.timedCycles = **its;
    return its->ok() && (!firstEmulated->ok() || **its <= **firstEmulated + **firstEmulated / kGainPart);
  }

  // The interval of a sized network, placed in order, when it is emulated.
  absl::StatusOr<int64_t> emulated(const NetworkPlan &sized) const {
    const std::optional<NetworkPlan> whole = routed(sized, true);
    return whole ? options.timer(*whole) : absl::StatusOr<int64_t>(absl::NotFoundError("no routes"));
  }

  // One round of them: goes to the variant with the least excess, if that is less than now, and keeps what of
  // the two with the least is quicker by more than predictions are off. False: there was none.
  bool quickenOnce() {
    std::vector<std::optional<Mapped>> tried = tryVariations(round++, false);
    std::vector<Mapped *> order;
    for (std::optional<Mapped> &mapped : tried)
      if (mapped && mapped->excess < now.excess)
        order.push_back(&*mapped);
    if (order.empty())
      return false;
    std::sort(order.begin(), order.end(), [](const Mapped *a, const Mapped *b) {
      return a->excess != b->excess ? a->excess < b->excess : a < b; // of one vector
    });
    order.resize(std::min(order.size(), kRoutedPerRound));
    std::vector<std::optional<MappingScore>> scores(order.size());
    solver::overThreads(options.threads, order.size(), [&](size_t i) { scores[i] = routedScore(order[i]->network); });
    bool moved = false;
    for (size_t i = 0; i < order.size(); ++i) {
      if (!scores[i])
        continue;
      if (!moved) {
        now = *order[i];
        bottleneck = scores[i]->bottleneck;
        moved = true;
      }
      const int64_t least = best().score.intervalCycles;
      if (scores[i]->intervalCycles < least - least / kGainPart)
        found.push_back({*order[i], *scores[i]});
    }
    return moved;
  }

  // One round for wires: the shortest that cost no interval.
  void shorten(int round) {
    std::vector<std::optional<Mapped>> tried = tryVariations(round, true);
    std::vector<Mapped *> order;
    for (std::optional<Mapped> &mapped : tried)
      if (mapped && mapped->wordHops < now.wordHops && mapped->allCycles <= mostAllCycles &&
          mapped->report.intervalCycles <= best().score.intervalCycles)
        order.push_back(&*mapped);
    std::sort(order.begin(), order.end(), [](const Mapped *a, const Mapped *b) {
      return a->wordHops != b->wordHops ? a->wordHops < b->wordHops : a < b; // of one vector
    });
    for (Mapped *mapped : order)
      if (const std::optional<MappingScore> score = routedScore(mapped->network);
          score && score->isBetterThan(best().score)) {
        Found one{std::move(*mapped), *score};
        if (isSound(one)) {
          now = one.mapped;
          settled.push_back(std::move(one));
        }
        return; // emulating takes longer than sizing: once in a round
      }
  }

  // Sizes kStepsPerRound variants, over the host's threads. None: it cannot be mapped so.
  std::vector<std::optional<Mapped>> tryVariations(int round, bool wires) {
    std::vector<Variant> variants;
    for (int i = 0; i < kStepsPerRound; ++i)
      variants.push_back(variation(round, i, wires));
    std::vector<std::optional<Mapped>> tried(variants.size());
    tries += int64_t(variants.size());
    solver::overThreads(options.threads, tried.size(), [&](size_t i) {
      const auto self = variants.begin() + std::ptrdiff_t(i);
      if (variants[i] != now.variant && std::find(variants.begin(), self, variants[i]) == self)
        tried[i] = sizedAs(variants[i]);
    });
    for (const std::optional<Mapped> &mapped : tried)
      if (mapped) {
        bounds.sizing = std::min(bounds.sizing, mapped->network.bounds.sizing);
        bounds.largestKernel = std::min(bounds.largestKernel, mapped->network.bounds.largestKernel);
      }
    return tried;
  }

  // The network sized in a variant; none if it cannot be mapped so, or only with more words passed on.
  std::optional<Mapped> sizedAs(const Variant &variant) {
    Mapped mapped{variant, unsized, {}};
    auto report = sizeVariant(target, mapped.network, /*mayAsk=*/{}, /*equalColumns=*/false, variant, {cache, 1});
    if (!report.ok() || report->passes.size() > mostPasses)
      return std::nullopt;
    mapped.report = *std::move(report);
    return measure(mapped) ? std::optional(std::move(mapped)) : std::nullopt;
  }

  // Fills in what is known of a sized network before it is routed; false if it has no place.
  bool measure(Mapped &mapped) const {
    NetworkPlan placed = mapped.network;
    if (!placeInOrder(target, placed).ok())
      return false;
    const NetworkLoads loads = networkLoads(target, placed, laneRoutes(target, placed));
    const std::vector<int64_t> ofNet = excessOf(loads, wanted, mapped.excess);
    mapped.excessAt.assign(placed.streams.size(), 0);
    for (size_t net = 0; net < ofNet.size(); ++net)
      if (ofNet[net] > 0)
        for (size_t s = 0; s < placed.streams.size(); ++s)
          if (placed.streams[s].name == loads.nets[net])
            mapped.excessAt[s] += ofNet[net];
    mapped.wordHops = wordHopsOf(loads);
    mapped.allCycles = 0;
    for (const KernelPlan &plan : placed.kernels) {
      const int64_t over = excessOf(plan.predictedIntervalCycles, wanted) * placed.grid.rowsUsed;
      mapped.excess += over;
      mapped.excessAt[size_t(plan.spec.outStream)] += over;
      for (const KernelInput &input : plan.spec.inputs)
        for (int32_t stream : input.streams)
          mapped.excessAt[size_t(stream)] += over;
      mapped.allCycles += plan.predictedIntervalCycles;
    }
    return true;
  }

  // A sized network placed, in order or as well as Effort::Default does, and routed. None: no routes or no colours.
  std::optional<NetworkPlan> routed(NetworkPlan network, bool inOrder) const {
    const absl::Status placed =
        inOrder ? placeInOrder(target, network) : placeNetwork(target, network, {Effort::Default});
    if (!placed.ok() || !routeNetwork(target, network).ok())
      return std::nullopt;
    return network;
  }

  // The score of a sized network; none if it cannot be routed, or takes far more metadata than the first mapping.
  std::optional<MappingScore> routedScore(const NetworkPlan &sized, bool inOrder = true) const {
    const std::optional<NetworkPlan> network = routed(sized, inOrder);
    if (!network || metadataOf(*network) > mostMetadata)
      return std::nullopt;
    return scoreOf(target, *network);
  }

  // Instructions and positions of switches that the programs and routes of a routed network take; without programs: the
  // largest number.
  int64_t metadataOf(const NetworkPlan &network) const {
    SectionTable sections;
    const auto configuration = generateConfiguration(target, network, sections);
    if (!configuration.ok())
      return std::numeric_limits<int64_t>::max();
    int64_t count = 0;
    for (const format::Role &role : configuration->roles)
      for (const format::Thread &thread : role.threads)
        count += int64_t(thread.size());
    for (const format::RouterRole &router : configuration->routers)
      count += int64_t(router.positions.size());
    return count;
  }

  // What was settled on that is best once strips may change their order.
  Found &bestPlaced() {
    if (settled.size() == 1)
      return settled.front();
    for (Found &one : settled)
      if (std::optional<MappingScore> score = routedScore(one.mapped.network, false))
        one.score = *std::move(score);
    return *std::min_element(settled.begin(), settled.end(),
                             [](const Found &a, const Found &b) { return a.score.isBetterThan(b.score); });
  }

  // The variant where the search is, with something else in it.
  Variant variation(int round, int index, bool wires) const {
    Random random = streamOf(options.seed, uint64_t(round) * kStepsPerRound + uint64_t(index));
    Variant variant = now.variant;
    if (round == 0)
      switch (index) { // what concerns all streams, in turn
      case 0:
      case 1:
      case 2:
        variant.wordsPerLane = 1024 - 256 * index;
        return variant;
      case 3:
        variant.colourShare = 150;
        return variant;
      case 4:
        variant.simpleShapes = false;
        return variant;
      }
    if (random.in(0, 4) == 0) {
      changeAll(random, variant);
      return variant;
    }
    variant.streams.resize(unsized.streams.size());
    const int64_t change = random.in(0, 4);
    for (int64_t count = wires ? 1 : random.in(1, 4); count > 0; --count)
      changeStream(change, wires ? int32_t(random.in(0, int64_t(unsized.streams.size()) - 1)) : troubledStream(random),
                   variant);
    return variant;
  }

  // One of the streams at the bottleneck, or of those with excess, those with more of it more likely.
  int32_t troubledStream(Random &random) const {
    if (!bottleneck.empty() && random.in(0, 1) == 0)
      return bottleneck[size_t(random.in(0, int64_t(bottleneck.size()) - 1))];
    const int64_t all = std::accumulate(now.excessAt.begin(), now.excessAt.end(), int64_t(0));
    int64_t left = random.in(0, std::max<int64_t>(0, all - 1));
    for (size_t s = 0; s < now.excessAt.size(); ++s)
      if ((left -= now.excessAt[s]) < 0)
        return int32_t(s);
    return int32_t(random.in(0, int64_t(now.excessAt.size()) - 1));
  }

  void changeAll(Random &random, Variant &variant) const {
    switch (random.in(0, 4)) {
    case 4:
      variant.centred = !variant.centred;
      break;
    case 0:
      variant.wordsPerLane = std::clamp<int64_t>(variant.wordsPerLane * random.in(4, 12) / 8, 64, 8192);
      break;
    case 1:
      variant.colourShare = 25 * random.in(2, 8);
      break;
    case 2:
      if (unsized.variables.empty() && mostTiles < target.rows)
        variant.rowsUsed = random.in(std::max<int64_t>(mostTiles, target.rows * 9 / 10), target.rows);
      break;
    default:
      variant.simpleShapes = !variant.simpleShapes;
    }
  }

  void changeStream(int64_t change, int32_t stream, Variant &variant) const {
    StreamWish &wish = variant.streams[size_t(stream)];
    const auto blocks = int32_t(now.network.streams[size_t(stream)].layout.numBlocks());
    switch (change) {
    case 0:
      wish.blocks = blocks + 1;
      break;
    case 1:
      wish.blocks = 2 * blocks;
      break;
    case 2:
      wish.blocks = std::max(1, blocks - 1);
      break;
    case 3:
      ++wish.moreTileRows;
      break;
    default:
      wish.moreTileRows = std::max(0, wish.moreTileRows - 1);
    }
  }

  const target::Target &target;
  const NetworkPlan &unsized;
  const SearchOptions &options;
  CandidateCache &cache;
  Mapped now;                                           // where the search is
  std::vector<int32_t> bottleneck;                      // its streams at what takes longest, once it is routed
  std::vector<Found> found;                             // in this stage, each predicted to be better than all before it
  std::vector<Found> settled;                           // the first mapping, and what stages settled on
  std::optional<absl::StatusOr<int64_t>> firstEmulated; // interval of the first mapping, cycles
  bool isFirstReplaced = false;                         // by another way to spend columns
  int64_t tries = 0;                                    // variants sized
  int round = 0;
  IntervalBounds bounds; // the least of all variants tried
  int64_t wanted = 0;    // interval, cycles
  int64_t mostAllCycles = 0, mostMetadata = 0, mostTiles = 1;
  size_t mostPasses = 0;
};

} // namespace

void searchMapping(const target::Target &target, const NetworkPlan &network, const SearchOptions &options,
                   CandidateCache &cache, NetworkPlan &sized, SizingReport &report) {
  Search(target, network, options, cache).run(sized, report);
}

} // namespace wsc::kernels
