// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One axis of a factored move: which cores of a line give, how far their blocks go, and where every wanted entry lies
// in the blocks that a core takes. All lines of a class want the same.
//
//   Local    every core has what it wants
//   Window   blocks from the nearest units on both sides: halos; or those of the farthest of them alone (a shift)
//   Gather   every core of a segment of the line (or of all of it) takes the blocks of all the others
//   Bus      the blocks of a segment pass every core of it, which takes those between the first and the last that it
//            needs
//   Pick     of each line what it wants comes together on all of its cores (LinePick.h)
#pragma once

#include "compiler/spmd/moves/Factors.h"

namespace wsc::spmd {

struct LineLists {
  Axis axis = Axis::Row;
  std::vector<FactorList> held; // per coordinate; empty: the core has no block
  std::vector<int32_t> classOf; // per line; −1: the line takes no part
  /// [class][coordinate]; empty: the core wants nothing. Uniform: [class][0], of all cores from takerBegin to takerEnd.
  std::vector<std::vector<FactorList>> wanted;
  bool isUniform = false;
  int32_t takerBegin = 0, takerEnd = 0;
  std::vector<int64_t> segments;   // lengths (cores) worth trying as segments
  int64_t blockBytes = INT64_MAX;  // room for the blocks that a core takes
  int64_t gatherBytes = INT64_MAX; // the same of a gather
  bool shifts = true;              // cores may take a part of what passes them (SegmentShift.h)
};

/// What a core of the line holds.
struct LineBlock {
  int64_t elements = 1, elementBytes = 4;
  int64_t words() const { return (elements * elementBytes + 3) / 4; }
  /// Elements from one block to the next: whole words.
  int64_t pitch() const { return words() * 4 < elementBytes ? 1 : words() * 4 / elementBytes; }
};

struct LinePlan {
  enum class Kind { Local, Window, Gather, Bus, Pick };
  Kind kind = Kind::Local;
  /// Cores begin … begin + unit·units − 1 hold blocks (the last unit may be cut off by the line's end); cores of a unit
  /// hold the same.
  int32_t begin = 0, unit = 1, units = 1;
  int32_t segment = 1;                      // of a gather or bus, in units; of a pick, in cores
  int32_t takerEnd = 0;                     // of a bus over the whole line: behind the last core that wants something
  int32_t reachBefore = 0, reachBehind = 0; // of a window, in units
  bool isShift = false; // of a window: of the units before a core's own, and behind it, only the farthest one's block
  int64_t blocks = 1;   // in the buffer of a core; of a pick, entries
  /// Bus: the first block taken, of the segment's, per class.
  std::vector<int64_t> firstBlock;
  /// Pick: elements of a block for each entry, and per class the places of the entries that a line wants, in ascending
  /// order: elements in the blocks of a segment's cores, laid behind one another.
  int64_t entryElements = 1;
  std::vector<std::vector<int64_t>> picks;

  /// Where each wanted entry lies in the core's buffer (elements); −1: it is padding. As LineLists::wanted, one list
  /// for all coordinates if isUniform.
  std::vector<std::vector<std::vector<int64_t>>> positions;
  bool isUniform = false;

  /// Of a window: which of a core's blocks is its own.
  int32_t ownBlock() const { return isShift ? (reachBefore > 0 ? 1 : 0) : reachBefore; }
  /// Whether the core at `coordinate` never gets this block: it would come from beyond the line's units.
  bool isMissing(int32_t coordinate, int64_t block) const;
  int64_t cycles(const LineBlock &block) const;
  /// Of a window whose cores give `before` and `behind` words of their blocks to those that have them before and behind
  /// their own.
  int64_t windowCycles(int64_t blockWords, int64_t before, int64_t behind) const;
};

/// The cheapest plan that is no pick; nothing where an entry that is wanted lies nowhere on the line or the holders'
/// places have no form.
std::optional<LinePlan> planLine(const LineLists &lists, const LineBlock &block);

} // namespace wsc::spmd
