// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Issue slots of a role's threads by what they are spent on, by the rules of timing/Cost.h.
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/report/Report.h"
#include "runtime/timing/Cost.h"

#include <algorithm>
#include <cmath>

namespace wsc::report {

using namespace format;
using emulator::OperandSlot;

namespace {

bool onlyMoves(Opcode opcode) {
  return opcode == Opcode::Move || opcode == Opcode::Gather || opcode == Opcode::Scatter;
}

// Whether an operand touches SRAM for every element.
bool streamsMemory(const Operand &operand) {
  return operand.kind == OperandKind::Fifo ||
         (operand.kind == OperandKind::Memory &&
          std::any_of(operand.stride.begin(), operand.stride.end(), [](int32_t stride) { return stride != 0; }));
}

void addInstruction(const target::Target &target, const Role &role, const Instruction &instruction,
                    const LatticeIndex &index, int64_t times, Work &work) {
  const int64_t elements = emulator::instructionElements(instruction, index);
  if (elements == 0)
    return;
  const timing::InstructionSlots slots = timing::instructionSlots(target, role, instruction, index, elements);
  const int64_t atFullRate = int64_t(std::ceil(double(elements) / timing::elementsPerCycle(target, instruction)));
  const int64_t compute = onlyMoves(instruction.opcode) ? 0 : std::min(slots.stream, atFullRate);
  bool queue = false;
  for (const auto &[operand, slot] :
       {std::pair(&instruction.dst, OperandSlot::Dst), std::pair(&instruction.a, OperandSlot::A),
        std::pair(&instruction.b, OperandSlot::B)}) {
    const ElementType type = emulator::operandType(instruction, slot);
    if (operand->kind == OperandKind::Queue) {
      queue = true;
      (slot == OperandSlot::Dst ? work.wordsOut : work.wordsIn) += times * timing::fabricWords(type, elements);
    } else if (streamsMemory(*operand)) {
      const int64_t accesses = slot == OperandSlot::Dst && opcodeInfo(instruction.opcode).readsDst ? 2 : 1;
      work.sramBytes += times * elements * elementBytes(type) * accesses;
    }
  }
  work.computeCycles += times * compute;
  (queue ? work.networkCycles : work.memoryCycles) += times * (slots.stream - compute);
  work.setupCycles += times * (slots.setup + slots.finish);
  if (instruction.opcode == Opcode::Fma)
    work.fma += times * elements;
}

Work workAt(const target::Target &target, const Role &role, const LatticeIndex &index) {
  Work work;
  for (const Thread &thread : role.threads) {
    std::vector<int64_t> times{1};
    for (const Instruction &instruction : thread) {
      if (instruction.opcode == Opcode::Loop) {
        times.push_back(times.back() * std::max<int64_t>(0, instruction.extent[0].at(index)));
        work.setupCycles += times.back() * target.loopCycles;
      } else if (instruction.opcode == Opcode::EndLoop) {
        if (times.size() > 1)
          times.pop_back();
      } else if (instruction.opcode == Opcode::SendControl) {
        work.networkCycles += times.back();
      } else {
        addInstruction(target, role, instruction, index, times.back(), work);
      }
    }
  }
  return work;
}

bool isUniform(const Role &role) {
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread)
      for (const Affine &extent : instruction.extent)
        if (!extent.isConstant())
          return false;
  return true;
}

} // namespace

RoleWork workOf(const target::Target &target, const Role &role) {
  std::vector<LatticeIndex> corners{LatticeIndex{}};
  if (!isUniform(role))
    for (int d = 0; d < kMaxDims; ++d)
      if (role.cores.dims[size_t(d)].count > 1) {
        const size_t before = corners.size();
        for (size_t c = 0; c < before; ++c) {
          LatticeIndex corner = corners[c];
          corner[size_t(d)] = role.cores.dims[size_t(d)].count - 1;
          corners.push_back(corner);
        }
      }
  RoleWork result;
  Work sum;
  for (const LatticeIndex &corner : corners) {
    const Work work = workAt(target, role, corner);
    if (work.slots() >= result.busiest.slots())
      result.busiest = work;
    for (int64_t Work::*field : {&Work::computeCycles, &Work::memoryCycles, &Work::networkCycles, &Work::setupCycles,
                                 &Work::fma, &Work::wordsIn, &Work::wordsOut, &Work::sramBytes})
      sum.*field += work.*field;
  }
  for (int64_t Work::*field : {&Work::computeCycles, &Work::memoryCycles, &Work::networkCycles, &Work::setupCycles,
                               &Work::fma, &Work::wordsIn, &Work::wordsOut, &Work::sramBytes})
    result.mean.*field = sum.*field / int64_t(corners.size());
  return result;
}

} // namespace wsc::report
