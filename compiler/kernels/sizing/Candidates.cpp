// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/sizing/Candidates.h"

#include "compiler/kernels/network/ChannelBlocks.h"
#include "compiler/kernels/network/CoLocation.h"
#include "compiler/kernels/network/Tiling.h"
#include "compiler/kernels/routes/LinkLoads.h"
#include "compiler/kernels/sizing/Cost.h"
#include "compiler/kernels/sizing/MappingScore.h"

#include "absl/strings/str_cat.h"

#include <set>

namespace wsc::kernels {

namespace {

// Numbers of slices tried in succession that bring nothing. Each is less than the last by an eighth.
constexpr int kTriesWithout = 2;

// The shape in a candidate's tag: "s" if streamed; bands of a contraction, its channels per column and those of its
// feeders, or columns and the channels of a slice beyond the fewest there can be.
struct Shape {
  bool streamed = false;
  int64_t bands = 1, number = 1, moreChannels = 0, feeder = 0;
  std::string tag() const {
    return absl::StrCat(streamed ? "s" : "", bands, "x", number,
                        moreChannels > 0 ? absl::StrCat("+", moreChannels) : "",
                        feeder > 0 ? absl::StrCat("f", feeder) : "");
  }
  static Shape parse(const std::string &tag) {
    const bool streamed = tag.front() == 's';
    auto after = [&](char mark) {
      const size_t at = tag.find(mark);
      return at == std::string::npos ? 0 : std::stoll(tag.substr(at + 1));
    };
    return {streamed, std::stoll(tag.substr(streamed)), after('x'), after('+'), after('f')};
  }
};

void applyColumns(KernelPlan &plan, int64_t channelsPerColumn, int64_t feederChannels) {
  Mapping &m = plan.mapping;
  m.channelsPerColumn = channelsPerColumn;
  m.feederChannels = feederChannels;
  m.columns = columnsFor(plan.spec.out.channels, m.bands, channelsPerColumn, feederChannels);
  m.bands = ceilDiv(plan.spec.out.channels, m.bandChannels());
}

// Whether a column's links would have no space for two lanes of a window's input and all its results, which otherwise
// leave where receivers find them nearer. Not of joined streams, nor as long as no interval is known.
bool wantsExitsNear(const NetworkPlan &network, const KernelPlan &plan) {
  if (plan.spec.kind != KernelKind::Window || plan.mapping.columns == 1 || network.bounds.sizing == 0 ||
      plan.spec.inputs.front().streams.size() != 1)
    return false;
  const StreamLayout &in = network.streams[size_t(plan.spec.inputs.front().streams.front())].layout,
                     &out = network.streams[size_t(plan.spec.outStream)].layout;
  const int64_t words = 2 * in.tileRows * in.plane.width + out.tileRows * out.plane.width;
  return withWaiting(words * plan.mapping.channelsPerColumn) > network.bounds.sizing;
}

// The output's blocks are those that go with the shape; inputs keep theirs.
// A co-located kernel has those of its host.
void applyShape(NetworkPlan &network, KernelPlan &plan, const Shape &shape) {
  if (plan.host >= 0) {
    chooseBlocks(network, plan);
    return;
  }
  plan.mapping.streamed = shape.streamed;
  chooseSlices(network, plan, plan.spec.kind == KernelKind::Contraction ? shape.bands : shape.number,
               shape.moreChannels);
  if (plan.spec.kind == KernelKind::Contraction)
    applyColumns(plan, shape.number, shape.feeder);
  plan.mapping.exitsNear = wantsExitsNear(network, plan);
  chooseBlocks(network, plan);
  if (plan.coLocated >= 0)
    chooseBlocks(network, network.kernels[size_t(plan.coLocated)]);
}

// Shapes of a contraction whose feeders compute, narrower ones later: one for each number of columns, up to where one
// more makes little difference. Feeders get as many channels less as keeps them no longer busy than the others, for
// they handle each word of their input twice more, once for each operation on it, and three times for a co-located
// kernel; where so many columns would leave them none, as many less as still leaves them some (`evenShares`), for a
// column more would only feed.
void addFeederShapes(const NetworkPlan &network, const KernelPlan &plan, int64_t bands, bool evenShares,
                     std::vector<Shape> &shapes) {
  const Contraction &c = plan.spec.contraction;
  const Plane in = inputPlane(network, plan.spec, 0);
  const int64_t channels = plan.spec.out.channels, ofBand = ceilDiv(channels, bands);
  const int64_t tileRows = network.streams[size_t(plan.spec.outStream)].layout.tileRows;
  // Of one input channel: words, and multiply-adds for one output channel.
  const int64_t words = inputRowsFor(plan.spec, tileRows, in.rows) * takenColumns(plan.spec, in).count();
  const int64_t multiplyAdds = c.kernelH * c.kernelW * tileRows * plan.spec.out.width;
  const int64_t forCoLocated = plan.coLocated < 0 ? 0 : 3;
  const int64_t less = ceilDiv(words * (2 + int64_t(plan.spec.inputOps.size()) + forCoLocated), multiplyAdds);
  constexpr int64_t kMostColumns = 32;
  for (int64_t columns = std::min(ofBand, kMostColumns); columns >= 1; --columns) {
    int64_t per = 0, feeder = 0;
    for (int64_t fewer = less; fewer >= (evenShares ? 0 : less) && feeder < 1; --fewer) {
      per = columns == 1 ? ofBand : ceilDiv(ofBand + fewer, columns);
      feeder = std::min(per, ofBand - (columns - 1) * per);
    }
    const Shape shape{false, bands, per, 0, feeder};
    if (feeder >= 1 && channels - (bands - 1) * ofBand >= feeder)
      shapes.push_back(shape);
  }
}

// The shapes worth costing, narrower ones later, by bands: one for each number of columns; of contractions, first those
// whose feeders only feed, then those whose feeders compute.
std::vector<Shape> shapesOf(const target::Target &target, const NetworkPlan &network, const KernelPlan &plan,
                            const Wanted &wanted) {
  std::vector<Shape> shapes;
  int64_t channels = plan.spec.out.channels;
  const StreamLayout &out = network.streams[plan.spec.outStream].layout;
  int64_t most = std::min(out.mostBlocks, channels); // every share's results leave on lanes of their own
  if (plan.spec.kind == KernelKind::Contraction) {
    int64_t rows = network.grid.groupRows(out.numTiles());
    for (int64_t bands : {1, 2, 3, 4, 6}) {
      if (bands > most || bands > rows ||
          (bands > 1 && plan.coLocated >= 0)) // one feeder for each slice of a co-located kernel
        break;
      int64_t lastColumns = -1;
      for (int64_t per = 1; per * bands <= channels + bands - 1; ++per) {
        int64_t columns = ceilDiv(ceilDiv(channels, per), bands);
        if (columns == lastColumns || (columns + 1 > target.cols && per < channels))
          continue;
        lastColumns = columns;
        shapes.push_back({false, bands, per});
      }
      if (wanted.feedersCompute)
        addFeederShapes(network, plan, bands, wanted.evenShares, shapes);
    }
  } else if (plan.spec.state || plan.spec.kind == KernelKind::Softmax) {
    shapes.push_back({});
  } else {
    for (int64_t columns = most; columns >= 1; --columns)
      shapes.push_back({false, 1, columns});
  }
  return shapes;
}

// Keeps the candidates with the number of columns that the user wants. Error: none has it; which there are.
absl::Status keepPinned(int64_t columns, Candidates &candidates) {
  solver::sizing::Kernel &kernel = candidates.kernel;
  std::set<int64_t> widths;
  for (const solver::sizing::Candidate &candidate : kernel.candidates)
    widths.insert(candidate.columns);
  if (!widths.count(columns)) {
    const auto above = widths.lower_bound(columns);
    std::string nearest = above == widths.begin() ? "" : absl::StrCat(*std::prev(above));
    if (above != widths.end())
      absl::StrAppend(&nearest, nearest.empty() ? "" : " and ", *above);
    return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.name, " is pinned to ", columns,
                                                   " columns, which none of its mappings has; from ", *widths.begin(),
                                                   " to ", *widths.rbegin(), " are possible, nearest ", nearest));
  }
  Candidates kept;
  kept.kernel.name = kernel.name;
  for (size_t c = 0; c < kernel.candidates.size(); ++c)
    if (kernel.candidates[c].columns == columns) {
      kept.kernel.candidates.push_back(kernel.candidates[c]);
      kept.leastCycles.push_back(candidates.leastCycles[c]);
      kept.branchWords.push_back(candidates.branchWords[c]);
      kept.feedCycles.push_back(candidates.feedCycles[c]);
    }
  candidates = std::move(kept);
  return absl::OkStatus();
}

} // namespace

