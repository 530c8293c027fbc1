// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter's checks before execution: one pass over buffers, one over instructions.
#include "runtime/emulator/InterpreterCheck.h"

#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

namespace wsc::emulator {

using format::Buffer;
using format::BufferKind;
using format::ElementType;
using format::Instruction;
using format::LatticeIndex;
using format::Opcode;
using format::Operand;
using format::OperandKind;
using format::Role;

std::string coreName(const Role &role, const LatticeIndex &index) {
  return absl::StrCat("role ", role.name, ", core (", index[0], ",", index[1], ",", index[2], ",", index[3], ")");
}

std::string instructionName(const Role &role, const LatticeIndex &index, size_t thread, size_t instruction) {
  return absl::StrCat(coreName(role, index), ", thread ", thread, ", instruction ", instruction, " (",
                      std::string(format::opcodeInfo(role.threads[thread][instruction].opcode).name), ")");
}

absl::Status checkBuffers(const format::Executable &executable, const Role &role, const LatticeIndex &index) {
  for (const Buffer &buffer : role.buffers) {
    auto refuse = [&](const std::string &message) {
      return absl::InvalidArgumentError(absl::StrCat(coreName(role, index), ", buffer '", buffer.name, "': ", message));
    };
    int64_t element = format::elementBytes(buffer.type);
    if (element == 0)
      return refuse(absl::StrCat("element type ", int(buffer.type), " does not exist"));
    if (buffer.bytes < 0)
      return refuse(absl::StrCat("a size of ", buffer.bytes, " bytes is negative"));
    if (executable.target.sramBytes > 0 && buffer.bytes > executable.target.sramBytes)
      return refuse(absl::StrCat(buffer.bytes, " bytes exceed the core's SRAM of ", executable.target.sramBytes));
    if (buffer.kind == BufferKind::Fifo && buffer.bytes < element)
      return refuse(absl::StrCat("a FIFO of ", buffer.bytes, " bytes holds no element of ", element, " bytes"));
    if (buffer.kind == BufferKind::Constant &&
        (buffer.section < 0 || size_t(buffer.section) >= executable.sections.size()))
      return refuse(
          absl::StrCat("section ", buffer.section, " does not exist, the file has ", executable.sections.size()));
    if (buffer.kind == BufferKind::Resident &&
        (buffer.resident < 0 || size_t(buffer.resident) >= executable.residents.size()))
      return refuse(
          absl::StrCat("resident ", buffer.resident, " does not exist, the file has ", executable.residents.size()));
  }
  return absl::OkStatus();
}

namespace {

// Which thread uses each queue and each end of each FIFO; -1: none yet.
class ProgramCheck {
public:
  ProgramCheck(const Role &role, const LatticeIndex &index)
      : role(role), index(index), queueUser(role.queues.size(), -1), pusher(role.buffers.size(), -1),
        popper(role.buffers.size(), -1) {}

  absl::Status run() {
    for (thread = 0; thread < role.threads.size(); ++thread) {
      size_t depth = 0;
      for (number = 0; number < role.threads[thread].size(); ++number) {
        const Instruction &instruction = role.threads[thread][number];
        if (instruction.opcode == Opcode::Loop && ++depth > size_t(format::kMaxDims))
          return refuse(absl::StrCat("loop nested ", depth, " deep, the limit is ", format::kMaxDims));
        if (instruction.opcode == Opcode::EndLoop && depth-- == 0)
          return refuse("closes no loop");
        if (absl::Status status = checkInstruction(instruction); !status.ok())
          return status;
      }
      if (depth > 0)
        return absl::InvalidArgumentError(
            absl::StrCat(coreName(role, index), ", thread ", thread, ": ", depth, " loops are not closed"));
    }
    return absl::OkStatus();
  }

private:
  const Role &role;
  const LatticeIndex &index;
  std::vector<int> queueUser, pusher, popper;
  size_t thread = 0, number = 0;

  absl::Status refuse(const std::string &message) const {
    return absl::InvalidArgumentError(absl::StrCat(instructionName(role, index, thread, number), ": ", message));
  }

  absl::Status checkInstruction(const Instruction &instruction) {
    Opcode opcode = instruction.opcode;
    if (int(opcode) >= format::kNumOpcodes)
      return refuse(absl::StrCat("opcode ", int(opcode), " does not exist"));
    if (opcode == Opcode::Loop || opcode == Opcode::EndLoop)
      return absl::OkStatus();
    if (opcode == Opcode::SendControl) {
      if (instruction.dst.kind != OperandKind::Queue)
        return refuse("dst must be an output queue");
      if (instruction.controlCount == 0)
        return refuse("the count of a control word is 0, it must be 1 or more");
      return checkOperand(instruction.dst, "dst", true, ElementType::F32);
    }
    for (ElementType type : {instruction.type, format::typeOfA(instruction)})
      if (format::elementBytes(type) == 0)
        return refuse(absl::StrCat("element type ", int(type), " does not exist"));
    if (!numerics::isDefined(opcode, instruction.type))
      return refuse(absl::StrCat("has no meaning on ", std::string(format::elementTypeName(instruction.type))));
    if (instruction.mixed && !format::mayMix(opcode, instruction.sourceType, instruction.type))
      return refuse(absl::StrCat("gives no ", std::string(format::elementTypeName(instruction.type)),
                                 " from sources of type ",
                                 std::string(format::elementTypeName(instruction.sourceType))));

    const format::OpcodeInfo &info = format::opcodeInfo(opcode);
    if (info.readsDst && instruction.dst.kind != OperandKind::Memory)
      return refuse("dst takes part in the result and must be in memory");
    if (opcode == Opcode::Gather && instruction.a.kind != OperandKind::Memory)
      return refuse("a is indexed and must be in memory");
    if (opcode == Opcode::Scatter && instruction.dst.kind != OperandKind::Memory)
      return refuse("dst is indexed and must be in memory");
    if (info.sources < 2 && instruction.b.kind != OperandKind::None)
      return refuse("takes one source, but b is given");
    bool bothQueues = instruction.a.kind == OperandKind::Queue && instruction.b.kind == OperandKind::Queue;
    if (bothQueues && instruction.a.queue == instruction.b.queue)
      return refuse(absl::StrCat("a and b both take words from queue ", instruction.a.queue));

    if (absl::Status status = checkOperand(instruction.dst, "dst", true, instruction.type); !status.ok())
      return status;
    if (absl::Status status = checkOperand(instruction.a, "a", false, format::typeOfA(instruction)); !status.ok())
      return status;
    return info.sources < 2 ? absl::OkStatus() : checkOperand(instruction.b, "b", false, format::typeOfB(instruction));
  }

