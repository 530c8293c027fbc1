// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/Layout.h"

#include <tuple>

namespace wsc::kernels {

std::vector<LanePart> partsOf(const StreamLayout &layout, const Region &region) {
  std::vector<LanePart> parts;
  if (region.empty())
    return parts;
  int64_t firstTile = region.rowBegin / layout.tileRows, lastTile = (region.rowEnd - 1) / layout.tileRows;
  for (int64_t tile = firstTile; tile <= lastTile; ++tile)
    for (int64_t block = 0; block < layout.numBlocks(); ++block) {
      Region part{std::max(region.channelBegin, layout.blockBegin[block]),
                  std::min(region.channelEnd, layout.blockBegin[block + 1]),
                  std::max(region.rowBegin, layout.tileBegin(tile)), std::min(region.rowEnd, layout.tileEnd(tile))};
      if (!part.empty())
        parts.push_back({tile, block, part});
    }
  std::sort(parts.begin(), parts.end(), [&](const LanePart &a, const LanePart &b) {
    auto key = [&](const LanePart &p) { return std::tuple(p.tile % layout.orderModulus, p.tile, p.block); };
    return key(a) < key(b);
  });
  return parts;
}

int64_t tilesTouched(int64_t rows, int64_t tileRows, int64_t planeRows) {
  if (rows >= planeRows)
    return ceilDiv(planeRows, tileRows);
  return std::min(ceilDiv(planeRows, tileRows), (rows + tileRows - 2) / tileRows + 1);
}

} // namespace wsc::kernels
