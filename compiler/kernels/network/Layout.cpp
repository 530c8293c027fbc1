// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/network/Layout.h"

#include <utility>

namespace wsc::kernels {

std::vector<TileRows> tilesOf(const StreamLayout &layout, int64_t rowBegin, int64_t rowEnd) {
  std::vector<TileRows> tiles;
  forEachTile(layout, rowBegin, rowEnd, [&](const TileRows &rows) { tiles.push_back(rows); });
  auto order = [&](const TileRows &rows) { return std::pair(rows.tile % layout.orderModulus, rows.tile); };
  std::sort(tiles.begin(), tiles.end(), [&](const TileRows &a, const TileRows &b) { return order(a) < order(b); });
  return tiles;
}

std::vector<BlockChannels> blocksOf(const StreamLayout &layout, int64_t channelBegin, int64_t channelEnd) {
  std::vector<BlockChannels> blocks;
  forEachBlock(layout, channelBegin, channelEnd, [&](const BlockChannels &channels) { blocks.push_back(channels); });
  return blocks;
}

std::vector<LanePart> partsOf(const StreamLayout &layout, const Region &region) {
  std::vector<LanePart> parts;
  std::vector<BlockChannels> blocks = blocksOf(layout, region.channelBegin, region.channelEnd);
  for (const TileRows &rows : tilesOf(layout, region.rowBegin, region.rowEnd))
    for (const BlockChannels &channels : blocks)
      parts.push_back(
          {rows.tile, channels.block, {channels.channelBegin, channels.channelEnd, rows.rowBegin, rows.rowEnd}});
  return parts;
}

int64_t tilesTouched(int64_t rows, int64_t tileRows, int64_t planeRows) {
  if (rows >= planeRows)
    return ceilDiv(planeRows, tileRows);
  return std::min(ceilDiv(planeRows, tileRows), (rows + tileRows - 2) / tileRows + 1);
}

} // namespace wsc::kernels
