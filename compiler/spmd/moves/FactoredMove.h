// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A move of a strided piece as at most two stages, one along each axis, each a LinePlan and a copy. What a stage brings
// along its axis are the factors that lie spread over it; the other factors' lists travel as they are.
//
//     source ──► blocks of the line (Window, Bus) ──► copy ──► between ──► blocks ──► copy ──► wanted box
//
// Copies are strided where positions are affine in the core's place, those of a window block by block; what is padding
// is filled behind them. Else they go through a table of one factor's positions, shared by all cores that differ in the
// other axis only.
#pragma once

#include "compiler/spmd/moves/CopyTable.h"
#include "compiler/spmd/moves/LinePlan.h"
#include "compiler/spmd/moves/PlaceNumber.h"

#include <memory>

namespace wsc::spmd {

/// Elements from the stage's blocks to its result: for all loops, result[to + Σ i·toStride] =
/// blocks[from + Σ i·fromStride + (table ? table[Σ i·tableStride] : 0)].
struct BlockCopy {
  struct Loop {
    int64_t count = 1, fromStride = 0, toStride = 0, tableStride = 0;
    bool operator==(const Loop &) const = default;
  };
  /// Coordinates of cores that copy: of all those with a remainder in [begin, end).
  struct Remainders {
    int32_t modulus = 1, begin = 0, end = 1;
    bool operator==(const Remainders &) const = default;
    bool areAll() const { return modulus == 1; }
    bool hold(int32_t coordinate) const { return coordinate % modulus >= begin && coordinate % modulus < end; }
  };
  Remainders rows, cols;
  PlaceNumber from;
  int64_t to = 0;
  std::vector<Loop> loops;                // any number, those of the table last
  std::shared_ptr<const CopyTable> table; // where positions are no strides of the core's place
  /// Elements that hold the fill on cores at coordinates [begin, end) of the axis and get what does not matter from the
  /// copy: result[to + Σ i·toStride] over all loops, which are written behind it.
  struct Patch {
    Axis axis = Axis::Row;
    int32_t begin = 0, end = 0;
    int64_t to = 0;
    std::vector<Loop> loops;
    bool operator==(const Patch &) const = default;
  };
  std::vector<Patch> patches;
  bool masksPadding = false; // the table's padding holds the fill or another piece's elements, which must stay

  bool operator==(const BlockCopy &) const = default;
  /// So many elements, each to the place of the same number, on all cores.
  static BlockCopy ofAll(int64_t elements) {
    BlockCopy copy;
    if (elements > 1)
      copy.loops.push_back({elements, 1, 1, 0});
    return copy;
  }
};

struct FactoredStage {
  Axis axis = Axis::Row; // of the line, unless its kind is Local
  LinePlan line;
  Rectangle givers;          // the cores that have a source buffer
  Rectangle takers;          // the cores that get a result
  int64_t blockElements = 0; // of the source buffer
  int64_t pitch = 0;         // elements from one block to the next: whole words; of a pick, from one entry to the next
  int64_t resultElements = 0;
  int64_t estimatedCycles = 0;
  int64_t slack = 0; // elements behind the blocks (Local: the core's box) that copies of what does not matter read
  bool fillsResult = false; // the copy leaves elements out that must hold the fill
  /// The first block that a bus takes: base + a number of the line's coordinate.
  int64_t firstBlockBase = 0;
  GroupNumber firstBlock;
  /// Of a pick: loops over an entry's elements, from where they lie in a block to where they lie behind one another.
  std::vector<BlockCopy::Loop> entry;
  std::vector<int32_t> pickClass; // per line; −1: the line takes no part
  BlockCopy copy;
  std::vector<BlockCopy> otherCopies; // of a window whose blocks are copied one by one; without tables
};

struct FactoredMove {
  std::vector<FactoredStage> stages;
  int64_t estimatedCycles = 0;
  int64_t scratchBytes = 0; // blocks and result of the largest stage
};

/// Nothing where the piece has no such form. `source`: number of the piece's source among the problem's.
std::optional<FactoredMove> planFactored(const MoveProblem &problem, const StridedPiece &piece);

} // namespace wsc::spmd
