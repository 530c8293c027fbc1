// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wafer rows of lanes: where a contraction's sums end, or where the slices of a column kernel's block send to;
// lanes that enter the wafer are spread over the rows of their tile.
#include "compiler/kernels/programs/KernelRows.h"
#include "compiler/kernels/programs/Send.h"

#include <algorithm>

namespace wsc::kernels {

// Where the results of a kernel of several columns should leave, by block: on the row on which the lane arrives that
// brings their channels of the middle input row. Above it that lane flows north and results south, below it the other
// way round, so that they meet on no link. Empty: the kernel's lanes leave elsewhere, or no stream brings each column
// lanes of its own.
static std::vector<int64_t> arrivals(const NetworkPlan &network, const KernelPlan &plan) {
  const KernelSpec &spec = plan.spec;
  if (!plan.mapping.exitsNear)
    return {};
  const StreamLayout &in = network.streams[size_t(spec.inputs.front().streams.front())].layout,
                     &out = network.streams[size_t(spec.outStream)].layout;
  if (spec.inputs.front().streams.size() != 1 || in.numBlocks() < plan.mapping.columns ||
      int64_t(in.laneRows.size()) != in.numLanes())
    return {};
  const int64_t group = out.numTiles() / 2, begin = network.grid.groupBegin(group, out.numTiles());
  const Window &w = spec.window;
  const int64_t outRow = (out.tileBegin(group) + out.tileEnd(group) - 1) / 2;
  const int64_t inRow = outRow * w.strideH - w.padTop + (w.kernelH - 1) * w.dilationH / 2;
  const int64_t tile = std::clamp<int64_t>(inRow / in.tileRows, 0, in.numTiles() - 1);
  std::vector<int64_t> slices;
  for (int64_t block = 0; block < out.numBlocks(); ++block) {
    const int64_t channel = (out.blockBegin[size_t(block)] + out.blockBegin[size_t(block) + 1] - 1) / 2;
    const int64_t taken = w.firstChannel + channel / w.groupOut * w.groupIn; // of the input
    const int64_t from = blocksOf(in, taken, taken + 1).front().block;
    slices.push_back(in.laneRows[size_t(tile * in.numBlocks() + from)] - begin);
  }
  return slices;
}

void layOutLanes(NetworkPlan &network, int32_t streamIndex) {
  StreamPlan &stream = network.streams[streamIndex];
  StreamLayout &layout = stream.layout;
  layout.laneRows.clear();
  layout.exitSlices.clear();
  if (stream.producer >= 0)
    layout.exitSlices = arrivals(network, network.kernels[size_t(stream.producer)]);
  for (int64_t tile = 0; tile < layout.numTiles(); ++tile)
    for (int64_t block = 0; block < layout.numBlocks(); ++block) {
      int64_t row = network.grid.groupBegin(tile, layout.numTiles());
      if (stream.producer < 0) {
        row += block * network.grid.groupRows(layout.numTiles()) / layout.numBlocks();
      } else {
        const KernelPlan &producer = network.kernels[stream.producer];
        if (producer.spec.kind == KernelKind::Contraction) {
          BlockSite site = blockSite(producer, layout, block);
          row += site.band * producer.mapping.slices + site.slice;
        } else {
          row += columnSender(producer, layout, layout.blockBegin[block]).exitSlice;
        }
      }
      layout.laneRows.push_back(int32_t(row));
    }
}

void layOutLanes(NetworkPlan &network) {
  for (size_t stream = 0; stream < network.streams.size(); ++stream)
    layOutLanes(network, int32_t(stream));
}

} // namespace wsc::kernels
