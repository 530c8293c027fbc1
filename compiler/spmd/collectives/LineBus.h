// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bus of a line: all blocks pass all cores, each keeps a stretch of them.
#pragma once

#include "compiler/spmd/collectives/Collectives.h"

namespace wsc::spmd {

/// Units of `unit` adjacent cores from `begin` on hold one block each. In every segment of `segment` units (a segment
/// of all units is the whole line) the blocks go to the segment's first core, in turns, the last unit's first; that
/// core keeps `blocks` blocks from number `first` on and sends them to all cores behind it.
///
///     cores     0 ◄── 1 ◄── 2 ◄── 3     turns: 3, 2, 1
///     relay     0 ──► 1 ──► 2 ──► 3     blocks first … first + blocks − 1 for everyone
///
/// `first` may depend on the line. No core needs room for blocks that its line passes over.
struct LineBus {
  int32_t begin = 0, unit = 1, units = 1;
  int32_t segment = 1; // ≥ units: the whole line; else `begin` is 0 and units are a multiple of it
  int32_t takerBegin = 0, takerEnd = INT32_MAX; // coordinates, of a whole line
  int32_t lineBegin = 0, lineEnd = INT32_MAX;   // lines that take part
  int64_t words = 0;                            // of a block
  int64_t pitchBytes = 0;                       // between blocks that are kept
  int64_t blocks = 1;
  /// The first block kept: firstBase + a number of the line.
  int64_t firstBase = 0;
  GroupNumber first;
};

/// Whether the bus has a form: where the relay gives a block itself, the lines whose `first` is 0 must be an interval.
bool isSound(const LineBus &bus);

/// Appends the bus; `from`: a core's block, `into`: room for `blocks` blocks. Time about words·(segment + blocks) +
/// 3·cores + 30 cycles: each core of the line has a turn, which costs it two cycles, and blocks come back past all.
void emitLineBus(Code &code, Axis axis, int32_t length, const LineBus &bus, Place from, Place into);

} // namespace wsc::spmd