void chooseSlices(NetworkPlan &network, KernelPlan &plan, int64_t shares, int64_t moreChannels) {
  Mapping &m = plan.mapping;
  if (plan.host >= 0)
    return; // those of its host
  if (plan.spec.state) {
    const VariablePlan &variable = network.variables[plan.spec.state->variable];
    m.channelsPerSlice = variable.channelsPerSlice;
    m.slices = variable.slices();
    m.columns = 1;
    m.channelsPerColumn = plan.spec.out.channels;
    return;
  }
  bool contraction = plan.spec.kind == KernelKind::Contraction;
  int64_t channels = plan.spec.out.channels;
  if (contraction) {
    channels = inputPlane(network, plan.spec, 0).channels;
  }
  int64_t rows = network.grid.groupRows(network.streams[plan.spec.outStream].layout.numTiles());
  if (plan.spec.kind == KernelKind::Softmax)
    rows = 1;
  if (contraction) {
    m.bands = shares;
    m.channelsPerSlice = ceilDiv(channels, std::max<int64_t>(1, rows / shares));
    m.slices = ceilDiv(channels, m.channelsPerSlice);
    m.channelsPerColumn = 1; // until it is chosen
    m.feederChannels = 0;
    m.columns = ceilDiv(plan.spec.out.channels, shares);
    sliceCoLocated(network, plan);
    return;
  }
  const Window &window = plan.spec.window; // of one channel each for other kernels
  m.channelsPerColumn = ceilDiv(channels, shares);
  while (!window.dividesEvenly(m.channelsPerColumn))
    ++m.channelsPerColumn;
  m.columns = ceilDiv(channels, m.channelsPerColumn);
  m.channelsPerSlice = std::min(ceilDiv(m.channelsPerColumn, rows) + moreChannels, m.channelsPerColumn);
  while (!window.dividesEvenly(m.channelsPerSlice) ||
         (m.channelsPerSlice < window.groupOut && m.channelsPerColumn % m.channelsPerSlice != 0))
    ++m.channelsPerSlice;
  m.slices = ceilDiv(m.channelsPerColumn, m.channelsPerSlice);
}

