// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/network/ChannelBlocks.h"

#include "compiler/kernels/network/Tiling.h"

#include <cstdlib>
#include <tuple>

namespace wsc::kernels {

// Calls `visit` with each receiver's mapping and the boundary's place in it, and adds up what it returns.
template <typename Visit>
static int64_t overReceivers(const NetworkPlan &network, int32_t streamIndex, int64_t channel, Visit visit) {
  int64_t sum = 0;
  for (int32_t consumer : network.streams[streamIndex].consumers) {
    const KernelPlan &plan = network.kernels[consumer];
    for (const KernelInput &input : plan.spec.inputs) {
      int64_t offset = 0;
      for (int32_t stream : input.streams) {
        if (stream == streamIndex)
          sum += visit(plan, offset + channel);
        offset += input.alongWidth ? 0 : network.streams[stream].layout.plane.channels;
      }
    }
  }
  return sum;
}

static bool hasColumns(const KernelPlan &plan) {
  return plan.spec.kind != KernelKind::Contraction && plan.mapping.columns > 1;
}

int64_t slicesCut(const NetworkPlan &network, int32_t streamIndex, int64_t channel) {
  return overReceivers(network, streamIndex, channel, [](const KernelPlan &plan, int64_t at) {
    const Mapping &m = plan.mapping;
    return (hasColumns(plan) ? at % m.channelsPerColumn : at) % m.channelsPerSlice != 0;
  });
}

// Receivers of several columns that a boundary at `channel` is none of: the lane has branches in two columns.
static int64_t columnsCut(const NetworkPlan &network, int32_t streamIndex, int64_t channel) {
  return overReceivers(network, streamIndex, channel, [](const KernelPlan &plan, int64_t at) {
    return hasColumns(plan) && at % plan.mapping.channelsPerColumn != 0;
  });
}

// So many words may pass a column for others.
static constexpr int64_t kFewWords = 1536;

// The most columns of a receiver that should get a block each. Where it takes several tiles in several columns, what
// passes a column for another one is carried for nothing, over all those tiles. 0: there is none.
static int64_t columnsApart(const NetworkPlan &network, const StreamPlan &stream) {
  const StreamLayout &layout = stream.layout;
  int64_t most = 0;
  if (layout.wordsPassing <= kFewWords)
    return most;
  for (int32_t consumer : stream.consumers) {
    const KernelPlan &plan = network.kernels[consumer];
    const int64_t columns = plan.mapping.columns, outRows = network.streams[plan.spec.outStream].layout.tileRows;
    if (hasColumns(plan) && columns <= layout.mostBlocks &&
        inputRowsFor(plan.spec, outRows, layout.liveRows()) > layout.tileRows)
      most = std::max(most, columns);
  }
  return most;
}

// Blocks that a stream should have: of columns apart, as many for each.
static int64_t blocksWanted(const NetworkPlan &network, const StreamPlan &stream) {
  const StreamLayout &layout = stream.layout;
  const int64_t columns = columnsApart(network, stream);
  return columns == 0 ? layout.wantedBlocks
                      : std::min(ceilDiv(layout.wantedBlocks, columns), layout.mostBlocks / columns) * columns;
}

// Units that blocks consist of: `first` channels, then `other` channels each; the last may be shorter.
struct Units {
  int64_t first = 1, other = 1;
  int64_t begin(int64_t unit) const { return unit == 0 ? 0 : first + (unit - 1) * other; }
  int64_t count(int64_t channels) const { return 1 + ceilDiv(std::max<int64_t>(0, channels - first), other); }
};

// Appends the boundaries that cut channels [begin, end) into `blocks` parts of whole units, their end included.
static void appendBlocks(NetworkPlan &network, int32_t stream, const Units &unit, int64_t begin, int64_t end,
                         int64_t blocks) {
  StreamLayout &layout = network.streams[stream].layout;
  int64_t units = unit.count(end - begin), last = 0;
  blocks = std::clamp<int64_t>(blocks, 1, units);
  for (int64_t block = 1; block < blocks; ++block) {
    int64_t ideal = block * units / blocks, best = ideal, reach = units / (3 * blocks);
    auto rank = [&](int64_t at) {
      const int64_t channel = begin + unit.begin(at);
      return std::tuple(slicesCut(network, stream, channel), columnsCut(network, stream, channel),
                        std::abs(at - ideal));
    };
    // Lanes share links, and the longest of a tile sets their pace: no block is longer than its part by more than a
    // third.
    auto isEven = [&](int64_t at) {
      return 3 * blocks * (at - last) <= 4 * units && 3 * blocks * (units - at) <= 4 * units * (blocks - block);
    };
    for (int64_t at = std::max(ideal - reach, last + 1); at <= std::min(ideal + reach, units - 1); ++at)
      if (isEven(at) && rank(at) < rank(best))
        best = at;
    last = best;
    layout.blockBegin.push_back(begin + unit.begin(best));
  }
  layout.blockBegin.push_back(end);
}

void chooseBlocks(NetworkPlan &network, const KernelPlan &plan) {
  int32_t stream = plan.spec.outStream;
  StreamLayout &layout = network.streams[stream].layout;
  const Mapping &m = plan.mapping;
  layout.blockBegin = {0};
  // A block lies in one band of a contraction, as whole columns, or in one column of another kernel, as whole slices.
  bool contraction = plan.spec.kind == KernelKind::Contraction;
  const Units unit =
      contraction ? Units{m.columnBegin(1), m.channelsPerColumn} : Units{m.channelsPerSlice, m.channelsPerSlice};
  int64_t channels = plan.spec.out.channels, perShare = contraction ? m.bandChannels() : m.channelsPerColumn;
  int64_t shares = ceilDiv(channels, perShare), wanted = blocksWanted(network, network.streams[stream]);
  // Lanes leave on rows of their own, but for a contraction's that go to columns apart.
  const int64_t most =
      std::max(m.slices, contraction ? ceilDiv(columnsApart(network, network.streams[stream]), shares) : 0);
  for (int64_t share = 0; share < shares; ++share)
    appendBlocks(network, stream, unit, share * perShare, std::min(channels, (share + 1) * perShare),
                 std::min(ceilDiv(wanted, shares), most));
}

void chooseNominalBlocks(NetworkPlan &network, int32_t streamIndex) {
  StreamLayout &layout = network.streams[streamIndex].layout;
  layout.blockBegin = {0};
  appendBlocks(network, streamIndex, {1, 1}, 0, layout.plane.channels,
               blocksWanted(network, network.streams[streamIndex]));
}

} // namespace wsc::kernels
