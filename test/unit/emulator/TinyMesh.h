// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short words for writing small configurations by hand in tests.
#pragma once

#include "runtime/format/Executable.h"

namespace wsc::testing {

inline format::Operand queueOperand(int q) {
  format::Operand o;
  o.kind = format::OperandKind::Queue;
  o.queue = int16_t(q);
  return o;
}
inline format::Operand memoryOperand(int buffer, int32_t strideBytes, int64_t base = 0) {
  format::Operand o;
  o.kind = format::OperandKind::Memory;
  o.buffer = int16_t(buffer);
  o.stride[3] = strideBytes;
  o.base = format::Affine(base);
  return o;
}
inline format::Instruction vectorOp(format::Opcode opcode, format::Affine n, format::Operand dst, format::Operand a,
                                    format::Operand b = {}) {
  format::Instruction i;
  i.opcode = opcode;
  i.extent[3] = n;
  i.dst = dst;
  i.a = a;
  i.b = b;
  return i;
}
inline format::Instruction control(int q, int count) {
  format::Instruction i;
  i.opcode = format::Opcode::SendControl;
  i.dst = queueOperand(q);
  i.controlCount = uint8_t(count);
  return i;
}
inline format::Lattice rowOf(int row, int col, int columns) {
  format::Lattice l;
  l.row = row;
  l.col = col;
  l.dims[3] = {columns, 0, 1};
  return l;
}
inline format::SwitchPosition from(format::Port input, std::initializer_list<format::Port> outputs) {
  format::SwitchPosition p;
  p.input = input;
  for (format::Port out : outputs)
    p.outputs |= format::PortMask(1 << int(out));
  return p;
}
inline format::Buffer scratch(int64_t bytes) {
  format::Buffer b;
  b.name = "scratch";
  b.bytes = bytes;
  return b;
}
inline format::IoBinding lane(bool output, int tensor, format::Port side, int row, int col, int colour,
                              int64_t elements) {
  format::IoBinding b;
  b.output = output;
  b.tensor = tensor;
  b.ports = rowOf(row, col, 1);
  b.side = side;
  b.colour = uint8_t(colour);
  b.extent[3] = format::Affine(elements);
  b.stride[3] = 1;
  return b;
}

// One entry that runs one empty configuration on a mesh.
inline format::Executable tinyMesh(int rows, int cols) {
  format::Executable e;
  e.target.rows = rows;
  e.target.cols = cols;
  e.target.colours = 24;
  e.configurations.resize(1);
  format::Entry entry;
  entry.name = "main";
  entry.steps = {{format::StepKind::Run, 0, {}}};
  e.entries.push_back(entry);
  return e;
}

} // namespace wsc::testing
