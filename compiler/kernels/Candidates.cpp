// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/Candidates.h"

#include "compiler/kernels/ChannelBlocks.h"
#include "compiler/kernels/Cost.h"
#include "compiler/kernels/LinkLoads.h"

#include "absl/strings/str_cat.h"

namespace wsc::kernels {

namespace {

// Columns a window or elementwise kernel may take at most.
constexpr int64_t kMostColumns = 16;

// The shape in a candidate's tag: "s" if streamed; channels per column of a contraction, else columns.
struct Shape {
  bool streamed = false;
  int64_t number = 1;
  std::string tag() const { return absl::StrCat(streamed ? "s" : "", number); }
  static Shape parse(const std::string &tag) {
    bool streamed = tag.front() == 's';
    return {streamed, std::stoll(tag.substr(streamed))};
  }
};

// The output's blocks are those that go with the shape; inputs keep theirs.
void applyShape(NetworkPlan &network, KernelPlan &plan, const Shape &shape) {
  plan.mapping.streamed = shape.streamed;
  if (plan.spec.kind == KernelKind::Contraction) {
    plan.mapping.channelsPerColumn = shape.number;
    plan.mapping.columns = ceilDiv(plan.spec.out.channels, shape.number);
  } else {
    chooseSlices(network, plan, shape.number);
  }
  chooseBlocks(network, plan);
}

// The shapes worth costing, narrower ones later: one for each number of columns.
std::vector<int64_t> numbersOf(const target::Target &target, const KernelPlan &plan) {
  std::vector<int64_t> numbers;
  int64_t channels = plan.spec.out.channels;
  if (plan.spec.kind == KernelKind::Contraction) {
    int64_t lastColumns = -1;
    for (int64_t per = 1; per <= channels; ++per) {
      int64_t columns = ceilDiv(channels, per);
      if (columns == lastColumns || (columns + 1 > target.cols && per < channels))
        continue;
      lastColumns = columns;
      numbers.push_back(per);
    }
  } else if (plan.spec.state || plan.spec.kind == KernelKind::Softmax) {
    numbers.push_back(1);
  } else {
    for (int64_t columns = std::min(kMostColumns, channels); columns >= 1; --columns)
      numbers.push_back(columns);
  }
  return numbers;
}

} // namespace

void chooseSlices(const NetworkPlan &network, KernelPlan &plan, int64_t columns) {
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
  int64_t across = contraction ? 1 : columns;
  m.channelsPerSlice = ceilDiv(channels, rows * across);
  int64_t slices = ceilDiv(channels, m.channelsPerSlice); // in all columns
  m.slices = ceilDiv(slices, across);
  if (!contraction) {
    m.columns = ceilDiv(slices, m.slices);
    m.channelsPerColumn = m.columns > 1 ? m.slices * m.channelsPerSlice : channels;
  }
}

absl::StatusOr<solver::sizing::Kernel> candidatesOf(const target::Target &target, NetworkPlan &network, int32_t index) {
  KernelPlan &plan = network.kernels[index];
  bool contraction = plan.spec.kind == KernelKind::Contraction;
  solver::sizing::Kernel kernel;
  kernel.name = plan.spec.name;
  absl::Status refusal;
  auto chooseInputBlocks = [&] {
    for (const KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams) {
        chooseNominalBlocks(network, stream);
        layOutLanes(network, stream);
      }
  };
  // Columns of a contraction change nothing about what its feeders take.
  chooseInputBlocks();
  int64_t teeth = toothWords(network, KernelRows(target, network, index));
  int64_t lastColumns = -1;
  for (int64_t number : numbersOf(target, plan)) {
    Shape shape{false, number};
    applyShape(network, plan, shape);
    if (plan.mapping.columns == lastColumns)
      continue;
    lastColumns = plan.mapping.columns;
    if (!contraction) { // producers will cut channels where it suits this shape
      chooseInputBlocks();
      teeth = toothWords(network, KernelRows(target, network, index));
    }
    auto cost = kernelCost(target, network, index);
    if (!cost.ok() && (contraction || plan.spec.kind == KernelKind::Window)) {
      shape.streamed = true;
      applyShape(network, plan, shape);
      cost = kernelCost(target, network, index);
    }
    if (!cost.ok()) {
      // Fewer columns only need more SRAM.
      if (refusal.ok())
        refusal = cost.status();
      if (!kernel.candidates.empty())
        break;
      continue;
    }
    kernel.candidates.push_back({plan.width(), std::max(cost->intervalCycles, teeth), cost->sramBytes, shape.tag()});
  }
  chooseSlices(network, plan, 1);
  chooseInputBlocks();
  chooseNominalBlocks(network, plan.spec.outStream);
  if (kernel.candidates.empty())
    return absl::ResourceExhaustedError(absl::StrCat("kernel ", plan.spec.name, " fits no rectangle: ",
                                                     std::string(refusal.message()),
                                                     "; use a target with more SRAM per core or more rows"));
  return kernel;
}

void applyCandidate(NetworkPlan &network, int32_t index, const solver::sizing::Candidate &candidate) {
  applyShape(network, network.kernels[index], Shape::parse(candidate.tag));
}

} // namespace wsc::kernels
