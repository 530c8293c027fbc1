// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The collectives as instructions of a Code. Lines are those of the network's rectangle along an axis, `length` cores
// each.
#pragma once

#include "compiler/spmd/collectives/Family.h"

namespace wsc::spmd {

/// A place in a core's SRAM.
struct Place {
  int16_t buffer = -1;
  int64_t baseBytes = 0;
};

/// Words of a block that cores nearly give before anybody takes, as queues on the way hold most of them. Longer blocks
/// are given as fast as others take them, so these must not be late.
constexpr int64_t kGivenAhead = 8;

/// The cores [begin, end) of lines [lineBegin, lineEnd) along the axis give `words` 32-bit words each.
struct LineGather {
  int32_t begin = 0, end = 0;
  int32_t lineBegin = 0, lineEnd = 0;
  int64_t words = 0;
  int64_t pitch = 0; // elements from one giver's first element to the next one's
};

/// All-gather along whole lines, by the line's bus (LineBus.h): cores [gather.begin, gather.end) of the lines give
/// `gather.words` words of `from`; every core of these lines gets all of them, in the order of coordinates, at `into`.
/// Time about 2 · words of the line + 10 · length cycles.
void emitLineGather(Code &code, Axis axis, int32_t length, const LineGather &gather, Place from, Place into);

/// Rows [rowBegin, rowEnd) take `words` words for each of their first `cols` cores from their west port, those of
/// column 0 first; all `length` cores of the rows see them.
void emitInput(Code &code, int32_t rowBegin, int32_t rowEnd, int32_t cols, int64_t words, Place into, int32_t length);

/// All cores of rows 0 … rows − 1 take the same `words` words from their row's west port.
void emitBoxInput(Code &code, int32_t rows, int64_t words, Place into);

/// The reverse: words of `cols` cores, the first ones of units of `unit` columns, leave through the west port, those of
/// the last of them first; all `length` cores of the rows take turns.
void emitOutput(Code &code, int32_t rowBegin, int32_t rowEnd, int32_t cols, int64_t words, Place from, int32_t length,
                int32_t unit = 1);

/// Elements of a rectangle's cores leave, whose columns are units' first ones: a nest of `extents` over `from`,
/// elements of whole words.
void emitOutputBox(Code &code, const Rectangle &cores, format::ElementType type, const std::vector<int64_t> &extents,
                   format::Operand from, int32_t length, int32_t unit = 1);

} // namespace wsc::spmd
