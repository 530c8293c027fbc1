// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/Family.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

Operand queue(Family family, bool output) {
  Operand operand;
  operand.kind = OperandKind::Queue;
  operand.queue = queueOf(family, output);
  return operand;
}

Guard narrowed(Guard guard, Axis axis, int64_t begin, int64_t end, int parity) {
  int32_t &low = axis == Axis::Row ? guard.colBegin : guard.rowBegin;
  int32_t &high = axis == Axis::Row ? guard.colEnd : guard.rowEnd;
  low = int32_t(std::max<int64_t>(low, begin));
  high = int32_t(std::min<int64_t>(high, end));
  if (parity >= 0)
    (axis == Axis::Row ? guard.colParity : guard.rowParity) = parity;
  return guard;
}

Guard guardOf(const Rectangle &part, const Rectangle &whole) {
  Guard guard;
  if (part.row > 0)
    guard.rowBegin = part.row;
  if (part.row + part.rows < whole.rows)
    guard.rowEnd = part.row + part.rows;
  if (part.col > 0)
    guard.colBegin = part.col;
  if (part.col + part.cols < whole.cols)
    guard.colEnd = part.col + part.cols;
  return guard;
}

void guardFrom(Code &code, size_t begin, const Guard &guard) {
  if (guard == Guard())
    return;
  code.guards.resize(code.main.size());
  for (size_t i = begin; i < code.main.size(); ++i)
    code.guards[i] = guard;
}

} // namespace wsc::spmd
