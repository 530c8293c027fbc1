// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/timing/Cost.h"

#include <algorithm>
#include <cmath>

namespace wsc::timing {

using namespace format;

bool isRoutine(Opcode opcode) {
  switch (opcode) {
  case Opcode::Div:
  case Opcode::Pow:
  case Opcode::Mod:
  case Opcode::Exp:
  case Opcode::Log:
  case Opcode::Sqrt:
  case Opcode::Rsqrt:
  case Opcode::Reciprocal:
  case Opcode::Tanh:
  case Opcode::Erf:
  case Opcode::Sigmoid:
  case Opcode::Sin:
  case Opcode::Cos:
    return true;
  default:
    return false;
  }
}

// Half of a rate, in whole batches.
static double half(double rate) { return rate >= 2 ? std::floor(rate / 2) : rate / 2; }

// The rate of a type: given, or derived as runtime/target/README.md says.
static double rateOf(const target::Target &target, bool fma, ElementType type) {
  const auto either = [&](double ofFma, double ofElements, auto derived) {
    const double given = fma ? ofFma : ofElements;
    return given > 0 ? given : derived();
  };
  const auto as = [&](ElementType other) { return [&, other] { return rateOf(target, fma, other); }; };
  const auto halfOf = [&](ElementType other) { return [&, other] { return half(rateOf(target, fma, other)); }; };
  switch (type) {
  case ElementType::F16:
    return fma ? target.fmaPerCycleF16 : target.elementsPerCycleF16;
  case ElementType::BF16:
    return either(target.fmaPerCycleBF16, target.elementsPerCycleBF16, as(ElementType::F16));
  case ElementType::F64:
    return either(target.fmaPerCycleF64, target.elementsPerCycleF64, halfOf(ElementType::F32));
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::Bool:
    return either(target.fmaPerCycleI8, target.elementsPerCycleI8, as(ElementType::I16));
  case ElementType::I16:
  case ElementType::U16:
    return either(target.fmaPerCycleI16, target.elementsPerCycleI16, as(ElementType::F16));
  case ElementType::I32:
  case ElementType::U32:
    return either(target.fmaPerCycleI32, target.elementsPerCycleI32, as(ElementType::F32));
  case ElementType::I64:
  case ElementType::U64:
    return either(target.fmaPerCycleI64, target.elementsPerCycleI64, halfOf(ElementType::I32));
  default:
    return fma ? target.fmaPerCycleF32 : target.elementsPerCycleF32;
  }
}

double elementsPerCycle(const target::Target &target, Opcode opcode, ElementType type) {
  return isRoutine(opcode) ? 1.0 / target.routineCyclesPerElement : rateOf(target, opcode == Opcode::Fma, type);
}

double elementsPerCycle(const target::Target &target, const Instruction &instruction) {
  const Opcode opcode = instruction.opcode;
  const ElementType result = instruction.type, source = typeOfA(instruction);
  if (!instruction.mixed || source == result)
    return elementsPerCycle(target, opcode, result);
  if (result == ElementType::Bool) // a comparison
    return elementsPerCycle(target, opcode, source);
  const bool halves = source == ElementType::F16 || source == ElementType::BF16;
  if (opcode == Opcode::Fma && halves && target.fmaPerCycleF16ToF32 > 0)
    return target.fmaPerCycleF16ToF32;
  return std::max(elementsPerCycle(target, opcode, result), half(elementsPerCycle(target, opcode, source)));
}

namespace {

// How one operand uses the SRAM.
struct Stream {
  int64_t bytesPerElement = 0; // of accesses; 0: none while the instruction streams
  int64_t address = -1;        // of the first element of a memory operand that advances, else -1
};

Stream streamOf(const target::Target &target, const Role &role, const Instruction &instruction, const Operand &operand,
                ElementType type, const LatticeIndex &index) {
  Stream stream;
  const int64_t bytes = elementBytes(type);
  if (operand.kind == OperandKind::Fifo) {
    stream.bytesPerElement = bytes;
  } else if (operand.kind == OperandKind::Memory) {
    int d = kMaxDims - 1;
    while (d > 0 && instruction.extent[d].at(index) <= 1)
      --d;
    if (operand.stride[d] == 0) // held in a register
      return stream;
    stream.bytesPerElement = operand.stride[d] == bytes ? bytes : target.sramAccessBytes;
    if (operand.buffer >= 0 && operand.buffer < int(role.buffers.size()))
      stream.address = role.buffers[operand.buffer].address + operand.base.at(index);
  }
  return stream;
}

bool isQueue(const Operand &operand) { return operand.kind == OperandKind::Queue; }

} // namespace

InstructionRate instructionRate(const target::Target &target, const Role &role, const Instruction &instruction,
                                const LatticeIndex &index) {
  const bool indexed = instruction.opcode == Opcode::Gather || instruction.opcode == Opcode::Scatter;
  const double perCycle = elementsPerCycle(target, instruction);
  InstructionRate rate;
  rate.elements = perCycle >= 1 ? int32_t(std::lround(perCycle)) : 1;
  rate.slots = perCycle >= 1 ? 1 : int32_t(std::lround(1 / perCycle));

  const struct {
    const Operand &operand;
    ElementType type;
  } operands[] = {{instruction.dst, instruction.type},
                  {instruction.a, typeOfA(instruction)},
                  {instruction.b, typeOfB(instruction)}};
  Stream streams[3];
  for (int i = 0; i < 3; ++i) {
    const Operand &operand = operands[i].operand;
    streams[i] = streamOf(target, role, instruction, operand, operands[i].type, index);
    const int64_t bytes = elementBytes(operands[i].type);
    if (isQueue(operand)) {
      rate.elements = std::min(rate.elements, std::max<int32_t>(1, int32_t(4 / bytes)));
      rate.slots = std::max(rate.slots, int32_t((bytes + 3) / 4));
    } else if (operand.kind == OperandKind::Fifo && operand.buffer >= 0 && operand.buffer < int(role.buffers.size())) {
      const int64_t capacity = role.buffers[operand.buffer].bytes / elementBytes(role.buffers[operand.buffer].type);
      rate.elements = std::min(rate.elements, int32_t(std::clamp<int64_t>(capacity, 1, INT32_MAX)));
    }
  }
  if (indexed) // one access per element, wherever it lies
    streams[instruction.opcode == Opcode::Gather ? 1 : 0] = {target.sramAccessBytes, -1};
  const bool readsDst = opcodeInfo(instruction.opcode).readsDst;
  const int64_t readBytes =
      (streams[1].bytesPerElement + streams[2].bytesPerElement + (readsDst ? streams[0].bytesPerElement : 0)) *
      rate.elements;
  const int64_t writtenBytes = streams[0].bytesPerElement * rate.elements;
  const int64_t readsPerSlot = int64_t(target.sramReadsPerCycle) * target.sramAccessBytes;
  const int64_t writesPerSlot = int64_t(target.sramWritesPerCycle) * target.sramAccessBytes;
  rate.slots = std::max({rate.slots, int32_t((readBytes + readsPerSlot - 1) / readsPerSlot),
                         int32_t((writtenBytes + writesPerSlot - 1) / writesPerSlot)});
  const auto bank = [&](const Stream &stream) { return stream.address / target.sramAccessBytes % target.sramBanks; };
  for (int i = 0; i < 3; ++i)
    for (int j = i + 1; j < 3; ++j)
      rate.bankConflict |= streams[i].address >= 0 && streams[j].address >= 0 &&
                           streams[i].address != streams[j].address && bank(streams[i]) == bank(streams[j]);
  if (rate.bankConflict)
    rate.slots *= 2;
  return rate;
}

InstructionSlots instructionSlots(const target::Target &target, const Role &role, const Instruction &instruction,
                                  const LatticeIndex &index, int64_t elements) {
  InstructionSlots slots;
  if (elements <= 0)
    return slots;
  const InstructionRate rate = instructionRate(target, role, instruction, index);
  slots.setup = target.vectorSetupCycles;
  slots.stream = (elements + rate.elements - 1) / rate.elements * rate.slots;
  if (isQueue(instruction.dst) || isQueue(instruction.a) || isQueue(instruction.b))
    slots.finish = target.taskStartCycles;
  return slots;
}

int64_t fabricWords(ElementType type, int64_t elements) { return (elements * elementBytes(type) + 3) / 4; }

int64_t routeLatencyCycles(const target::Target &target, int64_t hops) {
  return 2 * target.rampLatencyCycles + hops * target.hopLatencyCycles;
}

} // namespace wsc::timing
