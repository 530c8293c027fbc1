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

// Receivers whose slices a block boundary at `channel` would cut: their rows would have to take the lanes on both sides.
int64_t slicesCut(const NetworkPlan &network, int32_t streamIndex, int64_t channel) {
  int64_t cut = 0;
  for (int32_t consumer : network.streams[streamIndex].consumers) {
    const KernelPlan &plan = network.kernels[consumer];
    for (const KernelInput &input : plan.spec.inputs) {
      int64_t offset = 0;
      for (int32_t stream : input.streams) {
        cut += stream == streamIndex && (offset + channel) % plan.mapping.channelsPerSlice != 0;
        offset += network.streams[stream].layout.plane.channels;
      }
    }
  }
  return cut;
}

// Boundaries of the channel blocks of a kernel's output: whole columns (contraction) or slices, near equal parts, between the slices of receivers where
// such a place is near.
void alignBlocks(NetworkPlan &network, const KernelPlan &plan, int64_t unit, int64_t units) {
  StreamLayout &layout = network.streams[plan.spec.outStream].layout;
  int64_t blocks = std::min({layout.numBlocks(), units, plan.mapping.slices});
  layout.blockBegin = {0};
  for (int64_t block = 1; block < blocks; ++block) {
    int64_t ideal = block * units / blocks, best = ideal, reach = units / (4 * blocks);
    auto rank = [&](int64_t at) {
      return std::pair(slicesCut(network, plan.spec.outStream, at * unit), std::abs(at - ideal));
    };
    for (int64_t at = std::max(ideal - reach, layout.blockBegin.back() / unit + 1); at <= std::min(ideal + reach, units - 1); ++at)
      if (rank(at) < rank(best))
        best = at;
    layout.blockBegin.push_back(best * unit);
  }
  layout.blockBegin.push_back(layout.plane.channels);
}

void chooseBlocks(NetworkPlan &network, const KernelPlan &plan) {
  if (plan.spec.kind == KernelKind::Contraction)
    alignBlocks(network, plan, plan.mapping.channelsPerColumn, plan.mapping.columns);
  else
    alignBlocks(network, plan, plan.mapping.channelsPerSlice, plan.mapping.slices);
}

void setColumns(KernelPlan &plan, int64_t channelsPerColumn) {
  plan.mapping.channelsPerColumn = channelsPerColumn;
  plan.mapping.columns = ceilDiv(plan.spec.out.channels, channelsPerColumn);
}

// The tag of a candidate: "s" if streamed, and channels per column.
int64_t channelsPerColumn(const solver::sizing::Candidate &candidate) {
  return std::stoll(candidate.tag.substr(candidate.tag.front() == 's' ? 1 : 0));
}

int64_t columnsLeft(const solver::sizing::Problem &problem, const solver::sizing::Solution &solution) {
  int64_t left = problem.columnLimit;
  for (size_t k = 0; k < problem.kernels.size(); ++k)
    left -= problem.kernels[k].candidates[solution.candidateOf[k]].columns;
  return left;
}

// The candidates with the number of columns that the user wants. Error: none has it; which there are.
absl::StatusOr<solver::sizing::Kernel> keepPinned(int64_t columns, solver::sizing::Kernel kernel) {
  std::set<int64_t> widths;
  for (const solver::sizing::Candidate &candidate : kernel.candidates)
    widths.insert(candidate.columns);
  if (!widths.count(columns)) {
    const auto above = widths.lower_bound(columns);
    std::string nearest = above == widths.begin() ? "" : absl::StrCat(*std::prev(above));
    if (above != widths.end())
      absl::StrAppend(&nearest, nearest.empty() ? "" : " and ", *above);
    return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.name, " is pinned to ", columns,
                                                   " columns, which none of its mappings has; from ", *widths.begin(), " to ",
                                                   *widths.rbegin(), " are possible, nearest ", nearest));
  }
  std::erase_if(kernel.candidates, [&](const solver::sizing::Candidate &candidate) { return candidate.columns != columns; });
  return kernel;
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
    plan.mapping.streamed = false;
    auto cost = kernelCost(target, network, index);
    if (!cost.ok() && (contraction || plan.spec.kind == KernelKind::Window)) {
      plan.mapping.streamed = true;
      cost = kernelCost(target, network, index);
    }
    if (!cost.ok()) {
      // More channels per column only need more SRAM.
      if (refusal.ok())
        refusal = cost.status();
      if (!kernel.candidates.empty())
        break;
      continue;
    }
    kernel.candidates.push_back({contraction ? columns + 1 : 1, cost->intervalCycles, cost->sramBytes,
                                 absl::StrCat(plan.mapping.streamed ? "s" : "", per)});
  }
  out.blockBegin = nominalBlocks;
  if (kernel.candidates.empty())
    return absl::ResourceExhaustedError(absl::StrCat("kernel ", plan.spec.name, " fits no rectangle: ", std::string(refusal.message()),
                                                     "; use a target with more SRAM per core or more rows"));
  return plan.pinnedColumns ? keepPinned(*plan.pinnedColumns, std::move(kernel)) : kernel;
}

