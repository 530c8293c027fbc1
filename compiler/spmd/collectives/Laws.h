// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What collectives cost: cycles from the first set-up to the last core's last slot, by the rules of docs/Timing.md
// alone; fitted are only numbers of shifts in both directions and of windows whose cores pass blocks over.
// test/agreement/CollectivesTest.cpp holds them against the cycle engine.
//
// What every law consists of, on a target with set-up S, task start T, ramp R, hop H, credit latency 1:
//
//   flight of d hops    2·R + 1 + d·H     from the slot that sends a word to the first slot that can take it
//   answer              S + T             from the end of an instruction with a queue to the next one's first slot
//   hand-over           1 + d·H           from the last word of a turn to the first of the next giver, d hops on: its
//                                         words wait in its router behind a control word
//
// Words are 32-bit words of the fabric, one a slot: elements whose arithmetic takes longer, or operands that begin in
// the same bank, are the caller's to scale.
#pragma once

#include "compiler/spmd/collectives/LineBus.h"
#include "runtime/target/Target.h"

namespace wsc::spmd {

/// emitGroupAllReduce. A chain over `group` cores and the way back:
/// S + (group − 1)·flight(1) + words + answer + flight(group − 1) + words; in two levels, of runs of `run` cores
/// (reduceRun), another chain from run to run between them: answer + (group / run − 1)·flight(run) + words.
int64_t allReduceCycles(const target::Target &target, int32_t group, int32_t run, int64_t words);

/// One direction of emitSegmentGather with overlap, of n = `segment` units of u = `unit` cores and blocks of w words:
/// the largest of
///
///   each segment's cores give, then those beside it   S + 3·answer + 2·flight(n·u) + 2·n·w; n = 1: one answer
///   few words on a long way                           S + flight(2) + 3·flight(n·u) + (n + 1)·w
///   cores change from taking to passing over, each    2·n·w + 2·n·(u − 1) + a·n + b; a and b by w, fitted to the cycle
///   at another block                                  engine
int64_t segmentGatherCycles(const target::Target &target, int32_t unit, int32_t segment, int64_t words);

/// Both directions of it without overlap, of segments of n = `segment` ≥ 2 units of u = `unit` cores and blocks of w
/// words. Where queues hold them (w ≤ 2) both directions go on together: the larger of
///
///   words on the links, instructions          (n − 1)·w + 2·(w − 1) + n·u + S + 2·answer + flight(2), of n·u ≥ 7
///   there and back                            2·flight(n·u) + 2·w − flight(1)
///
/// Else one after the other: 2·(n − 1)·w + S + the larger of 2·answer + flight(n·u) and 3·answer + 2. Of blocks of
/// three to five words the queues hold some: it takes 5 cycles less, but no less than both directions together. Two
/// units of one core: S + 2·answer + 2·w + 2. Larger units take no longer.
int64_t gatherCycles(const target::Target &target, int32_t unit, int32_t segment, int64_t words);

/// Both directions of it with overlap, of units of one core on segments of equal length: the larger of
///
///   both directions one after the other   S + (2·min(n, 3) + 1)·answer + 2·flight(n) + 4·n·w
///   cores pass blocks over                4·n·w + a·n + b; fitted to the cycle engine
///
/// Larger units take no longer than their directions one after the other.
int64_t windowCycles(const target::Target &target, int32_t segment, int64_t words);

/// emitSegmentShift by n = `segment` cores on lines of at least four segments, of w words in one direction: the larger
/// of
///
///   what a core gets and then gives:  S + flight(n) + w + answer + flight(n) + n·w, and n − 3 slots of control words
///                                     where w > 2
///   the words of two segments on the links in a segment's middle:  2·n·w + S + flight(1), or 2·n·w + 2·n + 15 − w
///                                     where control words count
///
/// In both directions streams have cores in common, which wait for one and then for the other. The forms for that are
/// fitted to the cycle engine: where queues hold the words of a block (4), the larger of (w + 2)·n + 2·w + 50 (and
/// those slots) and 2·n·w + 7/2·n + 15 (2·n·w + 2·n + 11 up to w = 2); else 2·n·w + 7/2·n + 45, and 3·w − 8 more for
/// odd n, as the core in the middle of a segment has both its turns at a time.
int64_t segmentShiftCycles(const target::Target &target, int32_t segment, int64_t words, bool inBothDirections);

/// emitLineBus on lines of `length` cores, the only bus of its program (ShortBuses.h). In: blocks and hand-overs from
/// the far end to the relay; then, where the relay gives a block itself, its copy; out: answer, blocks, flight to the
/// far end.
int64_t lineBusCycles(const target::Target &target, const LineBus &bus, int32_t length);

/// emitInput: `rows` rows of `length` cores take `words` words for each of their first `cols` cores. Cores change their
/// instruction before and behind their own block, at different blocks; what their queues do not take up holds the row.
int64_t inputCycles(const target::Target &target, int32_t rows, int32_t cols, int64_t words, int32_t length);

/// emitBoxInput: all cores of a row take the same words.
int64_t boxInputCycles(const target::Target &target, int32_t rows, int64_t words, int32_t length);

/// emitOutput: turns from the far end to the port.
int64_t outputCycles(const target::Target &target, int32_t rows, int32_t cols, int64_t words, int32_t length);

} // namespace wsc::spmd
