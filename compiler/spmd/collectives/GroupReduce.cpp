// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/GroupReduce.h"

namespace wsc::spmd {

using namespace format;

void emitGroupAllReduce(Code &code, Axis axis, int32_t length, int32_t group, int32_t groups, Opcode opcode,
                        ElementType type, int64_t elements, Place mine, Place result, const Guard &cores) {
  const int64_t bytes = elementBytes(type);
  auto local = [&](Place place) { return memory(place.buffer, place.baseBytes, {bytes}); };
  // Cores at places [begin, end) of their groups, of one parity unless -1.
  auto places = [&](int32_t begin, int32_t end, int parity = -1) {
    AxisGuard part;
    part.parity = parity;
    if (groups == 1) {
      part.begin = begin;
      part.end = end;
    } else {
      part.end = group * groups < length ? group * groups : INT32_MAX;
      part.modulus = group;
      if (begin > 0)
        part.subBegin = begin;
      if (end < group)
        part.subEnd = end;
    }
    return withAlong(cores, axis, part);
  };
  if (group == 1) {
    if (mine.buffer != result.buffer || mine.baseBytes != result.baseBytes)
      code.append(instruction(Opcode::Move, type, {elements}, local(result), local(mine)),
                  narrowed(cores, axis, 0, groups));
    return;
  }
  // A single group is a line of its own: its places are coordinates.
  const int32_t period = groups == 1 ? 0 : group;
  const Operand first = queue(code, chain(axis, false, period), true);
  code.append(instruction(Opcode::Move, type, {elements}, first, local(mine)), places(0, 1));
  for (int odd : {1, 0}) {
    if (group <= (odd ? 2 : 3))
      break; // no core inside the group has that parity
    const Operand to = queue(code, chain(axis, odd, period), true),
                  from = queue(code, chain(axis, !odd, period), false);
    code.append(instruction(opcode, type, {elements}, to, from, local(mine)), places(1, group - 1, odd));
  }
  const Operand last = queue(code, chain(axis, group % 2 != 0, period), false);
  code.append(instruction(opcode, type, {elements}, local(result), last, local(mine)), places(group - 1, group));
  const Route back = spread(axis, group);
  code.append(instruction(Opcode::Move, type, {elements}, queue(code, back, true), local(result)),
              places(group - 1, group));
  code.append(instruction(Opcode::Move, type, {elements}, local(result), queue(code, back, false)),
              places(0, group - 1));
}

} // namespace wsc::spmd