absl::StatusOr<Candidates> candidatesOf(const target::Target &target, NetworkPlan &network, int32_t index,
                                        const Wanted &wanted) {
  KernelPlan &plan = network.kernels[index];
  bool contraction = plan.spec.kind == KernelKind::Contraction;
  Candidates candidates;
  solver::sizing::Kernel &kernel = candidates.kernel;
  kernel.name = plan.spec.name;
  if (plan.host >= 0) { // its host pays for it
    candidates.kernel.candidates.push_back({0, 0, 0, Shape{}.tag()});
    candidates.leastCycles.push_back(0);
    candidates.branchWords.push_back(0);
    candidates.feedCycles.push_back(0);
    return candidates;
  }
  absl::Status refusal;
  const std::vector<int32_t> taken = streamsTaken(network, plan);
  auto chooseInputBlocks = [&] {
    for (int32_t stream : taken) {
      chooseNominalBlocks(network, stream);
      layOutLanes(network, stream);
    }
  };
  // A link that carries the lanes of one tile has nobody who waits for another.
  int64_t tiles = 0;
  for (int32_t stream : taken)
    tiles += network.streams[size_t(stream)].layout.orderModulus;
  const bool lanesMeet = tiles > 1;
  // Lanes can leave their trunks in the columns beside the feeder's, too, where a contraction has them (ChooseTurns.h):
  // this part of what is most loaded is taken to find space there.
  constexpr int64_t kTurningPart = 10;
  auto add = [&](const Shape &shape, const KernelCost &cost, int64_t branches) {
    if (contraction && plan.width() > 1)
      branches -= branches / kTurningPart;
    kernel.candidates.push_back({plan.width(), std::max(cost.predictedCycles, branches), cost.sramBytes, shape.tag()});
    candidates.leastCycles.push_back(cost.intervalCycles);
    candidates.branchWords.push_back(lanesMeet ? branches : 0);
    candidates.feedCycles.push_back(cost.feedCycles);
  };
  // Fewer slices of more channels where links of the column bind a kernel: lanes end nearer, and fewer of them meet.
  // What off-wafer words take anyway need not be beaten.
  const int64_t offWafer = ioCycles(target, network);
  auto addWithFewerSlices = [&](Shape shape, int64_t cycles) {
    for (int without = 0; without < kTriesWithout && plan.mapping.slices > 1 && withWaiting(cycles) > offWafer;
         ++without) {
      const int64_t slices = plan.mapping.slices, fewer = slices - ceilDiv(slices, 8);
      shape.moreChannels += ceilDiv(plan.mapping.channelsPerColumn, fewer) - plan.mapping.channelsPerSlice;
      applyShape(network, plan, shape);
      chooseInputBlocks();
      const auto cost = kernelCost(target, network, index);
      if (!cost.ok() || cost->predictedCycles >= cycles)
        return;
      const int64_t branches = branchWords(network, KernelRows(target, network, index));
      if (std::max(cost->predictedCycles, branches) >= cycles)
        continue;
      add(shape, *cost, branches);
      cycles = std::max(cost->predictedCycles, branches);
      without = -1;
    }
  };
  // Of a core, at least.
  auto multiplyAddCycles = [&]() -> int64_t {
    const Contraction &c = plan.spec.contraction;
    const Mapping &m = plan.mapping;
    const int64_t pixels = network.streams[size_t(plan.spec.outStream)].layout.tileRows * plan.spec.out.width;
    return contraction ? int64_t(double(c.kernelH * c.kernelW * m.channelsPerSlice * m.channelsPerColumn * pixels) /
                                 target.fmaPerCycleF32)
                       : 0;
  };
  int64_t lastBands = 0, lastColumns = -1, branches = 0;
  bool lastComputes = false;
  size_t fitting = 0; // candidates with these bands and such feeders
  bool full = false;  // fewer columns only need more SRAM
  for (Shape shape : shapesOf(target, network, plan, wanted)) {
    const bool newBands = shape.bands != lastBands || (shape.feeder > 0) != lastComputes;
    if (!newBands && full)
      continue;
    applyShape(network, plan, shape);
    if ((!newBands && plan.mapping.columns == lastColumns) ||
        (!plan.pinnedColumns && multiplyAddCycles() > wanted.mostCycles))
      continue;
    if (!contraction || newBands) { // producers will cut channels where it suits the slices
      chooseInputBlocks();
      branches = branchWords(network, KernelRows(target, network, index));
    }
    if (newBands)
      fitting = full = 0;
    lastBands = shape.bands;
    lastComputes = shape.feeder > 0;
    lastColumns = plan.mapping.columns;
    auto cost = kernelCost(target, network, index);
    if (!cost.ok() && ((contraction && plan.coLocated < 0) || plan.spec.kind == KernelKind::Window)) {
      shape.streamed = true;
      applyShape(network, plan, shape);
      cost = kernelCost(target, network, index);
    }
    if (!cost.ok()) {
      if (refusal.ok())
        refusal = cost.status();
      full = fitting > 0;
      continue;
    }
    ++fitting;
    add(shape, *cost, branches);
    if (!contraction && branches > cost->predictedCycles)
      addWithFewerSlices(shape, branches);
  }
  chooseSlices(network, plan, 1);
  chooseInputBlocks();
  chooseNominalBlocks(network, plan.spec.outStream);
  if (kernel.candidates.empty())
    return absl::ResourceExhaustedError(
        absl::StrCat("kernel ", plan.spec.name, " fits no rectangle: ", std::string(refusal.message())));
  if (plan.pinnedColumns)
    if (auto status = keepPinned(*plan.pinnedColumns, candidates); !status.ok())
      return status;
  return candidates;
}

