// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/MapNetwork.h"

#include "compiler/kernels/StateLayout.h"
#include "compiler/kernels/Tiling.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>

namespace wsc::kernels {

namespace {

int64_t groupRows(const NetworkPlan &network, const KernelPlan &plan) {
  return network.grid.groupRows(network.streams[plan.spec.outStream].layout.numTiles());
}

// Slices: contraction: input channels; column kernels: output channels (softmax keeps them together).
void chooseSlices(const NetworkPlan &network, KernelPlan &plan) {
  if (plan.spec.state) {
    const VariablePlan &variable = network.variables[plan.spec.state->variable];
    plan.mapping.channelsPerSlice = variable.channelsPerSlice;
    plan.mapping.slices = variable.slices();
    return;
  }
  int64_t channels = plan.spec.kind == KernelKind::Contraction ? inputPlane(network, plan.spec, 0).channels
                                                               : plan.spec.out.channels;
  int64_t rows = plan.spec.kind == KernelKind::Softmax ? 1 : groupRows(network, plan);
  plan.mapping.channelsPerSlice = ceilDiv(channels, rows);
  plan.mapping.slices = ceilDiv(channels, plan.mapping.channelsPerSlice);
}

// Boundaries of the channel blocks of a kernel's output: whole columns (contraction) or slices.
void chooseBlocks(NetworkPlan &network, const KernelPlan &plan) {
  StreamLayout &layout = network.streams[plan.spec.outStream].layout;
  bool contraction = plan.spec.kind == KernelKind::Contraction;
  int64_t unit = contraction ? plan.mapping.channelsPerColumn : plan.mapping.channelsPerSlice;
  int64_t units = contraction ? plan.mapping.columns : plan.mapping.slices;
  int64_t blocks = std::min({layout.numBlocks(), units, plan.mapping.slices});
  layout.blockBegin = {0};
  for (int64_t block = 1; block < blocks; ++block)
    layout.blockBegin.push_back(block * units / blocks * unit);
  layout.blockBegin.push_back(layout.plane.channels);
}

void setColumns(KernelPlan &plan, int64_t channelsPerColumn) {
  plan.mapping.channelsPerColumn = channelsPerColumn;
  plan.mapping.columns = ceilDiv(plan.spec.out.channels, channelsPerColumn);
}

// Candidates by output channels per column, one for each number of columns.
absl::StatusOr<solver::sizing::Kernel> candidatesOf(const target::Target &target, NetworkPlan &network, int32_t index) {
  KernelPlan &plan = network.kernels[index];
  StreamLayout &out = network.streams[plan.spec.outStream].layout;
  std::vector<int64_t> nominalBlocks = out.blockBegin;
  solver::sizing::Kernel kernel;
  kernel.name = plan.spec.name;
  absl::Status refusal;
  int64_t lastColumns = -1;
  bool contraction = plan.spec.kind == KernelKind::Contraction;
  for (int64_t per = 1; per <= (contraction ? plan.spec.out.channels : 1); ++per) {
    int64_t columns = contraction ? ceilDiv(plan.spec.out.channels, per) : 1;
    if (columns == lastColumns || (contraction && columns + 1 > target.cols && per < plan.spec.out.channels))
      continue;
    lastColumns = columns;
    setColumns(plan, per);
    out.blockBegin = nominalBlocks;
    chooseBlocks(network, plan);
    auto cost = kernelCost(target, network, index);
    if (!cost.ok()) {
      // More channels per column only need more SRAM.
      if (refusal.ok())
        refusal = cost.status();
      if (!kernel.candidates.empty())
        break;
      continue;
    }
    kernel.candidates.push_back({contraction ? columns + 1 : 1, cost->intervalCycles, cost->sramBytes, std::to_string(per)});
  }
  out.blockBegin = nominalBlocks;
  if (kernel.candidates.empty())
    return absl::ResourceExhaustedError(absl::StrCat("kernel ", plan.spec.name, " fits no rectangle: ", std::string(refusal.message()),
                                                     "; use a target with more SRAM per core or --execution=weight-streaming"));
  return kernel;
}

// Depth of the FIFOs where paths rejoin. `arrival` is when a stream's first sample is complete, uncontended.
absl::Status chooseFifos(const target::Target &target, NetworkPlan &network, int64_t intervalCycles) {
  std::vector<int64_t> arrival(network.streams.size(), 0);
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    KernelPlan &plan = network.kernels[k];
    int64_t latest = 0;
    for (const KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams)
        latest = std::max(latest, arrival[stream]);
    std::vector<int64_t> wanted;
    for (const KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams)
        wanted.push_back(2 + (latest - arrival[stream] + intervalCycles - 1) / std::max<int64_t>(1, intervalCycles));
    // The largest common reduction that fits: shorten the deepest FIFO until the kernel's cores hold it.
    plan.mapping.fifoSamples = wanted;
    for (;;) {
      auto cost = kernelCost(target, network, int32_t(k));
      if (cost.ok()) {
        arrival[plan.spec.outStream] = latest + cost->latencyCycles;
        break;
      }
      auto deepest = std::max_element(plan.mapping.fifoSamples.begin(), plan.mapping.fifoSamples.end());
      if (*deepest == 1)
        return cost.status();
      --*deepest;
    }
  }
  return absl::OkStatus();
}

} // namespace