// Depth of the FIFOs where paths rejoin. `arrival` is when a stream's first sample is complete, uncontended.
absl::Status chooseFifos(const target::Target &target, NetworkPlan &network, int64_t intervalCycles,
                         std::vector<PassRequest> &requests) {
  constexpr int64_t kMostSamples = 16; // asked of a kernel that is there for its FIFO
  std::vector<int64_t> arrival(network.streams.size(), 0);
  std::vector<int64_t> held(network.streams.size(), 0); // samples that kernels which only pass a stream on hold for it
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    KernelPlan &plan = network.kernels[k];
    int64_t latest = 0;
    for (const KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams)
        latest = std::max(latest, arrival[stream]);
    // Samples held ahead let groups of rows drift apart without holding each other up; feeders have SRAM to spare for them.
    bool passes = plan.spec.kind == KernelKind::Elementwise && plan.spec.tileOps.empty() && plan.spec.inputs.size() == 1 &&
                  plan.spec.inputs[0].streams.size() == 1;
    int64_t ahead = plan.spec.kind == KernelKind::Contraction ? 8 : 4;
    std::vector<int64_t> wanted;
    for (const KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams)
        wanted.push_back(passes ? kMostSamples
                                : std::max(ahead, ahead - held[stream] + ceilDiv(latest - arrival[stream],
                                                                                 std::max<int64_t>(1, intervalCycles))));
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
    if (passes) {
      int32_t in = plan.spec.inputs[0].streams[0];
      held[plan.spec.outStream] = held[in] + plan.mapping.fifoSamples[0];
      continue;
    }
    // Where a join does not hold what it wants, a kernel before it can.
    size_t ordinal = 0;
    for (const KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams) {
        if (plan.mapping.fifoSamples[ordinal] < wanted[ordinal] && wanted[ordinal] > ahead)
          requests.push_back({stream, int32_t(k)});
        ++ordinal;
      }
  }
  return absl::OkStatus();
}

// For each candidate of each kernel: whether its channel blocks end between the slices of every receiver.
std::vector<std::vector<bool>> alignedCandidates(NetworkPlan &network, const solver::sizing::Problem &problem) {
  std::vector<std::vector<bool>> aligned(problem.kernels.size());
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    KernelPlan &plan = network.kernels[k];
    StreamLayout &layout = network.streams[plan.spec.outStream].layout;
    std::vector<int64_t> nominal = layout.blockBegin;
    for (const auto &candidate : problem.kernels[k].candidates) {
      if (plan.spec.kind == KernelKind::Contraction)
        setColumns(plan, channelsPerColumn(candidate));
      layout.blockBegin = nominal;
      chooseBlocks(network, plan);
      int64_t cut = 0;
      for (int64_t block = 1; block < layout.numBlocks(); ++block)
        cut += slicesCut(network, plan.spec.outStream, layout.blockBegin[block]);
      aligned[k].push_back(cut == 0);
    }
    layout.blockBegin = nominal;
  }
  return aligned;
}

// Where the chosen columns make receivers take lanes twice, a few columns more may not; as far as there are columns left.
void alignColumns(const solver::sizing::Problem &problem, const std::vector<std::vector<bool>> &aligned,
                  solver::sizing::Solution &solution) {
  int64_t left = columnsLeft(problem, solution);
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    const auto &candidates = problem.kernels[k].candidates;
    int32_t now = solution.candidateOf[k], best = now;
    if (aligned[k][now])
      continue;
    for (size_t c = 0; c < candidates.size(); ++c)
      if (aligned[k][c] && candidates[c].intervalCycles <= candidates[now].intervalCycles &&
          candidates[c].columns - candidates[now].columns <= left &&
          (best == now || candidates[c].columns < candidates[best].columns))
        best = int32_t(c);
    left -= candidates[best].columns - candidates[now].columns;
    solution.candidateOf[k] = best;
  }
}

