// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of timing::instructionRate, one case each, on a core with two 8-byte reads and one 8-byte write a slot, 8
// banks, four elements of fp16 or two of fp32 a slot.
#include "runtime/timing/Cost.h"

#include "gtest/gtest.h"

namespace wsc::timing {
namespace {

using namespace format;

Operand memory(int16_t buffer, int64_t base = 0, int64_t stride = 4) {
  Operand operand;
  operand.kind = OperandKind::Memory;
  operand.buffer = buffer;
  operand.base = Affine(base);
  operand.stride[0] = stride;
  return operand;
}
Operand fifo(int16_t buffer) {
  Operand operand;
  operand.kind = OperandKind::Fifo;
  operand.buffer = buffer;
  return operand;
}
Operand queue(int16_t q) {
  Operand operand;
  operand.kind = OperandKind::Queue;
  operand.queue = q;
  return operand;
}
Operand immediate() {
  Operand operand;
  operand.kind = OperandKind::Immediate;
  return operand;
}

class Rate : public ::testing::Test {
protected:
  Rate() {
    auto loaded = target::loadTarget("mesh-4x4");
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    target = *loaded;
    target.sramBanks = 8;
    target.sramAccessBytes = 8;
    target.sramReadsPerCycle = 2;
    target.sramWritesPerCycle = 1;
    target.elementsPerCycleF32 = 2;
    target.elementsPerCycleF16 = 4;
    target.fmaPerCycleF32 = 1;
    target.fmaPerCycleF16 = 4;
    target.routineCyclesPerElement = 20;
    // Buffers that begin in banks 0, 1, 2 and 0.
    for (int64_t address : {8000, 9032, 10064, 12032})
      add(BufferKind::Scratch, address, 512);
    role.queues = {{false, 0, 0}, {true, 1, 0}};
  }

  int16_t add(BufferKind kind, int64_t address, int64_t bytes) {
    Buffer buffer;
    buffer.kind = kind;
    buffer.address = address;
    buffer.bytes = bytes;
    role.buffers.push_back(buffer);
    return int16_t(role.buffers.size() - 1);
  }
  InstructionRate of(Opcode opcode, Operand dst, Operand a, Operand b = {}, ElementType type = ElementType::F32) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.type = instruction.sourceType = type;
    instruction.extent[0] = Affine(64);
    instruction.dst = dst;
    instruction.a = a;
    instruction.b = b;
    return instructionRate(target, role, instruction, LatticeIndex{});
  }
  void expect(const InstructionRate &rate, int32_t elements, int32_t slots, bool conflict = false) {
    EXPECT_EQ(rate.elements, elements);
    EXPECT_EQ(rate.slots, slots);
    EXPECT_EQ(rate.bankConflict, conflict);
  }