  absl::Status checkOperand(const Operand &operand, const char *name, bool isDst, ElementType type) {
    switch (operand.kind) {
    case OperandKind::Memory:
    case OperandKind::Fifo:
      return checkBufferOperand(operand, name, isDst, type);
    case OperandKind::Queue: {
      if (operand.queue < 0 || size_t(operand.queue) >= role.queues.size())
        return refuse(absl::StrCat(name, " names queue ", operand.queue, ", the role has ", role.queues.size()));
      if (role.queues[size_t(operand.queue)].output != isDst)
        return refuse(absl::StrCat(name, " names queue ", operand.queue, ", which is an ",
                                   isDst ? "input queue" : "output queue"));
      return claim(queueUser[size_t(operand.queue)], absl::StrCat("queue ", operand.queue));
    }
    case OperandKind::Immediate:
      return isDst ? refuse("dst cannot be an immediate") : absl::OkStatus();
    case OperandKind::Null:
      return isDst ? absl::OkStatus() : refuse(absl::StrCat(name, " is null, only dst can be"));
    case OperandKind::None:
      break;
    }
    return refuse(absl::StrCat(name, " is missing"));
  }

  absl::Status checkBufferOperand(const Operand &operand, const char *name, bool isDst, ElementType type) {
    if (operand.buffer < 0 || size_t(operand.buffer) >= role.buffers.size())
      return refuse(absl::StrCat(name, " names buffer ", operand.buffer, ", the role has ", role.buffers.size()));
    const Buffer &buffer = role.buffers[size_t(operand.buffer)];
    if ((buffer.kind == BufferKind::Fifo) != (operand.kind == OperandKind::Fifo))
      return refuse(
          absl::StrCat(name, " uses buffer '", buffer.name, "' as ",
                       operand.kind == OperandKind::Fifo ? "a FIFO, which it is not" : "memory, but it is a FIFO"));
    if (buffer.kind == BufferKind::Constant && isDst)
      return refuse(absl::StrCat("dst is the read-only buffer '", buffer.name, "'"));
    if (buffer.kind != BufferKind::Fifo)
      return absl::OkStatus();
    if (format::elementBytes(type) != format::elementBytes(buffer.type))
      return refuse(absl::StrCat(name, " moves elements of ", format::elementBytes(type), " bytes through FIFO '",
                                 buffer.name, "' of ", format::elementBytes(buffer.type), "-byte elements"));
    return claim((isDst ? pusher : popper)[size_t(operand.buffer)],
                 absl::StrCat(isDst ? "the pushing" : "the popping", " end of FIFO '", buffer.name, "'"));
  }

  absl::Status claim(int &user, const std::string &what) {
    if (user >= 0 && user != int(thread))
      return refuse(absl::StrCat(what, " is already used by thread ", user));
    user = int(thread);
    return absl::OkStatus();
  }
};

} // namespace

absl::Status checkProgram(const Role &role, const LatticeIndex &index) { return ProgramCheck(role, index).run(); }

absl::Status checkContents(const Role &role, const LatticeIndex &index, const CoreImage &image,
                           const std::vector<std::vector<std::byte>> &received) {
  auto refuse = [&](const std::string &message) {
    return absl::InvalidArgumentError(absl::StrCat(coreName(role, index), ": ", message));
  };
  if (image.buffers.size() != role.buffers.size())
    return refuse(absl::StrCat("the image has ", image.buffers.size(), " buffers, the role ", role.buffers.size()));
  for (size_t i = 0; i < role.buffers.size(); ++i)
    if (int64_t(image.buffers[i].size()) != role.buffers[i].bytes)
      return refuse(absl::StrCat("buffer '", role.buffers[i].name, "' has ", image.buffers[i].size(),
                                 " bytes in the image, ", role.buffers[i].bytes, " in the role"));
  if (received.size() != role.queues.size())
    return refuse(absl::StrCat("words are given for ", received.size(), " queues, the role has ", role.queues.size()));
  for (size_t q = 0; q < received.size(); ++q) {
    if (role.queues[q].output && !received[q].empty())
      return refuse(absl::StrCat("words are given for queue ", q, ", which is an output queue"));
    if (received[q].size() % 4 != 0)
      return refuse(absl::StrCat(received[q].size(), " bytes for queue ", q, " are no whole number of 32-bit words"));
  }
  return absl::OkStatus();
}

} // namespace wsc::emulator
