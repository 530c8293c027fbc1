// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gathers in segments of a line: every core takes from the units of its own segment before and behind it and, where
// asked, from those of the neighbouring segments. All segments work at the same time.
//
//     units   0 ─► 1 ─► 2 │ 3 ─► 4 ─► 5 │ 6 ─► 7        segments of three units, forward, with overlap:
//             └─────even──┴──► ─► ─►    │               cores 3 … 5 take from 0 … 2, then the units of their own
//                         └─────odd─────┴──► ─►         segment give; cores 6, 7 take from 3 … 5
//
// Windows of a convolution, halos of neighbours and all-gathers in groups are of this form, and so is the all-gather
// along a whole line (one segment).
//
// All words of a segment are one stream. Its routers begin with their own core's words and then hand on what comes from
// behind, which they also deliver to their core: so blocks come to a core from the nearest unit first, and nobody waits
// for a turn to be handed on. A core ends its words with a control word that turns its own switch; that of the core
// where the stream begins passes all others, behind all words, and turns them back.
//
// Order of the instructions on a core: those of even segments give and take in their own segment, in one direction
// after the other, then take from the neighbours; those of odd segments take from the neighbours first. What a core
// gives waits for cores further on alone, the last of which gives nothing, so all goes on.
#pragma once

#include "compiler/spmd/collectives/Collectives.h"

#include <array>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace wsc::spmd {

constexpr int32_t kMostSegment = 256; // units of a segment: what a control word counts

/// Cores of every line are cut into units of `unit` adjacent cores (the cores of a unit hold the same), units into
/// segments of `segment` ≤ kMostSegment units. Units 0 … units − 1 (cores 0 … units·unit − 1 of the line) take part.
/// Forward: in every segment the units give, the last core of each sends for it; all cores of later units of the same
/// segment take, and, where `overlap`, all cores of the next segment too. Backward mirrors it (the first core of each
/// unit sends, cores of the segment before take).
struct SegmentGather {
  int32_t unit = 1, segment = 1, units = 1;
  bool overlap = false;
  int32_t lineBegin = 0, lineEnd = INT32_MAX; // lines that take part

  /// Of the blocks of one segment's stream, in blocks; p: position of the taker's unit in its own segment, 0 …
  /// segment − 1. Blocks that do not exist (the last segment may be shorter) are left out of a take.
  struct Take {
    int64_t skip = 0, skipPerPosition = 0;   // blocks passed over first, in ascending order of units
    int64_t count = 0, countPerPosition = 0; // blocks taken; the rest is passed over
    int64_t place = 0, placePerPosition = 0; // where the first taken block (lowest unit) goes: bytes from `into`
  };
  struct Direction {
    int64_t words = 0;      // of a block; 0: the direction is not used
    format::Operand source; // memory; steps per row and column are possible (perDim[2], perDim[3]), not per sub-index
    std::array<format::Affine, format::kMaxDims> extent{
        format::Affine(1), format::Affine(1), format::Affine(1),
        format::Affine(1)}; // elements of `type` sent; they fill `words` words exactly: narrow ones come in multiples
    format::ElementType type = format::ElementType::I32;
    Take own, other;        // of the own segment's stream (units before, or behind, the taker), of the neighbour's
    int64_t pitchBytes = 0; // between taken blocks in memory
    /// Where a block's words go if not one behind another: counts and bytes of up to three loops, the outermost first.
    std::vector<std::pair<int64_t, int64_t>> scatter;
  };
  Direction forward, backward;
};

/// Forward, own segment: a core at position p sees p blocks; backward: segment − 1 − p of them (fewer in a last segment
/// that is shorter), the nearest first. The neighbour's stream has all blocks of its segment. What a core's own unit
/// holds is not copied. `length`: cores of the line, at least units·unit.
///
/// Several gathers on the same line, of one direction each, go on together as both directions of one do; their segments
/// may differ.
///
/// Time per direction on wse2, where all cores take all that comes to them: with overlap about 2 · segment · (words +
/// unit) + 30 cycles, without (segment − 1) · words + segment · unit / 4 + 15. Cores that pass blocks over hold the
/// stream up (passOverCycles). With segments of one unit (a shift to the neighbour) there are neither switches nor
/// control words.
///
/// `meanwhile` appends what cores do by themselves before they take: it comes behind what the first of them give, or
/// first of all where blocks are longer than kGivenAhead.
void emitSegmentGathers(Code &code, Axis axis, int32_t length, std::span<const SegmentGather> gathers, Place into,
                        std::function<void()> meanwhile = {});
/// Every core copies its own block, of a gather in both directions without overlap, to where the others' get it.
void emitOwnBlocks(Code &code, Axis axis, int32_t length, const SegmentGather &gather, Place into);

/// Cycles for each block of a stream with overlap by which cores hold it up that change from taking to passing over,
/// each at another block: what the queues between them do not take up. From the cycle engine, on wse2.
constexpr int64_t passOverCycles(int64_t words) {
  return words <= 2 ? 0 : words <= 4 ? 1 : words <= 7 ? 2 : words <= 10 ? 3 : 5;
}
inline void emitSegmentGather(Code &code, Axis axis, int32_t length, const SegmentGather &gather, Place into) {
  emitSegmentGathers(code, axis, length, {&gather, 1}, into);
}

} // namespace wsc::spmd
