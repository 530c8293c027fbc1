// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts queue words by walking the instruction lists with their static loops. A loop body is counted once; bodies
// that move data only are multiplied by the trip count, bodies with control words are repeated.
#include "runtime/emulator/QueueTraffic.h"

#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

namespace wsc::emulator {

using namespace format;

namespace {

constexpr size_t kMaxItems = size_t(1) << 20;

void append(std::vector<TrafficItem> &items, const TrafficItem &item) {
  if (item.controlCount == 0) {
    if (item.words == 0)
      return;
    if (!items.empty() && items.back().controlCount == 0) {
      items.back().words += item.words;
      return;
    }
  }
  items.push_back(item);
}

absl::Status walk(const Role &role, const Thread &thread, size_t &pc, bool inLoop, const LatticeIndex &index,
                  CoreTraffic &traffic) {
  auto count = [&](const Instruction &instruction, const Operand &operand, OperandSlot slot, int64_t elements) {
    if (operand.kind == OperandKind::Queue)
      append(traffic[operand.queue], {timing::fabricWords(operandType(instruction, slot), elements), 0});
  };
  while (pc < thread.size()) {
    const Instruction &instruction = thread[pc++];
    if (instruction.opcode == Opcode::EndLoop) {
      if (!inLoop)
        return absl::InvalidArgumentError(
            absl::StrCat("role ", role.name, ": EndLoop without Loop at instruction ", pc - 1));
      return absl::OkStatus();
    }
    if (instruction.opcode == Opcode::SendControl) {
      append(traffic[instruction.dst.queue], {0, instruction.controlCount});
      continue;
    }
    if (instruction.opcode == Opcode::Loop) {
      int64_t trips = instruction.extent[0].at(index);
      CoreTraffic body(role.queues.size());
      if (absl::Status status = walk(role, thread, pc, true, index, body); !status.ok())
        return status;
      for (size_t q = 0; q < body.size(); ++q) {
        if (body[q].empty() || trips <= 0)
          continue;
        if (body[q].size() == 1 && body[q][0].controlCount == 0) {
          append(traffic[q], {body[q][0].words * trips, 0});
          continue;
        }
        if (traffic[q].size() + body[q].size() * size_t(trips) > kMaxItems)
          return absl::ResourceExhaustedError(absl::StrCat("role ", role.name, ", queue ", q, ": more than ", kMaxItems,
                                                           " control words and data runs per sample"));
        for (int64_t t = 0; t < trips; ++t)
          for (const TrafficItem &item : body[q])
            append(traffic[q], item);
      }
      continue;
    }
    int64_t elements = instructionElements(instruction, index);
    count(instruction, instruction.dst, OperandSlot::Dst, elements);
    count(instruction, instruction.a, OperandSlot::A, elements);
    count(instruction, instruction.b, OperandSlot::B, elements);
  }
  if (inLoop)
    return absl::InvalidArgumentError(absl::StrCat("role ", role.name, ": Loop without EndLoop"));
  return absl::OkStatus();
}

} // namespace

ElementType operandType(const Instruction &instruction, OperandSlot slot) {
  return slot == OperandSlot::A   ? typeOfA(instruction)
         : slot == OperandSlot::B ? typeOfB(instruction)
                                  : instruction.type;
}

int64_t instructionElements(const Instruction &instruction, const LatticeIndex &index) {
  int64_t elements = 1;
  for (const Affine &extent : instruction.extent) {
    int64_t n = extent.at(index);
    if (n <= 0)
      return 0;
    elements *= n;
  }
  return elements;
}

bool trafficIsUniform(const Role &role) {
  for (const Thread &thread : role.threads) {
    for (const Instruction &instruction : thread)
      for (const Affine &extent : instruction.extent)
        if (!extent.isConstant())
          return false;
  }
  return true;
}

absl::StatusOr<CoreTraffic> coreTraffic(const Role &role, const LatticeIndex &index) {
  CoreTraffic traffic(role.queues.size());
  for (const Thread &thread : role.threads) {
    size_t pc = 0;
    if (absl::Status status = walk(role, thread, pc, false, index, traffic); !status.ok())
      return status;
  }
  return traffic;
}

} // namespace wsc::emulator