void layOutLanes(NetworkPlan &network) {
  for (StreamPlan &stream : network.streams) {
    StreamLayout &layout = stream.layout;
    layout.laneRows.clear();
    for (int64_t tile = 0; tile < layout.numTiles(); ++tile)
      for (int64_t block = 0; block < layout.numBlocks(); ++block) {
        int64_t base = network.grid.groupBegin(tile, layout.numTiles()), row = base;
        if (stream.producer >= 0) {
          const KernelPlan &producer = network.kernels[stream.producer];
          const Mapping &m = producer.mapping;
          if (producer.spec.kind == KernelKind::Contraction)
            row = base + endSlice(block, layout.numBlocks(), m.slices);
          else
            row = base + ceilDiv(layout.blockBegin[block + 1], m.channelsPerSlice) - 1;
        }
        layout.laneRows.push_back(int32_t(row));
      }
  }
}

absl::StatusOr<SizingReport> sizeNetwork(const target::Target &target, NetworkPlan &network) {
  if (auto status = chooseTiles(target, network); !status.ok())
    return status;
  solver::sizing::Problem problem;
  problem.columnLimit = freeColumns(target, network);
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    KernelPlan &plan = network.kernels[k];
    plan.mapping.fifoSamples.clear();
    int64_t components = 0;
    for (const KernelInput &input : plan.spec.inputs)
      components += int64_t(input.streams.size());
    plan.mapping.fifoSamples.assign(components, 1);
    chooseSlices(network, plan);
    problem.columnLimit += plan.spec.state.has_value(); // lies in its variable's column
    auto kernel = candidatesOf(target, network, int32_t(k));
    if (!kernel.ok())
      return kernel.status();
    problem.kernels.push_back(*std::move(kernel));
  }
  auto solution = solver::sizing::solve(problem);
  if (!solution.ok())
    return solution.status();
  if (auto status = solution->verify(problem); !status.ok())
    return status;
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    KernelPlan &plan = network.kernels[k];
    const auto &candidate = problem.kernels[k].candidates[solution->candidateOf[k]];
    if (plan.spec.kind == KernelKind::Contraction)
      setColumns(plan, std::stoll(candidate.tag));
    plan.predictedIntervalCycles = candidate.intervalCycles;
    chooseBlocks(network, plan);
  }
  auto stats = solver::sizing::evaluate(problem, *solution);
  SizingReport report;
  report.columns = stats.columns;
  report.bottleneckKernel = stats.slowestKernel;
  report.intervalLowerBound = int64_t(stats.lowerBound);
  if (auto status = chooseFifos(target, network, report.intervalLowerBound); !status.ok())
    return status;
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    auto cost = kernelCost(target, network, int32_t(k));
    if (!cost.ok())
      return cost.status();
    network.kernels[k].predictedIntervalCycles = cost->intervalCycles;
    if (cost->intervalCycles > report.intervalCycles) {
      report.intervalCycles = cost->intervalCycles;
      report.bottleneckKernel = int32_t(k);
    }
  }
  layOutLanes(network);
  return report;
}

absl::Status placeNetwork(const target::Target &target, NetworkPlan &network) {
  int32_t col = 0, free = freeColumns(target, network);
  for (KernelPlan &kernel : network.kernels) {
    if (kernel.spec.state) {
      const VariablePlan &variable = network.variables[kernel.spec.state->variable];
      if (kernel.placement.col >= 0 && kernel.placement.col != variable.col)
        return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.spec.name, " cannot lie at column ", kernel.placement.col,
                                                       ": its variable ", variable.tensor.name, " lies at column ", variable.col));
      kernel.placement.col = variable.col;
      continue;
    }
    if (kernel.placement.col >= 0) {
      if (kernel.placement.col < col)
        return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.spec.name, " cannot begin at column ",
                                                       kernel.placement.col, ": columns up to ", col, " are taken by kernels before it"));
      col = kernel.placement.col;
    }
    kernel.placement.col = col;
    col += kernel.width();
  }
  if (col > free)
    return absl::ResourceExhaustedError(absl::StrCat("the network needs ", col, " columns, target ", target.name, " has ", free,
                                                     free < target.cols ? " west of the state variables" : "", "; use a larger mesh"));
  return absl::OkStatus();
}

} // namespace wsc::kernels