// Columns that the least interval leaves over make kernels quicker one by one, most cycles per column first: the first sample arrives sooner.
void spendColumns(const solver::sizing::Problem &problem, const std::vector<std::vector<bool>> &aligned,
                  solver::sizing::Solution &solution) {
  int64_t left = columnsLeft(problem, solution);
  for (;;) {
    double bestGain = 0;
    size_t bestKernel = 0;
    int32_t bestCandidate = -1;
    for (size_t k = 0; k < problem.kernels.size(); ++k) {
      const auto &candidates = problem.kernels[k].candidates;
      const auto &now = candidates[solution.candidateOf[k]];
      for (size_t c = 0; c < candidates.size(); ++c) {
        int64_t columns = candidates[c].columns - now.columns, gain = now.intervalCycles - candidates[c].intervalCycles;
        if (aligned[k][solution.candidateOf[k]] && !aligned[k][c])
          continue;
        if (columns > 0 && columns <= left && double(gain) / double(columns) > bestGain) {
          bestGain = double(gain) / double(columns);
          bestKernel = k;
          bestCandidate = int32_t(c);
        }
      }
    }
    if (bestCandidate < 0)
      return;
    left -= problem.kernels[bestKernel].candidates[bestCandidate].columns -
            problem.kernels[bestKernel].candidates[solution.candidateOf[bestKernel]].columns;
    solution.candidateOf[bestKernel] = bestCandidate;
  }
}

// Tiles larger than the mesh asks for, wanted by a receiver, make a kernel take in much more at a time: let a kernel of its own join the tiles.
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

absl::StatusOr<SizingReport> sizeNetwork(const target::Target &target, NetworkPlan &network, bool mayAsk) {
  if (auto status = chooseTiles(target, network); !status.ok())
    return status;
  SizingReport report;
  findJoinedTiles(target, network, report.passes);
  if (mayAsk && !report.passes.empty())
    return report;
  report.passes.clear();
  for (KernelPlan &plan : network.kernels)
    chooseSlices(network, plan);
  // Until columns are chosen, producers are taken to cut their channels where it suits their receivers.
  for (const KernelPlan &plan : network.kernels)
    alignBlocks(network, plan, 1, plan.spec.out.channels);
  solver::sizing::Problem problem;
  problem.columnLimit = freeColumns(target, network);
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    KernelPlan &plan = network.kernels[k];
    plan.mapping.fifoSamples.clear();
    int64_t components = 0;
    for (const KernelInput &input : plan.spec.inputs)
      components += int64_t(input.streams.size());
    plan.mapping.fifoSamples.assign(components, 1);
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
  std::vector<std::vector<bool>> aligned = alignedCandidates(network, problem);
  alignColumns(problem, aligned, *solution);
  spendColumns(problem, aligned, *solution);
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    KernelPlan &plan = network.kernels[k];
    const auto &candidate = problem.kernels[k].candidates[solution->candidateOf[k]];
    plan.mapping.streamed = candidate.tag.front() == 's';
    if (plan.spec.kind == KernelKind::Contraction)
      setColumns(plan, channelsPerColumn(candidate));
    plan.predictedIntervalCycles = candidate.intervalCycles;
    chooseBlocks(network, plan);
  }
  auto stats = solver::sizing::evaluate(problem, *solution);
  report.columns = stats.columns;
  report.bottleneckKernel = stats.slowestKernel;
  report.intervalLowerBound = int64_t(stats.lowerBound);
  if (auto status = chooseFifos(target, network, report.intervalLowerBound, report.passes); !status.ok())
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
        return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.spec.name, " cannot lie at column ",
                                                       kernel.placement.col, ": its variable ", variable.tensor.name,
                                                       " lies at column ", variable.col));
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
    return absl::ResourceExhaustedError(
        absl::StrCat("the network needs ", col, " columns, target ", target.name, " has ", free,
                     free < target.cols ? " west of the state variables" : "", "; use a larger mesh"));
  return absl::OkStatus();
}

} // namespace wsc::kernels
