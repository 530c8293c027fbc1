// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wafer rows of lanes: where a contraction's sums end, or where the slices of a column kernel's block send to;
// lanes that enter the wafer are spread over the rows of their tile.
#include "compiler/kernels/KernelRows.h"
#include "compiler/kernels/Send.h"

namespace wsc::kernels {

void layOutLanes(NetworkPlan &network, int32_t streamIndex) {
  StreamPlan &stream = network.streams[streamIndex];
  StreamLayout &layout = stream.layout;
  layout.laneRows.clear();
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