  target::Target target;
  Role role;
};

TEST_F(Rate, OpcodeAndTypeSetTheBatch) {
  expect(of(Opcode::Move, memory(0), memory(1)), 2, 1);
  expect(of(Opcode::Move, memory(0, 0, 2), memory(1, 0, 2), {}, ElementType::F16), 4, 1);
  expect(of(Opcode::Fma, memory(0), immediate(), memory(1)), 1, 1);
}

TEST_F(Rate, TypesWithoutARateOfTheirOwnDeriveIt) {
  const auto rate = [&](Opcode opcode, ElementType type) { return elementsPerCycle(target, opcode, type); };
  for (ElementType quick : {ElementType::F16, ElementType::BF16, ElementType::I16, ElementType::U16, ElementType::I8,
                            ElementType::U8, ElementType::Bool}) {
    EXPECT_EQ(rate(Opcode::Add, quick), 4);
    EXPECT_EQ(rate(Opcode::Fma, quick), 4);
  }
  for (ElementType wide : {ElementType::F64, ElementType::I64, ElementType::U64}) {
    EXPECT_EQ(rate(Opcode::Add, wide), 1);
    EXPECT_EQ(rate(Opcode::Fma, wide), 0.5);
  }
  EXPECT_EQ(rate(Opcode::Add, ElementType::U32), 2);
  EXPECT_EQ(rate(Opcode::Exp, ElementType::F64), 1.0 / 20);
  target.fmaPerCycleI16 = 8; // i8 follows i16
  target.elementsPerCycleI32 = 3;
  EXPECT_EQ(rate(Opcode::Fma, ElementType::I8), 8);
  EXPECT_EQ(rate(Opcode::Add, ElementType::I8), 4);
  EXPECT_EQ(rate(Opcode::Add, ElementType::U64), 1); // whole batches
}

TEST_F(Rate, NarrowSourcesRunAtHalfTheirRateOrTheResults) {
  Instruction fma;
  fma.opcode = Opcode::Fma;
  fma.mixed = true;
  const auto rate = [&](ElementType source, ElementType result) {
    fma.sourceType = source;
    fma.type = result;
    return elementsPerCycle(target, fma);
  };
  EXPECT_EQ(rate(ElementType::F16, ElementType::F32), 2);
  EXPECT_EQ(rate(ElementType::I8, ElementType::I32), 2);
  EXPECT_EQ(rate(ElementType::F32, ElementType::F64), 0.5);
  target.fmaPerCycleF16ToF32 = 4;
  EXPECT_EQ(rate(ElementType::BF16, ElementType::F32), 4);
  fma.opcode = Opcode::CompareLt; // computed on its sources
  EXPECT_EQ(rate(ElementType::F16, ElementType::Bool), 4);
  EXPECT_EQ(rate(ElementType::F32, ElementType::Bool), 2);

  // Two streams of f16 read 8 bytes for two elements, the accumulator 8 more.
  fma.opcode = Opcode::Fma;
  fma.type = ElementType::F32;
  fma.sourceType = ElementType::F16;
  fma.dst = memory(0);
  fma.a = memory(1, 0, 2);
  fma.b = memory(2, 0, 2);
  fma.extent[0] = Affine(64);
  target.fmaPerCycleF16ToF32 = 0;
  expect(instructionRate(target, role, fma, LatticeIndex{}), 2, 1);
}

TEST_F(Rate, BelowOneElementASlotTakesSeveralSlots) {
  target.fmaPerCycleF32 = 0.5;
  expect(of(Opcode::Fma, memory(0), immediate(), memory(1)), 1, 2);
  expect(of(Opcode::Exp, memory(0), memory(1)), 1, 20);
}

TEST_F(Rate, ReadsBoundTheSlots) {
  expect(of(Opcode::Add, memory(0), memory(1), memory(2)), 2, 1); // 16 bytes in two accesses
  target.sramReadsPerCycle = 1;
  expect(of(Opcode::Add, memory(0), memory(1), memory(2)), 2, 2);
}

TEST_F(Rate, DestinationThatIsReadCountsAsARead) {
  target.fmaPerCycleF32 = 2;
  expect(of(Opcode::Fma, memory(0), memory(1), memory(2)), 2, 2); // 24 bytes of 16
}

TEST_F(Rate, WritesBoundTheSlots) {
  target.elementsPerCycleF32 = 4;
  expect(of(Opcode::Move, memory(0), memory(1)), 4, 2); // 16 bytes, one write of 8
}

TEST_F(Rate, StridedElementsTakeAWholeAccessEach) {
  expect(of(Opcode::Move, memory(0, 0, 64), memory(1)), 2, 2);
  expect(of(Opcode::Add, memory(0), memory(1, 0, 64), memory(2, 0, 64)), 2, 2); // four accesses read
}

TEST_F(Rate, StrideZeroAndImmediatesStayInARegister) {
  target.sramReadsPerCycle = 1;
  expect(of(Opcode::Add, memory(0), memory(1), memory(2, 0, 0)), 2, 1);
  expect(of(Opcode::Add, memory(0), memory(1), immediate()), 2, 1);
}

TEST_F(Rate, FifosUseTheSramWithoutABank) {
  const int16_t pushed = add(BufferKind::Fifo, 14080, 512), popped = add(BufferKind::Fifo, 15104, 512);
  target.sramReadsPerCycle = 1;
  expect(of(Opcode::Move, fifo(pushed), fifo(popped)), 2, 1);
  expect(of(Opcode::Add, memory(0), fifo(popped), memory(1)), 2, 2); // 16 bytes read of 8
}

TEST_F(Rate, AFifoHoldsAWholeBatch) {
  const int16_t small = add(BufferKind::Fifo, 14080, 4);
  expect(of(Opcode::Move, fifo(small), memory(1)), 1, 1);
}

TEST_F(Rate, OneWordOfAQueueASlot) {
  expect(of(Opcode::Move, memory(0), queue(0)), 1, 1);
  expect(of(Opcode::Move, queue(1), memory(0, 0, 2), {}, ElementType::F16), 2, 1);
  expect(of(Opcode::Move, queue(1), memory(0, 0, 8), {}, ElementType::I64), 1, 2);
}

TEST_F(Rate, OperandsInOneBankDoubleTheSlots) {
  expect(of(Opcode::Add, memory(1), memory(0), memory(3)), 2, 2, true);
  expect(of(Opcode::Move, memory(0), memory(3)), 2, 2, true);
  expect(of(Opcode::Add, memory(1), memory(0), memory(3, 8)), 2, 2, true); // both in bank 1
}

TEST_F(Rate, OneAddressIsNoConflict) { expect(of(Opcode::Add, memory(0), memory(0), memory(1)), 2, 1); }

TEST_F(Rate, RegistersHaveNoBank) { expect(of(Opcode::Add, memory(1), memory(0), memory(3, 0, 0)), 2, 1); }

TEST_F(Rate, SetUpBatchesAndTaskStart) {
  target.vectorSetupCycles = 7;
  target.taskStartCycles = 3;
  Instruction instruction;
  instruction.opcode = Opcode::Move;
  instruction.extent[0] = Affine(65);
  instruction.dst = memory(0);
  instruction.a = memory(1);
  InstructionSlots slots = instructionSlots(target, role, instruction, LatticeIndex{}, 65);
  EXPECT_EQ(slots.setup, 7);
  EXPECT_EQ(slots.stream, 33); // two a slot, the last batch half full
  EXPECT_EQ(slots.finish, 0);
  instruction.a = queue(0);
  slots = instructionSlots(target, role, instruction, LatticeIndex{}, 65);
  EXPECT_EQ(slots.stream, 65);
  EXPECT_EQ(slots.finish, 3);
  EXPECT_EQ(instructionSlots(target, role, instruction, LatticeIndex{}, 0).total(), 0);
}

} // namespace
} // namespace wsc::timing
