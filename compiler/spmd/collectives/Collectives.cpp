// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/Collectives.h"

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

void gatherForward(Code &code, Axis axis, int32_t length, const LineGather &gather, const Guard &lines, Place from,
                   Place into) {
  const int32_t begin = gather.begin, end = gather.end, sendEnd = std::min(end, length - 1);
  if (begin >= sendEnd)
    return;
  const Route route = forward(axis);
  const int64_t w = gather.words;
  code.append(moveWords(words(into), queue(code, route, false), stepsAlong(axis, -begin * w, w)),
              narrowed(lines, axis, begin + 1, end));
  code.append(moveWords(words(into), queue(code, route, false), Affine((sendEnd - begin) * w)),
              narrowed(lines, axis, end, length));
  code.append(moveWords(queue(code, route, true), words(from), Affine(w)), narrowed(lines, axis, begin, sendEnd));
  const int32_t last = sendEnd - 1;
  sendControl(code, route, last > 0 ? 1 : 0, narrowed(lines, axis, 0, 1));
  sendControl(code, route, 2, narrowed(lines, axis, 1, last));
  sendControl(code, route, last > 0 ? 1 : 0, narrowed(lines, axis, last, last + 1));
}

void gatherBackward(Code &code, Axis axis, int32_t length, const LineGather &gather, const Guard &lines, Place from,
                    Place into) {
  const int32_t begin = gather.begin, end = gather.end, first = std::max(begin, 1);
  if (first >= end)
    return;
  const Route route = backward(axis);
  const int64_t w = gather.words;
  // The words of core end − 1 come first, so blocks are laid from the back.
  auto take = [&](Affine blocks, const Guard &guard) {
    Operand dst = memory(into.buffer, into.baseBytes + (end - 1 - begin) * w * 4, {-w * 4, 4});
    Instruction move = instruction(Opcode::Move, ElementType::I32, {1, w}, std::move(dst), queue(code, route, false));
    move.extent[kMaxDims - 2] = blocks;
    code.append(std::move(move), guard);
  };
  take(stepsAlong(axis, end - 1, -1), narrowed(lines, axis, begin, end - 1));
  take(Affine(end - first), narrowed(lines, axis, 0, begin));
  code.append(moveWords(queue(code, route, true), words(from), Affine(w)), narrowed(lines, axis, first, end));
  const int32_t last = length - 1;
  sendControl(code, route, last > first ? 1 : 0, narrowed(lines, axis, last, length));
  sendControl(code, route, 2, narrowed(lines, axis, first + 1, last));
  if (first < last)
    sendControl(code, route, 1, narrowed(lines, axis, first, first + 1));
}

} // namespace

void emitLineGather(Code &code, Axis axis, int32_t length, const LineGather &gather, Place from, Place into) {
  if (gather.words == 0 || gather.begin >= gather.end)
    return;
  const Guard lines = narrowed({}, axis == Axis::Row ? Axis::Col : Axis::Row, gather.lineBegin, gather.lineEnd);
  Operand own = words(into);
  own.base = stepsAlong(axis, into.baseBytes - gather.begin * gather.words * 4, gather.words * 4);
  code.append(moveWords(std::move(own), words(from), Affine(gather.words)),
              narrowed(lines, axis, gather.begin, gather.end));
  gatherForward(code, axis, length, gather, lines, from, into);
  gatherBackward(code, axis, length, gather, lines, from, into);
}

void emitChain(Code &code, Axis axis, int32_t length, Opcode opcode, ElementType type, int64_t elements, Place mine,
               Place result, const Guard &cores) {
  const int64_t bytes = elementBytes(type);
  auto local = [&](Place place) { return memory(place.buffer, place.baseBytes, {bytes}); };
  if (length == 1) {
    code.append(instruction(Opcode::Move, type, {elements}, local(result), local(mine)), cores);
    return;
  }
  const Operand first = queue(code, chain(axis, false), true);
  code.append(instruction(Opcode::Move, type, {elements}, first, local(mine)), narrowed(cores, axis, 0, 1));
  if (length > 2)
    for (int odd : {1, 0}) {
      const Operand to = queue(code, chain(axis, odd), true), from = queue(code, chain(axis, !odd), false);
      code.append(instruction(opcode, type, {elements}, to, from, local(mine)),
                  narrowed(cores, axis, 1, length - 1, odd));
    }
  const Operand last = queue(code, chain(axis, length % 2 != 0), false);
  code.append(instruction(opcode, type, {elements}, local(result), last, local(mine)),
              narrowed(cores, axis, length - 1, length));
}

void emitInput(Code &code, int32_t rowBegin, int32_t rowEnd, int32_t cols, int64_t count, Place into) {
  Guard guard;
  guard.rowBegin = rowBegin;
  guard.rowEnd = rowEnd;
  const Operand in = queue(code, inputRoute(), false);
  if (cols > 1)
    code.append(moveWords(nullOperand(), in, stepsAlong(Axis::Row, 0, count)), narrowed(guard, Axis::Row, 1, cols));
  code.append(moveWords(words(into), in, Affine(count)), guard);
  if (cols > 1)
    code.append(moveWords(nullOperand(), in, stepsAlong(Axis::Row, (cols - 1) * count, -count)),
                narrowed(guard, Axis::Row, 0, cols - 1));
}

void emitOutput(Code &code, int32_t rowBegin, int32_t rowEnd, int32_t cols, int64_t count, Place from) {
  Guard guard;
  guard.rowBegin = rowBegin;
  guard.rowEnd = rowEnd;
  code.append(moveWords(queue(code, outputRoute(), true), words(from), Affine(count)), guard);
  if (cols == 1)
    return;
  sendControl(code, outputRoute(), 1, narrowed(guard, Axis::Row, cols - 1, cols));
  sendControl(code, outputRoute(), 2, narrowed(guard, Axis::Row, 1, cols - 1));
  sendControl(code, outputRoute(), 1, narrowed(guard, Axis::Row, 0, 1));
}

} // namespace wsc::spmd
