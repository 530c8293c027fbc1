// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route families of a configuration, as values (Route in Code.h) and as queue operands. All collectives of a
// configuration run over the families of its Code's palette, in one order on all cores, so that successive calls of a
// family are one longer stream:
//
//   chain      from each core to the one before, on two colours by parity
//   input      from the west port of a row to all its cores
//   output     from all cores of a row, in turns from the east, to its west port
//
// and those of SegmentGather.h, SegmentShift.h and GroupReduce.h. A queue operand of Code names a family of the palette
// and a direction (queueOf); roles turn that into queues and colours.
#pragma once

#include "compiler/spmd/program/Code.h"

namespace wsc::spmd {

/// The number that stands for a queue of a family in Operand::queue of a Code.
constexpr int16_t queueOf(int16_t family, bool output) { return int16_t(family * 2 + output); }
constexpr int16_t familyOf(int16_t queue) { return int16_t(queue / 2); }
constexpr bool isOutput(int16_t queue) { return queue % 2 != 0; }

/// The queue operand of a family of the code's palette.
format::Operand queue(Code &code, const Route &route, bool output);

constexpr Route inputRoute() { return {.kind = Route::Kind::Input}; }
constexpr Route outputRoute() { return {.kind = Route::Kind::Output, .backward = true}; }
/// `group`: cores of a group in which chains run; 0: the whole line, or groups of any even number of cores, whose
/// senders agree.
constexpr Route chain(Axis axis, bool odd, int32_t group = 0) {
  return {.kind = Route::Kind::Chain, .axis = axis, .backward = true, .parity = odd, .segment = group % 2 ? group : 0};
}

/// The same from the first core of each run of `run` adjacent cores to the first one of the run before, in groups of
/// `group` cores; `odd` counts runs.
constexpr Route runChain(Axis axis, bool odd, int32_t run, int32_t group, int32_t groups) {
  return {.kind = Route::Kind::Chain,
          .axis = axis,
          .backward = true,
          .parity = odd,
          .unit = run,
          .segment = group,
          .units = groups};
}

/// For people: "row bus in", "column chain odd", ….
std::string nameOf(const Route &route);

/// The dimension of affine numbers that a core's coordinate on its line is: along a row the column varies.
constexpr int alongDim(Axis axis) { return axis == Axis::Row ? kColDim : kRowDim; }
/// The same of its sub-index (Guard).
constexpr int subDim(Axis axis) { return axis == Axis::Row ? kColSubDim : kRowSubDim; }

/// Adds scale · a number of the coordinate on the lines of an axis; `part`, what the guard says of that coordinate,
/// gets the modulus that it needs.
void addNumber(Axis axis, const GroupNumber &number, int64_t scale, format::Affine &affine, AxisGuard &part);

/// `guard` narrowed to coordinates [begin, end) on the lines of an axis, and to one parity of them unless -1.
Guard narrowed(Guard guard, Axis axis, int64_t begin, int64_t end, int parity = -1);

/// What `part` says of the coordinates on the lines of an axis, in place of what `guard` says.
Guard withAlong(Guard guard, Axis axis, const AxisGuard &part);

/// The cores of a part of the network's rectangle.
Guard guardOf(const Rectangle &part, const Rectangle &whole);

/// What was appended since instruction `begin` runs on the guard's cores only.
void guardFrom(Code &code, size_t begin, const Guard &guard);

} // namespace wsc::spmd
