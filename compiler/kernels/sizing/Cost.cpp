// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/sizing/Cost.h"

#include "compiler/kernels/programs/Ingest.h"
#include "compiler/kernels/programs/Priorities.h"
#include "compiler/kernels/programs/Send.h"

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

// Equal for cores of a contraction whose programs cost the same; different for all others.
static std::vector<int64_t> signature(const target::Target &target, const NetworkPlan &network, const KernelRow &row,
                                      const RowPart &part) {
  if (part.kind == RowPart::Kind::Feeder) {
    std::vector<int64_t> key = takenNumbers(target, network, row);
    key.insert(key.begin(), {int64_t(part.kind), row.group});
    return key;
  }
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
  if (part.feeds)
    for (int64_t number : takenNumbers(target, network, row))
      key.push_back(number);
  return key;
}

// Words that a contraction's row takes in before its cores compute, which is when results of the last sample leave.
static int64_t firstWordsOf(const KernelRows &rows, const KernelRow &row) {
  int64_t lines = 0;
  if (rows.kernel().mapping.streamed)
    for (const ComponentParts &component : row.components)
      lines += component.lines();
  else if (const std::vector<InputStage> stages = rows.inputStages(row); !stages.empty())
    for (const StagedPart &part : stages.front().parts)
      lines += part.region.channels() * part.region.rows();
  return lines * rows.takenColumns().count();
}

// What a core whose issue slots take `cycles` needs when its row's links carry results, too. It takes its input, R
// words, before all else, together with all cores of the row; links that carry L words of results in I cycles leave it
// one of I/(I - L). So I = cycles + R·L/(I - L), but at most one turn of each lane for each word.
static int64_t rowCycles(int64_t cycles, int64_t rowWords, const RowLanes &leaving) {
  const auto c = double(cycles), words = double(leaving.words);
  const double shared = (c + words + std::sqrt((c - words) * (c - words) + 4 * double(rowWords) * words)) / 2;
  return std::min(int64_t(shared), cycles + std::min(leaving.words, leaving.lanes * rowWords));
}

// What the lane of a contraction's block takes when several cores send on it, one after another: while one of them
// issues W/n of the lane's W words, threads that do not come after it, busy for `others` of the I cycles between
// samples, take as many slots times others/I. So I = W·(1 + others/I).
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

// Adds to `cost` what the lanes of a kernel's results take. Returns the words of the longest.
static int64_t countLanes(const target::Target &target, const NetworkPlan &network, const KernelPlan &plan,
                          KernelCost &cost) {
  const StreamLayout &out = network.streams[plan.spec.outStream].layout;
  // Receivers take lanes in the order of tile modulo `orderModulus`. One that takes in all of a lane keeps those after
  // it waiting so long; behind a filter only its own words count, and lanes follow each other at that distance.
  int64_t laneWords = 0;
  const double taken = target.inputFilters > 0 ? mostTaken(network, plan.spec.outStream) : 1;
  for (const auto &[row, lanes] : lanesByRow(network, plan))
    cost.predictedCycles = std::max({cost.predictedCycles, lanes.words,
                                     lanes.longest + int64_t(double(lanes.longest * (out.orderModulus - 1)) * taken)});
  for (int64_t block = 0; !out.silent && block < out.numBlocks(); ++block)
    laneWords = std::max(laneWords, out.laneWords(0, block));
  cost.intervalCycles = std::max(cost.intervalCycles, laneWords);
  cost.predictedCycles = std::max(cost.predictedCycles, cost.intervalCycles);
  cost.contendedCycles = std::max(cost.contendedCycles, cost.predictedCycles);
  return laneWords;
}

absl::StatusOr<KernelCost> kernelCost(const target::Target &target, const NetworkPlan &network, int32_t index) {
  const KernelPlan &plan = network.kernels[index];
  KernelCost cost;
  if (plan.host >= 0) { // its host's cores do the work
    cost.latencyCycles = countLanes(target, network, plan, cost);
    return cost;
  }
  KernelRows rows(target, network, index);
  int64_t ingest = 0, compute = 0;
  std::set<int64_t> groups{0, rows.numGroups() / 2, rows.numGroups() - 1};
  std::set<int64_t> slices = tellingSlices(network, plan, rows);
  std::set<std::vector<int64_t>> seen;
  const std::map<int64_t, RowLanes> ofRow = lanesByRow(network, plan);
  const StreamLayout &out = network.streams[plan.spec.outStream].layout;
  for (int64_t group : groups)
    for (int64_t slice : slices) {
      SectionTable sections;
      for (const RowPart &part : rows.parts(slice)) {
        KernelRow row = rows.row(group, slice, part.share);
        if (!seen.insert(signature(target, network, row, part)).second)
          continue;
        auto made = rows.role(row, part, sections);
        if (!made.ok())
          return made.status();
        const format::Role &role = *made;
        int64_t cycles = issueCycles(target, role);
        cost.intervalCycles = std::max(cost.intervalCycles, cycles);
        cost.predictedCycles = std::max(cost.predictedCycles, cycles);
        if (part.kind == RowPart::Kind::End) {
          const int64_t own = part.channels * row.out.rows() * plan.spec.out.width, rowWords = firstWordsOf(rows, row);
          const RowLanes &leaving = ofRow.at(rows.rowOfShare(part.share) + row.slice);
          // While it waits for its input it can send.
          const int64_t waiting = target.issuePriorities > 1 ? cycles - own : cycles;
          cost.contendedCycles = std::max(cost.contendedCycles, rowCycles(waiting, rowWords, leaving));
          if (target.issuePriorities <= 1) // taking its input shares the core with sending for sure
            cost.predictedCycles = std::max(cost.predictedCycles, cost.contendedCycles);
          const int64_t before = std::max<int64_t>(0, cycles - own);
          if (!part.aloneInBlock)
            cost.predictedCycles = std::max(cost.predictedCycles, gatherCycles(out.laneWords(0, part.block), before));
        }
        if (part.kind == RowPart::Kind::Feeder || part.feeds)
          cost.feedCycles =
              std::max(cost.feedCycles, cycles - int64_t(double(fmaElements(role)) / target.fmaPerCycleF32));
        int64_t &stage = part.kind == RowPart::Kind::Feeder ? ingest : compute;
        stage = std::max(stage, cycles);
        int64_t inputs = 0;
        cost.sramBytes = std::max(cost.sramBytes, sramBytesOf(role));
        for (const format::Queue &queue : role.queues)
          inputs += !queue.output;
        if (inputs > int64_t(target.inputQueueWords.size()))
          return absl::ResourceExhaustedError(absl::StrCat(role.name, " takes ", inputs, " lanes, a core has ",
                                                           target.inputQueueWords.size(), " input queues; ",
                                                           kPhasedHasNoLimit));
        if (int64_t(role.threads.size()) > 1 + target.backgroundOperations)
          return absl::ResourceExhaustedError(absl::StrCat(role.name, " needs ", role.threads.size(),
                                                           " threads, a core has ", 1 + target.backgroundOperations,
                                                           "; ", kPhasedHasNoLimit));
      }
    }
  int64_t laneWords = 0;
  for (const KernelPlan *sender : {&plan, rows.coLocatedPlan()})
    if (sender)
      laneWords = std::max(laneWords, countLanes(target, network, *sender, cost));
  cost.latencyCycles =
      ingest + compute + laneWords + plan.mapping.slices * (2 * target.rampLatencyCycles + target.hopLatencyCycles + 1);
  return cost;
}

} // namespace wsc::kernels