bool hasFewerSlices(const solver::sizing::Candidate &candidate) { return Shape::parse(candidate.tag).moreChannels > 0; }

void dropNeedless(Candidates &candidates, int64_t intervalCycles) {
  const std::vector<solver::sizing::Candidate> &all = candidates.kernel.candidates;
  auto hasRoom = [&](size_t c) { return withWaiting(candidates.branchWords[c]) <= intervalCycles; };
  bool anyHasRoom = false;
  for (size_t c = 0; c < all.size(); ++c)
    anyHasRoom |= all[c].intervalCycles <= intervalCycles && hasRoom(c);
  Candidates kept;
  kept.kernel.name = candidates.kernel.name;
  bool needless = false;
  for (size_t c = 0; c < all.size(); ++c) {
    if (!hasFewerSlices(all[c]))
      needless = withWaiting(all[c].intervalCycles) <= intervalCycles;
    else if (needless)
      continue;
    if (anyHasRoom && !hasRoom(c))
      continue;
    kept.kernel.candidates.push_back(all[c]);
    kept.leastCycles.push_back(candidates.leastCycles[c]);
    kept.branchWords.push_back(candidates.branchWords[c]);
    kept.feedCycles.push_back(candidates.feedCycles[c]);
  }
  candidates = std::move(kept);
}

void applyCandidate(NetworkPlan &network, int32_t index, const solver::sizing::Candidate &candidate) {
  applyShape(network, network.kernels[index], Shape::parse(candidate.tag));
}

} // namespace wsc::kernels
