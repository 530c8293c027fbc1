// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each opcode may take as operands, and in which element types: a table of allowed operand kinds per opcode class,
// then the direction of queues, FIFOs only as FIFOs, constants never written.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

namespace wsc::format::verifier {

namespace {

using Kinds = unsigned; // bit (1 << OperandKind)
constexpr Kinds kind(OperandKind k) { return 1u << unsigned(k); }
constexpr Kinds kNone = kind(OperandKind::None), kMemory = kind(OperandKind::Memory), kQueue = kind(OperandKind::Queue);
constexpr Kinds kStream = kMemory | kind(OperandKind::Fifo) | kQueue;
constexpr Kinds kSource = kStream | kind(OperandKind::Immediate);
constexpr Kinds kResult = kStream | kind(OperandKind::Null);

const char *const kKindNames[] = {"none", "memory", "fifo", "queue", "immediate", "null"};

struct Legal {
  Kinds dst, a, b;
};

Legal legalKinds(Opcode opcode) {
  const OpcodeInfo &info = opcodeInfo(opcode);
  switch (opcode) {
  case Opcode::Loop:
  case Opcode::EndLoop:
    return {kNone, kNone, kNone};
  case Opcode::SendControl:
    return {kQueue, kNone, kNone};
  case Opcode::Gather:
    return {kResult, kMemory, kStream};
  case Opcode::Scatter:
    return {kMemory, kSource, kStream};
  default:
    return {info.readsDst ? kMemory : kResult, kSource, info.sources == 2 ? kSource : kNone};
  }
}

bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F64;
}

// Null when the opcode works on the type; else what it works on.
const char *wrongType(Opcode opcode, ElementType type) {
  switch (opcode) {
  case Opcode::ShiftLeft:
  case Opcode::ShiftRight:
    return isFloat(type) ? "integers and bool" : nullptr;
  default:
    return opcodeInfo(opcode).floatOnly && !isFloat(type) ? "floating point" : nullptr;
  }
}

std::string listKinds(Kinds kinds) {
  std::string list;
  for (unsigned k = 0; k <= unsigned(OperandKind::Null); ++k)
    if (kinds >> k & 1)
      list += (list.empty() ? "" : ", ") + std::string(kKindNames[k]);
  return list;
}

struct Place {
  const RoleScope &scope;
  size_t thread, number;
  const Instruction &instruction;

  void refuse(const char *rule, const std::string &what) const {
    scope.report().add(rule, scope.key(text(thread, "/", number, what)), text(scope.at(thread, number), ": ", what));
  }
};

void checkOperand(const Place &place, const char *name, const Operand &operand, Kinds legal) {
  const Role &role = place.scope.role;
  bool isDst = &operand == &place.instruction.dst;
  if (!(legal >> unsigned(operand.kind) & 1)) {
    place.refuse("operand-kind",
                 text("operand ", name, " is ", kKindNames[unsigned(operand.kind)], ", legal is ", listKinds(legal)));
    return;
  }
  if (operand.kind == OperandKind::Queue && role.queues[operand.queue].output != isDst)
    place.refuse("queue-direction", text("operand ", name,
                                         isDst ? " is an input queue, results need an output queue"
                                               : " is an output queue, sources need an input queue"));
  if (operand.kind != OperandKind::Memory && operand.kind != OperandKind::Fifo)
    return;
  const Buffer &buffer = role.buffers[operand.buffer];
  if ((buffer.kind == BufferKind::Fifo) != (operand.kind == OperandKind::Fifo))
    place.refuse("operand-kind",
                 text("operand ", name, " takes buffer ", buffer.name, " as ", kKindNames[unsigned(operand.kind)],
                      ", but it is ", buffer.kind == BufferKind::Fifo ? "a FIFO" : "plain memory"));
  const bool constant = buffer.kind == BufferKind::Constant ||
                        (buffer.kind == BufferKind::Resident &&
                         place.scope.scope.executable.residents[size_t(buffer.resident)].section >= 0);
  if (isDst && constant)
    place.refuse("constant-write",
                 text("writes buffer ", buffer.name, ", which is constant; use a scratch or state buffer"));
  ElementType type = accessType(place.instruction, operand);
  if (operand.kind == OperandKind::Fifo && elementBytes(buffer.type) != elementBytes(type))
    place.refuse("element-type", text("operand ", name, " has elements of type ", elementTypeName(type), ", FIFO ",
                                      buffer.name, " holds ", elementTypeName(buffer.type)));
}

} // namespace

void checkOperands(const RoleScope &scope) {
  for (size_t t = 0; t < scope.role.threads.size(); ++t)
    for (size_t i = 0; i < scope.role.threads[t].size(); ++i) {
      const Instruction &instruction = scope.role.threads[t][i];
      Place place{scope, t, i, instruction};
      Legal legal = legalKinds(instruction.opcode);
      checkOperand(place, "dst", instruction.dst, legal.dst);
      checkOperand(place, "a", instruction.a, legal.a);
      checkOperand(place, "b", instruction.b, legal.b);
      if (instruction.a.kind == instruction.b.kind &&
          ((instruction.a.kind == OperandKind::Queue && instruction.a.queue == instruction.b.queue) ||
           (instruction.a.kind == OperandKind::Fifo && instruction.a.buffer == instruction.b.buffer)))
        place.refuse("operand-twice",
                     "operands a and b take elements from the same queue or FIFO; move one of them to memory first");
      if (instruction.opcode == Opcode::SendControl && instruction.controlCount == 0)
        place.refuse("control", "a control word of count 0 advances no switch; legal are counts from 1");
      if (instruction.mixed && !mayMix(instruction.opcode, instruction.sourceType, instruction.type))
        place.refuse(
            "element-type",
            text("sources of type ", elementTypeName(instruction.sourceType), " do not give ",
                 elementTypeName(instruction.type),
                 "; legal are f16 or bf16 to f32, 8- or 16-bit integers to i32 and f32 to f64 in add, sub, mul, "
                 "fma and reduce_add, and comparisons to bool; convert first"));
      if (const char *legalTypes = wrongType(instruction.opcode, instruction.type))
        place.refuse("element-type", text("element type ", elementTypeName(instruction.type), ", legal is ", legalTypes,
                                          "; convert first"));
    }
}

} // namespace wsc::format::verifier
