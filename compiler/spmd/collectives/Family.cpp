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

} // namespace wsc::spmd
