// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which stages a contraction's row takes its input. All its cores finish a sample together: then its results leave
// and the next input comes, over the same links, which pass half of each; and as the cores take their input together,
// all wait. Of R words of input and L of results that costs min(R, L) cycles a sample. So cores add up their sums
// before results may leave, take no more channels at first than keep them busy until the results have left, compute
// with them while the links carry results, and take the rest then.
#include "compiler/kernels/programs/Ingest.h"
#include "compiler/kernels/programs/Send.h"

#include <algorithm>

namespace wsc::kernels {

std::map<int64_t, RowLanes> lanesByRow(const NetworkPlan &network, const KernelPlan &plan) {
  const StreamLayout &out = network.streams[plan.spec.outStream].layout;
  std::map<int64_t, RowLanes> ofRow;
  for (int64_t block = 0; !out.silent && block < out.numBlocks(); ++block) {
    int64_t row = 0;
    if (plan.spec.kind == KernelKind::Contraction) {
      BlockSite site = blockSite(plan, out, block);
      row = site.band * plan.mapping.slices + site.slice;
    } else {
      row = columnSender(plan, out, out.blockBegin[block]).exitSlice;
    }
    RowLanes &leaving = ofRow[row];
    ++leaving.lanes;
    leaving.words += out.laneWords(0, block);
    leaving.longest = std::max(leaving.longest, out.laneWords(0, block));
  }
  return ofRow;
}

// Cycles by which a stage must save more than the set-up and the start of a task that it costs: each is a copy of the
// program.
constexpr int64_t kStageMargin = 2;

// How a row that takes `channels` channels of `words` each, while `leaving` words leave over its links, divides them.
// Its cores compute `cycles` with each channel, and each of `parts` instructions that take a stage needs a set-up of
// `setUp` cycles.
static std::vector<int64_t> stageChannels(int64_t channels, int64_t words, int64_t leaving, int64_t cycles,
                                          int64_t parts, int64_t setUp) {
  const int64_t setUps = setUp * std::max<int64_t>(1, parts);
  // Channels until the results have left, and words that come no later than they would all at once.
  const int64_t head = std::max<int64_t>(1, ceilDiv(leaving, words + cycles));
  const int64_t delayed = std::min(leaving, channels * words), saved = delayed - head * words;
  if (head >= channels || saved < 2 * setUps)
    return {channels};
  // Results may take longer to leave; so the rest comes in stages, too, for up to half of what the first saves.
  constexpr int64_t kMostStages = 5; // each is a copy of the program that takes and computes
  const int64_t more = std::min({kMostStages - 1, ceilDiv(channels, head) - 1, saved / (2 * setUps)});
  std::vector<int64_t> stages{head};
  for (int64_t i = 0; i < more; ++i)
    stages.push_back((channels - head) * (i + 1) / more - (channels - head) * i / more);
  return stages;
}

void KernelRows::findLeaving() {
  leaving = 0;
  for (const auto &[row, lanes] : lanesByRow(network, plan))
    leaving = std::max(leaving, lanes.words);
  sumsFirst = 2 * leaving <= plan.mapping.channelsPerSlice * channelCycles(outLayout().tileRows);
}

int64_t KernelRows::channelCycles(int64_t rows) const {
  const Contraction &c = plan.spec.contraction;
  return c.kernelH * c.kernelW * plan.mapping.channelsPerColumn * rows * plan.spec.out.width;
}

std::vector<InputStage> KernelRows::inputStages(const KernelRow &row) const {
  const Region &needed = row.needed[0];
  int64_t parts = 0;
  for (const ComponentParts &component : row.components)
    parts += int64_t(component.parts.size());
  // Lanes that share a FIFO of the feeder come out of it one after another, each with all its channels.
  const bool apart = parts <= 1 || hasThreadsForLanes(target, firstIngestThread(), row);
  std::vector<InputStage> stages;
  int64_t begin = needed.channelBegin;
  for (int64_t channels : stageChannels(needed.channels(), needed.rows() * takenColumns().count(), apart ? leaving : 0,
                                        channelCycles(row.out.rows()), parts,
                                        target.vectorSetupCycles + target.taskStartCycles + kStageMargin)) {
    const int64_t end = begin + channels;
    InputStage &stage = stages.emplace_back(InputStage{begin, end, {}});
    for (size_t c = 0; c < row.components.size(); ++c)
      for (size_t i = 0; i < row.components[c].parts.size(); ++i) {
        StagedPart staged{c, i, row.components[c].parts[i].region, row.components[c].channelOffset};
        staged.region.channelBegin = std::max(staged.region.channelBegin, begin - staged.channelOffset);
        staged.region.channelEnd = std::min(staged.region.channelEnd, end - staged.channelOffset);
        if (staged.region.channels() > 0)
          stage.parts.push_back(staged);
      }
    begin = end;
  }
  return stages;
}

} // namespace wsc::kernels
