// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tensors lie on the wafer: planes, tiles, lanes.
//
// A tensor is mapped as a *plane* of channels × rows × width. Its rows are cut into tiles of `tileRows` (the last may
// be shorter), and tiles lie from north to south over the wafer's height, so that neighbouring image rows stay
// neighbours. Between kernels a tensor travels east on *lanes*: one lane per tile and channel block, on one wafer row,
// carrying its elements in the order [channel][row][column].
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace wsc::kernels {

struct Plane {
  int64_t channels = 1, rows = 1, width = 1;
  int64_t elements() const { return channels * rows * width; }
  bool operator==(const Plane &) const = default;
};

// Channels [channelBegin, channelEnd) × rows [rowBegin, rowEnd), full width.
struct Region {
  int64_t channelBegin = 0, channelEnd = 0, rowBegin = 0, rowEnd = 0;
  int64_t channels() const { return channelEnd - channelBegin; }
  int64_t rows() const { return rowEnd - rowBegin; }
  bool empty() const { return channels() <= 0 || rows() <= 0; }
};

// Columns [begin, end) of a plane.
struct Columns {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
  bool operator==(const Columns &) const = default;
};

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The lanes of one tensor.
struct StreamLayout {
  Plane plane;
  int64_t tileRows = 1;
  std::vector<int64_t> blockBegin{0, 1}; // channel block b is [blockBegin[b], blockBegin[b+1])
  // While it is sized: blocks to make, as far as the producer can, and the most that receivers can take.
  int64_t wantedBlocks = 1, mostBlocks = 1;
  int64_t wordsPassing = 0;      // the same: of all tiles that one receiver takes
  std::vector<int32_t> laneRows; // wafer row of lane tile·numBlocks()+block
  // Made by a kernel of several columns: by block, the slice of a group on whose row the lane would best leave. Empty:
  // slices spread over the group.
  std::vector<int64_t> exitSlices;
  // Every receiver takes the lanes it needs in the order of tile mod `orderModulus`, then block. All receivers of a
  // stream share the modulus and none needs two tiles with the same remainder, so no two receivers wait for each other.
  int64_t orderModulus = 1;
  // Rows from here on are taken by nobody and never made (0: all rows are taken).
  int64_t deadFrom = 0;
  // No words travel: the result of a kernel that only writes a state variable. Tiles still say which rows the kernel
  // works on.
  bool silent = false;
  bool operator==(const StreamLayout &) const = default;

  int64_t liveRows() const { return deadFrom > 0 ? deadFrom : plane.rows; }
  int64_t numTiles() const { return ceilDiv(liveRows(), tileRows); }
  int64_t numBlocks() const { return int64_t(blockBegin.size()) - 1; }
  int64_t numLanes() const { return silent ? 0 : numTiles() * numBlocks(); }
  int64_t tileBegin(int64_t tile) const { return tile * tileRows; }
  int64_t tileEnd(int64_t tile) const { return std::min(liveRows(), (tile + 1) * tileRows); }
  int64_t laneWords(int64_t tile, int64_t block) const {
    return (blockBegin[block + 1] - blockBegin[block]) * (tileEnd(tile) - tileBegin(tile)) * plane.width;
  }
};

// Slice of a group, of `slices`, in which the partial sums of channel block `block` of `blocks` end: slices above it
// send down, slices below send up. Blocks end in different slices, so their lanes leave on different rows.
inline int64_t endSlice(int64_t block, int64_t blocks, int64_t slices) {
  return (2 * block + 1) * slices / (2 * blocks);
}

// The part of a region that arrives on one lane.
struct LanePart {
  int64_t tile = 0, block = 0;
  Region region;
};

// Rows of one tile, channels of one block.
struct TileRows {
  int64_t tile = 0, rowBegin = 0, rowEnd = 0;
};
struct BlockChannels {
  int64_t block = 0, channelBegin = 0, channelEnd = 0;
};
// Calls visit(TileRows) for the tiles that hold rows [rowBegin, rowEnd), ascending, or visit(BlockChannels) for the
// blocks that hold channels [channelBegin, channelEnd), ascending.
template <typename Visit> void forEachTile(const StreamLayout &layout, int64_t rowBegin, int64_t rowEnd, Visit visit) {
  if (rowBegin >= rowEnd)
    return;
  for (int64_t tile = rowBegin / layout.tileRows; tile <= (rowEnd - 1) / layout.tileRows; ++tile) {
    const TileRows rows{tile, std::max(rowBegin, layout.tileBegin(tile)), std::min(rowEnd, layout.tileEnd(tile))};
    if (rows.rowBegin < rows.rowEnd)
      visit(rows);
  }
}
template <typename Visit>
void forEachBlock(const StreamLayout &layout, int64_t channelBegin, int64_t channelEnd, Visit visit) {
  for (int64_t block = 0; block < layout.numBlocks(); ++block) {
    const BlockChannels channels{block, std::max(channelBegin, layout.blockBegin[block]),
                                 std::min(channelEnd, layout.blockBegin[block + 1])};
    if (channels.channelBegin < channels.channelEnd)
      visit(channels);
  }
}
// The tiles that hold rows [rowBegin, rowEnd), in the order in which every receiver takes them.
std::vector<TileRows> tilesOf(const StreamLayout &layout, int64_t rowBegin, int64_t rowEnd);
// The blocks that hold channels [channelBegin, channelEnd), ascending.
std::vector<BlockChannels> blocksOf(const StreamLayout &layout, int64_t channelBegin, int64_t channelEnd);

// The lanes that carry `region`, in the order in which every receiver takes them: every block of the first tile, then
// of the next. Which tiles these are depends on the rows alone and which blocks on the channels alone.
std::vector<LanePart> partsOf(const StreamLayout &layout, const Region &region);

// Number of tiles of `tileRows` rows that `rows` consecutive rows can touch at most.
int64_t tilesTouched(int64_t rows, int64_t tileRows, int64_t planeRows);

// Wafer rows of a kernel's groups: group g of G begins at row offset + ⌊g·R/P⌋ of the R rows in use, so that tiles of
// all kernels lie at the same height. P, the pitch, is G, or a little more where that makes image rows as far apart as
// those of the tensors before and after. Offsets put a window's output in the middle of the input rows that it needs:
// their lanes then come as much from the north as from the south (`findPitches`).
struct RowGrid {
  struct Pitch {
    int64_t groups = 1, per = 1; // P = groups / per
    bool operator==(const Pitch &) const = default;
  };
  int64_t rowsUsed = 0;
  std::optional<int64_t> rowsSpare = {};   // rows below them that offsets may use; none: no offsets
  std::map<int64_t, Pitch> pitches = {};   // by G, where it is not G itself
  std::map<int64_t, int64_t> offsets = {}; // by G, where it is not 0
  Pitch pitch(int64_t numGroups) const {
    auto it = pitches.find(numGroups);
    return it == pitches.end() ? Pitch{numGroups, 1} : it->second;
  }
  int64_t offset(int64_t numGroups) const {
    auto it = offsets.find(numGroups);
    return it == offsets.end() ? 0 : it->second;
  }
  int64_t groupBegin(int64_t group, int64_t numGroups) const {
    const Pitch p = pitch(numGroups);
    return offset(numGroups) + group * rowsUsed * p.per / p.groups;
  }
  // The rows every group has at least.
  int64_t groupRows(int64_t numGroups) const {
    const int64_t first = offset(numGroups), last = groupBegin(numGroups - 1, numGroups);
    return std::min(groupBegin(1, numGroups) - first, first + rowsUsed - last);
  }
  // One past the last row that any tensor may lie on.
  int64_t height() const {
    int64_t most = 0;
    for (auto [groups, offset] : offsets)
      most = std::max(most, offset);
    return rowsUsed + std::min(most, rowsSpare.value_or(0));
  }
  bool operator==(const RowGrid &) const = default;
};

} // namespace wsc::kernels
