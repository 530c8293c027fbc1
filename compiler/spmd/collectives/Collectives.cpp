// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/Collectives.h"

#include "compiler/spmd/collectives/LineBus.h"
#include "compiler/spmd/collectives/Words.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

Operand words(Place place) { return memory(place.buffer, place.baseBytes, {4}); }

/// constant + step · coordinate on the line.
Affine stepsAlong(Axis axis, int64_t constant, int64_t step) {
  Affine affine(constant);
  affine.perDim[alongDim(axis)] = step;
  return affine;
}

/// The first columns of units [begin, end) of `unit` columns.
Guard unitColumns(const Guard &rows, int32_t begin, int32_t end, int32_t unit) {
  if (unit == 1)
    return narrowed(rows, Axis::Row, begin, end);
  AxisGuard part;
  part.begin = begin * unit;
  part.end = end * unit;
  part.modulus = unit;
  part.subEnd = 1;
  return withAlong(rows, Axis::Row, part);
}

void takeOutputTurns(Code &code, const Guard &rows, int32_t length) {
  if (length == 1)
    return;
  sendControl(code, outputRoute(), 1, narrowed(rows, Axis::Row, length - 1, length));
  sendControl(code, outputRoute(), 2, narrowed(rows, Axis::Row, 1, length - 1));
  sendControl(code, outputRoute(), 1, narrowed(rows, Axis::Row, 0, 1));
}

} // namespace

void emitLineGather(Code &code, Axis axis, int32_t length, const LineGather &gather, Place from, Place into) {
  if (gather.words == 0 || gather.begin >= gather.end)
    return;
  LineBus bus;
  bus.begin = gather.begin;
  bus.units = bus.segment = gather.end - gather.begin;
  bus.lineBegin = gather.lineBegin;
  bus.lineEnd = gather.lineEnd;
  bus.words = gather.words;
  bus.pitchBytes = gather.words * 4;
  bus.blocks = bus.units;
  emitLineBus(code, axis, length, bus, from, into);
}

void emitInput(Code &code, int32_t rowBegin, int32_t rowEnd, int32_t cols, int64_t count, Place into, int32_t length) {
  Guard guard;
  guard.rowBegin = rowBegin;
  guard.rowEnd = rowEnd;
  const Operand in = queue(code, inputRoute(), false);
  if (cols > 1)
    code.append(moveWords(nullOperand(), in, stepsAlong(Axis::Row, 0, count)), narrowed(guard, Axis::Row, 1, cols));
  code.append(moveWords(words(into), in, Affine(count)), narrowed(guard, Axis::Row, 0, cols));
  if (cols > 1)
    code.append(moveWords(nullOperand(), in, stepsAlong(Axis::Row, (cols - 1) * count, -count)),
                narrowed(guard, Axis::Row, 0, cols - 1));
  if (cols < length)
    code.append(moveWords(nullOperand(), in, Affine(cols * count)), narrowed(guard, Axis::Row, cols, length));
}

void emitBoxInput(Code &code, int32_t rows, int64_t count, Place into) {
  Guard guard;
  guard.rowEnd = rows;
  code.append(moveWords(words(into), queue(code, inputRoute(), false), Affine(count)), guard);
}

void emitOutput(Code &code, int32_t rowBegin, int32_t rowEnd, int32_t cols, int64_t count, Place from, int32_t length,
                int32_t unit) {
  Guard guard;
  guard.rowBegin = rowBegin;
  guard.rowEnd = rowEnd;
  code.append(moveWords(queue(code, outputRoute(), true), words(from), Affine(count)),
              unitColumns(guard, 0, cols, unit));
  takeOutputTurns(code, guard, length);
}

void emitOutputBox(Code &code, const Rectangle &cores, ElementType type, const std::vector<int64_t> &extents,
                   Operand from, int32_t length, int32_t unit) {
  Guard guard;
  guard.rowBegin = cores.row;
  guard.rowEnd = cores.row + cores.rows;
  code.append(instruction(Opcode::Move, type, extents, queue(code, outputRoute(), true), std::move(from)),
              unitColumns(guard, cores.col, cores.col + cores.cols, unit));
  takeOutputTurns(code, guard, length);
}

} // namespace wsc::spmd
