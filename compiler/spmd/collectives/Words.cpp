// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/Words.h"

namespace wsc::spmd {

using namespace format;

Operand nullOperand() {
  Operand operand;
  operand.kind = OperandKind::Null;
  return operand;
}

Instruction moveWords(Operand dst, Operand source, Affine words) {
  Instruction move = instruction(Opcode::Move, ElementType::I32, {}, std::move(dst), std::move(source));
  move.extent[kMaxDims - 1] = words;
  return move;
}

void sendControl(Code &code, const Route &route, int count, const Guard &guard) {
  if (count == 0)
    return;
  Instruction control;
  control.opcode = Opcode::SendControl;
  control.dst = queue(code, route, true);
  control.controlCount = uint8_t(count);
  code.append(std::move(control), guard);
}

} // namespace wsc::spmd
