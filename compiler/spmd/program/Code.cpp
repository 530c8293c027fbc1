// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/program/Code.h"

namespace wsc::spmd {

using namespace format;

void Code::append(Instruction instruction, const Guard &guard) {
  guards.resize(main.size());
  main.push_back(std::move(instruction));
  guards.push_back(guard);
}

int16_t Code::scratch(std::string name, ElementType type, int64_t elements) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.kind = BufferKind::Scratch;
  buffer.type = type;
  buffer.bytes = elements * elementBytes(type);
  buffers.push_back(std::move(buffer));
  return int16_t(buffers.size() - 1);
}

Operand memory(int16_t buffer, int64_t baseBytes, const std::vector<int64_t> &strideBytes) {
  Operand operand;
  operand.kind = OperandKind::Memory;
  operand.buffer = buffer;
  operand.base = Affine(baseBytes);
  for (size_t d = 0; d < strideBytes.size(); ++d)
    operand.stride[kMaxDims - strideBytes.size() + d] = int32_t(strideBytes[d]);
  return operand;
}

Operand immediate(double value) {
  Operand operand;
  operand.kind = OperandKind::Immediate;
  operand.immediate = value;
  return operand;
}

Instruction instruction(Opcode opcode, ElementType type, const std::vector<int64_t> &extents, Operand dst, Operand a,
                        Operand b) {
  Instruction result;
  result.opcode = opcode;
  result.type = type;
  result.dst = std::move(dst);
  result.a = std::move(a);
  result.b = std::move(b);
  for (size_t d = 0; d < extents.size(); ++d)
    result.extent[kMaxDims - extents.size() + d] = Affine(extents[d]);
  return result;
}

} // namespace wsc::spmd
