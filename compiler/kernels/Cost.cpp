// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/Cost.h"

#include "compiler/kernels/Send.h"

#include "absl/strings/str_cat.h"

#include <map>
#include <set>

namespace wsc::kernels {

// Slices that can be the busiest: first and last, where reductions end, and where most words pass.
static std::set<int64_t> tellingSlices(const NetworkPlan &network, const KernelPlan &plan, const KernelRows &rows) {
  const StreamLayout &out = network.streams[plan.spec.outStream].layout;
  std::set<int64_t> slices{0, rows.slices() - 1};
  if (plan.spec.kind == KernelKind::Contraction)
    for (int64_t block = 0; block < out.numBlocks(); ++block)
      slices.insert(blockSite(plan, out, block).slice);
  int64_t most = -1, busiest = 0;
  for (int64_t slice = 0; slice < rows.slices(); ++slice)
    for (int64_t share = 0; share < rows.shares(); ++share) {
      int64_t passing = 0;
      for (const ComponentParts &component : rows.row(rows.numGroups() / 2, slice, share).components)
        for (const LanePart &part : component.parts)
          passing += network.streams[component.stream].layout.laneWords(part.tile, part.block);
      if (passing > most) {
        most = passing;
        busiest = slice;
      }
    }
  slices.insert(busiest);
  return slices;
}

// Equal for compute cores of a contraction whose programs cost the same; different for all others.
static std::vector<int64_t> signature(const KernelRow &row, const RowPart &part) {
  if (part.kind == RowPart::Kind::Feeder)
    return {int64_t(part.kind), row.group, row.slice}; // all bands take in the same
  if (part.kind == RowPart::Kind::Column)
    return {int64_t(part.kind), row.group, row.slice, part.share};
  std::vector<int64_t> key{int64_t(part.kind),
                           row.group,
                           part.channels,
                           part.first,
                           part.atBlockEdge,
                           part.aloneInBlock,
                           part.kind == RowPart::Kind::End ? row.slice : 0,
                           row.needed[0].channels()};
  for (const ComponentParts &component : row.components)
    key.push_back(int64_t(component.parts.size()));
  return key;
}

// Words of the lanes that leave on each row of a group.
static std::map<int64_t, int64_t> wordsByRow(const NetworkPlan &network, const KernelPlan &plan) {
  const StreamLayout &out = network.streams[plan.spec.outStream].layout;
  std::map<int64_t, int64_t> ofRow;
  for (int64_t block = 0; !out.silent && block < out.numBlocks(); ++block) {
    if (plan.spec.kind == KernelKind::Contraction) {
      BlockSite site = blockSite(plan, out, block);
      ofRow[site.band * plan.mapping.slices + site.slice] += out.laneWords(0, block);
    } else {
      ofRow[columnSender(plan, out, out.blockBegin[block]).exitSlice] += out.laneWords(0, block);
    }
  }
  return ofRow;
}

// The cores of a contraction's row take its input together, and while results are gathered on it one of them always
// sends: every other slot of those cycles goes to the lane, unless taking comes first.
static int64_t gatherDelay(const target::Target &target, const KernelRows &rows, const KernelRow &row,
                           const RowPart &part, const std::map<int64_t, int64_t> &ofRow) {
  if (part.kind != RowPart::Kind::End || target.issuePriorities > 1)
    return 0;
  int64_t words = 0;
  for (const ComponentParts &component : row.components)
    words += component.lines() * rows.inputPlane(0).width;
  return std::min(words, ofRow.at(rows.rowOfShare(part.share) + row.slice));
}

// What the lane of a contraction's block takes when several cores send on it, one after another: while one of them
// issues W/n of the lane's W words, its other thread, busy for `others` of the I cycles between samples, takes as many
// slots times others/I. So I = W·(1 + others/I).
static int64_t gatherCycles(int64_t laneWords, int64_t others) {
  const auto words = double(laneWords);
  return int64_t((words + std::sqrt(words * words + 4 * words * double(others))) / 2);
}

// The largest part of a lane's channels that one slice of a receiver takes, of those that take lanes one after the
// other: feeders take them side by side.
static double mostTaken(const NetworkPlan &network, int32_t stream) {
  const StreamLayout &layout = network.streams[stream].layout;
  const double blockChannels = double(layout.plane.channels) / double(layout.numBlocks());
  double most = 0;
  for (int32_t consumer : network.streams[stream].consumers)
    if (const KernelPlan &plan = network.kernels[consumer]; plan.spec.kind != KernelKind::Contraction)
      most = std::max(most, double(plan.mapping.channelsPerSlice) / blockChannels);
  return std::min(most, 1.0);
}

absl::StatusOr<KernelCost> kernelCost(const target::Target &target, const NetworkPlan &network, int32_t index) {
  const KernelPlan &plan = network.kernels[index];
  KernelRows rows(target, network, index);
  KernelCost cost;
  int64_t ingest = 0, compute = 0;
  std::set<int64_t> groups{0, rows.numGroups() / 2, rows.numGroups() - 1};
  std::set<int64_t> slices = tellingSlices(network, plan, rows);
  std::set<std::vector<int64_t>> seen;
  const std::map<int64_t, int64_t> ofRow = wordsByRow(network, plan);
  const StreamLayout &out = network.streams[plan.spec.outStream].layout;
  for (int64_t group : groups)
    for (int64_t slice : slices) {
      SectionTable sections;
      for (const RowPart &part : rows.parts(slice)) {
        KernelRow row = rows.row(group, slice, part.share);
        if (!seen.insert(signature(row, part)).second)
          continue;
        auto made = rows.role(row, part, sections);
        if (!made.ok())
          return made.status();
        const format::Role &role = *made;
        int64_t cycles = issueCycles(target, role);
        cost.intervalCycles = std::max(cost.intervalCycles, cycles);
        cost.predictedCycles = std::max(cost.predictedCycles, cycles + gatherDelay(target, rows, row, part, ofRow));
        if (part.kind == RowPart::Kind::End && !part.aloneInBlock) {
          const int64_t own = part.channels * row.out.rows() * plan.spec.out.width;
          cost.predictedCycles = std::max(
              cost.predictedCycles, gatherCycles(out.laneWords(0, part.block), std::max<int64_t>(0, cycles - own)));
        }
        int64_t &stage = part.kind == RowPart::Kind::Feeder ? ingest : compute;
        stage = std::max(stage, cycles);
        int64_t inputs = 0;
        cost.sramBytes = std::max(cost.sramBytes, sramBytesOf(role));
        for (const format::Queue &queue : role.queues)
          inputs += !queue.output;
        if (inputs > int64_t(target.inputQueueWords.size()))
          return absl::ResourceExhaustedError(absl::StrCat(role.name, " takes ", inputs, " lanes, a core has ",
                                                           target.inputQueueWords.size(), " input queues"));
        if (int64_t(role.threads.size()) > 1 + target.backgroundOperations)
          return absl::ResourceExhaustedError(absl::StrCat(role.name, " needs ", role.threads.size(),
                                                           " threads, a core has ", 1 + target.backgroundOperations));
      }
    }
  // Receivers take lanes in the order of tile modulo `orderModulus`. One that takes in all of a lane keeps those after
  // it waiting so long; behind a filter only its own words count, and lanes follow each other at that distance.
  int64_t laneWords = 0;
  const double taken = target.inputFilters > 0 ? mostTaken(network, plan.spec.outStream) : 1;
  for (auto [row, words] : ofRow)
    cost.predictedCycles =
        std::max(cost.predictedCycles, words + int64_t(double(words * (out.orderModulus - 1)) * taken));
  for (int64_t block = 0; !out.silent && block < out.numBlocks(); ++block)
    laneWords = std::max(laneWords, out.laneWords(0, block));
  cost.intervalCycles = std::max(cost.intervalCycles, laneWords);
  cost.predictedCycles = std::max(cost.predictedCycles, cost.intervalCycles);
  cost.latencyCycles =
      ingest + compute + laneWords + plan.mapping.slices * (2 * target.rampLatencyCycles + target.hopLatencyCycles + 1);
  return cost;
}

} // namespace wsc::kernels
