// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/Candidates.h"

#include "compiler/kernels/ChannelBlocks.h"
#include "compiler/kernels/Cost.h"
#include "compiler/kernels/LinkLoads.h"

#include "absl/strings/str_cat.h"

#include <set>

namespace wsc::kernels {

namespace {

// The shape in a candidate's tag: "s" if streamed; bands of a contraction and its channels per column, or columns.
struct Shape {
  bool streamed = false;
  int64_t bands = 1, number = 1;
  std::string tag() const { return absl::StrCat(streamed ? "s" : "", bands, "x", number); }
  static Shape parse(const std::string &tag) {
    bool streamed = tag.front() == 's';
    return {streamed, std::stoll(tag.substr(streamed)), std::stoll(tag.substr(tag.find('x') + 1))};
  }
};

void applyColumns(KernelPlan &plan, int64_t channelsPerColumn) {
  Mapping &m = plan.mapping;
  int64_t columns = ceilDiv(plan.spec.out.channels, channelsPerColumn);
  m.channelsPerColumn = channelsPerColumn;
  m.columns = ceilDiv(columns, m.bands);
  m.bands = ceilDiv(columns, m.columns);
}

// The output's blocks are those that go with the shape; inputs keep theirs.
void applyShape(NetworkPlan &network, KernelPlan &plan, const Shape &shape) {
  plan.mapping.streamed = shape.streamed;
  chooseSlices(network, plan, plan.spec.kind == KernelKind::Contraction ? shape.bands : shape.number);
  if (plan.spec.kind == KernelKind::Contraction)
    applyColumns(plan, shape.number);
  chooseBlocks(network, plan);
}

// The shapes worth costing, narrower ones later, by bands: one for each number of columns.
std::vector<Shape> shapesOf(const target::Target &target, const NetworkPlan &network, const KernelPlan &plan) {
  std::vector<Shape> shapes;
  int64_t channels = plan.spec.out.channels;
  const StreamLayout &out = network.streams[plan.spec.outStream].layout;
  int64_t most = std::min(out.mostBlocks, channels); // every share's results leave on lanes of their own
  if (plan.spec.kind == KernelKind::Contraction) {
    int64_t rows = network.grid.groupRows(out.numTiles());
    for (int64_t bands : {1, 2, 3, 4, 6}) {
      if (bands > most || bands > rows)
        break;
      int64_t lastColumns = -1;
      for (int64_t per = 1; per * bands <= channels + bands - 1; ++per) {
        int64_t columns = ceilDiv(ceilDiv(channels, per), bands);
        if (columns == lastColumns || (columns + 1 > target.cols && per < channels))
          continue;
        lastColumns = columns;
        shapes.push_back({false, bands, per});
      }
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
    }
  candidates = std::move(kept);
  return absl::OkStatus();
}

} // namespace

void chooseSlices(const NetworkPlan &network, KernelPlan &plan, int64_t shares) {
  Mapping &m = plan.mapping;
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
    channels = 0;
    for (int32_t stream : plan.spec.inputs[0].streams)
      channels += network.streams[stream].layout.plane.channels;
  }
  int64_t rows = network.grid.groupRows(network.streams[plan.spec.outStream].layout.numTiles());
  if (plan.spec.kind == KernelKind::Softmax)
    rows = 1;
  if (contraction) {
    m.bands = shares;
    m.channelsPerSlice = ceilDiv(channels, std::max<int64_t>(1, rows / shares));
    m.slices = ceilDiv(channels, m.channelsPerSlice);
    m.channelsPerColumn = 1; // until it is chosen
    m.columns = ceilDiv(plan.spec.out.channels, shares);
    return;
  }
  const Window &window = plan.spec.window; // of one channel each for other kernels
  m.channelsPerColumn = ceilDiv(channels, shares);
  while (!window.dividesEvenly(m.channelsPerColumn))
    ++m.channelsPerColumn;
  m.columns = ceilDiv(channels, m.channelsPerColumn);
  m.channelsPerSlice = ceilDiv(m.channelsPerColumn, rows);
  while (!window.dividesEvenly(m.channelsPerSlice) ||
         (m.channelsPerSlice < window.groupOut && m.channelsPerColumn % m.channelsPerSlice != 0))
    ++m.channelsPerSlice;
  m.slices = ceilDiv(m.channelsPerColumn, m.channelsPerSlice);
}

absl::StatusOr<Candidates> candidatesOf(const target::Target &target, NetworkPlan &network, int32_t index) {
  KernelPlan &plan = network.kernels[index];
  bool contraction = plan.spec.kind == KernelKind::Contraction;
  Candidates candidates;
  solver::sizing::Kernel &kernel = candidates.kernel;
  kernel.name = plan.spec.name;
  absl::Status refusal;
  auto chooseInputBlocks = [&] {
    for (const KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams) {
        chooseNominalBlocks(network, stream);
        layOutLanes(network, stream);
      }
  };
  int64_t lastBands = 0, lastColumns = -1, teeth = 0;
  size_t fitting = 0; // candidates with these bands
  bool full = false;  // fewer columns only need more SRAM
  for (Shape shape : shapesOf(target, network, plan)) {
    bool newBands = shape.bands != lastBands;
    if (!newBands && full)
      continue;
    applyShape(network, plan, shape);
    if (!newBands && plan.mapping.columns == lastColumns)
      continue;
    if (!contraction || newBands) { // producers will cut channels where it suits the slices
      chooseInputBlocks();
      teeth = toothWords(network, KernelRows(target, network, index));
    }
    if (newBands)
      fitting = full = 0;
    lastBands = shape.bands;
    lastColumns = plan.mapping.columns;
    auto cost = kernelCost(target, network, index);
    if (!cost.ok() && (contraction || plan.spec.kind == KernelKind::Window)) {
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
    kernel.candidates.push_back({plan.width(), std::max(cost->predictedCycles, teeth), cost->sramBytes, shape.tag()});
    candidates.leastCycles.push_back(cost->intervalCycles);
  }
  chooseSlices(network, plan, 1);
  chooseInputBlocks();
  chooseNominalBlocks(network, plan.spec.outStream);
  if (kernel.candidates.empty())
    return absl::ResourceExhaustedError(absl::StrCat("kernel ", plan.spec.name,
                                                     " fits no rectangle: ", std::string(refusal.message()),
                                                     "; use a target with more SRAM per core or more rows"));
  if (plan.pinnedColumns)
    if (auto status = keepPinned(*plan.pinnedColumns, candidates); !status.ok())
      return status;
  return candidates;
}

void applyCandidate(NetworkPlan &network, int32_t index, const solver::sizing::Candidate &candidate) {
  applyShape(network, network.kernels[index], Shape::parse(candidate.tag));
}

} // namespace wsc::kernels
