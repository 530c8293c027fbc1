// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shift along a line: every core gets the block of the core `segment` places before it, or behind it, or both. It is
// what borders of images are where adjacent cores hold channels of one strip of pixels and the neighbouring strip lies
// a group of cores further. Blocks of the cores between pass by and reach nobody else.
//
//     cores   0  1  2 │ 3  4  5 │ 6  7        segments of three, forward
//                   2 ─────► 5                turns of the giving segment: 2, 1, 0
//                1 ─────► 4
//             0 ─────► 3
//
// All words of a segment are one stream. Its routers begin with their own core's words and then hand on what comes, so
// the core nearest to the takers gives first, and nobody waits for a turn to be handed on. The stream passes all cores
// of the next segment, of which each takes its own block by a filter (docs/Execution.md, Words) and nothing else.
#pragma once

#include "compiler/spmd/collectives/Collectives.h"

#include <array>
#include <functional>
#include <utility>
#include <vector>

namespace wsc::spmd {

/// Cores 0 … units − 1 of every line take part, in segments of `segment` ≥ 2 cores; the last segment may be shorter.
struct SegmentShift {
  int32_t segment = 2, units = 2;
  int32_t lineBegin = 0, lineEnd = INT32_MAX; // lines that take part
  struct Direction {
    int64_t words = 0;      // of a block; 0: the direction is not used
    format::Operand source; // memory; steps per row and column are possible (perDim[2], perDim[3]), not per sub-index
    std::array<format::Affine, format::kMaxDims> extent{
        format::Affine(1), format::Affine(1), format::Affine(1),
        format::Affine(1)}; // elements of `type` sent; they fill `words` words exactly
    format::ElementType type = format::ElementType::I32;
    int64_t place = 0; // where the block goes: bytes from `into`
    /// Where its words go if not one behind another: counts and bytes of up to three loops, the outermost first.
    std::vector<std::pair<int64_t, int64_t>> scatter;
  };
  Direction forward, backward;
};

/// The part of a shift's stream that comes to the core at `coordinate`: of every sample's period of `period` words
/// those from number `begin` on. Nothing (period 0) where the core takes nothing.
struct ShiftPart {
  int64_t period = 0, begin = 0;
};
ShiftPart partOfShift(const Route &route, int32_t coordinate);

/// Cores that have nobody so far before (behind) them get nothing.
///
/// First segments of even number give and those between them take, then the other way round. A core gives (takes) in
/// the direction first in which its turn comes first, so both directions go on at the same time. Time about 2 ·
/// segment · words and up to 4 · segment + 50 cycles besides, for one direction or both (segmentShiftCycles in Laws.h).
///
/// `meanwhile` appends what cores do by themselves before they take: it comes behind what the first of them give, or
/// first of all where blocks are longer than kGivenAhead.
void emitSegmentShift(Code &code, Axis axis, const SegmentShift &shift, Place into,
                      const std::function<void()> &meanwhile = {});

} // namespace wsc::spmd
