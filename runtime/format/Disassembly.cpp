// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints instructions, operands and threads. Immediates appear in the shortest form that reads back to the same value.
#include "runtime/format/Disassembly.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <charconv>

namespace wsc::format {
namespace {

// Adds " + 4*i0" (or the first term without its sign in front) to `text`.
void addTerm(std::string &text, int64_t factor, const char *symbol, int number) {
  if (factor == 0)
    return;
  bool first = text.empty();
  if (first && factor < 0)
    text += "-";
  else if (!first)
    text += factor < 0 ? " - " : " + ";
  uint64_t magnitude = factor < 0 ? -static_cast<uint64_t>(factor) : static_cast<uint64_t>(factor);
  if (magnitude != 1)
    absl::StrAppend(&text, magnitude, "*");
  absl::StrAppend(&text, symbol, number);
}

std::string printNumber(double value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

std::string printOperand(const Role &role, const Operand &operand, const LatticeIndex *index) {
  auto bufferName = [&] {
    bool exists = operand.buffer >= 0 && size_t(operand.buffer) < role.buffers.size();
    return exists ? printable(role.buffers[operand.buffer].name) : absl::StrCat("buffer", operand.buffer);
  };
  switch (operand.kind) {
  case OperandKind::None:
    return "-";
  case OperandKind::Memory: {
    std::string address = operand.base == Affine() ? "" : printAffine(operand.base, index);
    if (address == "0")
      address.clear();
    for (int d = 0; d < kMaxDims; ++d)
      addTerm(address, operand.stride[d], "i", d);
    for (int k = 0; k < kMaxDims; ++k)
      addTerm(address, operand.loopStep[k], "l", k);
    return absl::StrCat(bufferName(), "[", address.empty() ? "0" : address, "]");
  }
  case OperandKind::Fifo:
    return absl::StrCat("fifo ", bufferName());
  case OperandKind::Queue: {
    if (operand.queue < 0 || size_t(operand.queue) >= role.queues.size())
      return absl::StrCat("queue", operand.queue);
    const Queue &queue = role.queues[operand.queue];
    return absl::StrCat(queue.output ? "out" : "in", int(queue.index), "(colour ", int(queue.colour), ")");
  }
  case OperandKind::Immediate:
    return printNumber(operand.immediate);
  case OperandKind::Null:
    return "null";
  }
  return "?";
}

std::string printExtents(const Instruction &instruction, const LatticeIndex *index) {
  std::string text;
  for (int d = 0; d < kMaxDims; ++d)
    if (!(instruction.extent[d] == Affine(1)))
      absl::StrAppend(&text, text.empty() ? " for " : ", ", "i", d, " < ", printAffine(instruction.extent[d], index));
  return text;
}

std::string printInstruction(const Role &role, const Instruction &instruction, const LatticeIndex *index,
                             int loopDepth) {
  std::string name(opcodeInfo(instruction.opcode).name);
  switch (instruction.opcode) {
  case Opcode::Loop:
    return absl::StrCat(name, " l", loopDepth, " < ", printAffine(instruction.extent[0], index));
  case Opcode::EndLoop:
    return name;
  case Opcode::SendControl:
    return absl::StrCat(name, " ", printOperand(role, instruction.dst, index), ", count ",
                        int(instruction.controlCount));
  default:
    break;
  }
  std::string text = absl::StrCat(name, ".", std::string(elementTypeName(instruction.type)));
  if (instruction.opcode == Opcode::Convert || instruction.mixed)
    absl::StrAppend(&text, ".from.", std::string(elementTypeName(instruction.sourceType)));
  absl::StrAppend(&text, " ", printOperand(role, instruction.dst, index));
  int sources = opcodeInfo(instruction.opcode).sources;
  if (sources >= 1)
    absl::StrAppend(&text, ", ", printOperand(role, instruction.a, index));
  if (sources >= 2)
    absl::StrAppend(&text, ", ", printOperand(role, instruction.b, index));
  text += printExtents(instruction, index);
  if (instruction.priority > 0)
    absl::StrAppend(&text, " priority ", int(instruction.priority));
  return text;
}

} // namespace

std::string printAffine(const Affine &affine, const LatticeIndex *index) {
  if (index)
    return absl::StrCat(affine.at(*index));
  std::string text = affine.constant == 0 && !affine.isConstant() ? "" : absl::StrCat(affine.constant);
  for (int d = 0; d < kMaxDims; ++d)
    addTerm(text, affine.perDim[d], "c", d);
  return text;
}

std::string disassemble(const Role &role, const Instruction &instruction, const LatticeIndex *index) {
  return printInstruction(role, instruction, index, 0);
}

std::string disassemble(const Role &role, const Thread &thread, const LatticeIndex *index, int indent) {
  std::string text;
  int depth = 0;
  for (size_t i = 0; i < thread.size(); ++i) {
    if (thread[i].opcode == Opcode::EndLoop && depth > 0)
      --depth;
    std::string number = absl::StrCat(i);
    absl::StrAppend(&text, std::string(indent + (number.size() < 4 ? 4 - number.size() : 0), ' '), number, "  ",
                    std::string(2 * depth, ' '), printInstruction(role, thread[i], index, depth), "\n");
    if (thread[i].opcode == Opcode::Loop)
      ++depth;
  }
  return text;
}

} // namespace wsc::format
