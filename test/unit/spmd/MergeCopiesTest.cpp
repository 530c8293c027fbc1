// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies that only rename: which ones go, and which ones stay.
#include "compiler/spmd/program/MergeCopies.h"

#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::format;
using spmd::Code;
using spmd::immediate;
using spmd::instruction;
using spmd::memory;

namespace {

const target::Target &wse2() {
  static const target::Target target = *target::loadTarget("wse2");
  return target;
}

class MergeCopies : public testing::Test {
protected:
  Code code;
  int16_t landing = code.scratch("landing", ElementType::F32, 100);
  int16_t operand = code.scratch("operand", ElementType::F32, 100);
  int16_t result = code.scratch("result", ElementType::F32, 100);

  static Operand at(int16_t buffer, int64_t element) { return memory(buffer, element * 4, {4}); }
  void move(Operand dst, Operand source, int64_t elements = 100) {
    code.append(instruction(Opcode::Move, ElementType::F32, {elements}, std::move(dst), std::move(source)), {});
  }
  void scale(int16_t dst, int16_t source, int64_t elements = 100) {
    code.append(instruction(Opcode::Mul, ElementType::F32, {elements}, at(dst, 0), at(source, 0), immediate(2)), {});
  }
  int16_t resident(int64_t elements, BufferKind kind = BufferKind::Resident) {
    const int16_t buffer = code.scratch("resident", ElementType::F32, elements);
    code.buffers[size_t(buffer)].kind = kind;
    return buffer;
  }
  // Copies that go, and the cycles that this saves.
  int64_t merged() {
    const spmd::MergedCopies merged = spmd::mergeCopies(code, {0, 0, 2, 3}, wse2());
    cycles = merged.savedCycles;
    return merged.copies;
  }
  int64_t cycles = 0;
};

} // namespace

TEST_F(MergeCopies, WordsLandWhereTheyAreRead) {
  move(at(landing, 0), immediate(1));
  move(at(operand, 0), at(landing, 0));
  scale(result, operand);
  EXPECT_EQ(merged(), 1);
  EXPECT_EQ(cycles, 100 + wse2().vectorSetupCycles);
  ASSERT_EQ(code.main.size(), 2u);
  EXPECT_EQ(code.main[1].a.buffer, landing);
}

TEST_F(MergeCopies, AChainOfCopiesGoes) {
  move(at(landing, 0), immediate(1));
  move(at(operand, 0), at(landing, 0));
  move(at(result, 0), at(operand, 0));
  scale(result, result);
  EXPECT_EQ(merged(), 2);
  ASSERT_EQ(code.main.size(), 2u);
  EXPECT_EQ(code.main[1].dst.buffer, landing);
}

TEST_F(MergeCopies, PartsOfWhatStaysAreReadThere) {
  move(at(landing, 0), immediate(1));
  move(at(operand, 0), at(landing, 60), 10);
  scale(result, operand, 10);
  scale(result, landing);
  EXPECT_EQ(merged(), 0) << "operand has room for 100 elements, landing for 40 behind the part";
  code.buffers[size_t(operand)].bytes = 40;
  EXPECT_EQ(merged(), 1);
  EXPECT_EQ(code.main[1].a, at(landing, 60));
}

TEST_F(MergeCopies, SomeCoresCopyWhatTheyNeverGet) {
  spmd::Guard first, others;
  first.colEnd = 1;
  others.colBegin = 1;
  code.append(instruction(Opcode::Move, ElementType::F32, {100}, at(landing, 0), immediate(1)), first);
  Code all = code;
  move(at(operand, 0), at(landing, 0));
  scale(result, operand);
  EXPECT_EQ(merged(), 0);
  code = std::move(all);
  code.append(instruction(Opcode::Move, ElementType::F32, {100}, at(landing, 0), immediate(2)), others);
  move(at(operand, 0), at(landing, 0));
  scale(result, operand);
  EXPECT_EQ(merged(), 1);
}

TEST_F(MergeCopies, WhatIsWrittenLaterStaysApart) {
  move(at(landing, 0), immediate(1));
  move(at(operand, 0), at(landing, 0));
  scale(operand, operand);
  scale(result, landing);
  EXPECT_EQ(merged(), 0);
  EXPECT_EQ(code.main.size(), 4u);
}

TEST_F(MergeCopies, WhatHoldsOtherPiecesStaysApart) {
  move(at(landing, 0), immediate(1));
  move(at(operand, 50), immediate(0), 50);
  move(at(operand, 0), at(landing, 0), 50);
  scale(result, operand);
  EXPECT_EQ(merged(), 0);
}

TEST_F(MergeCopies, LargeBuffersDoNotLiveForSmallParts) {
  const int16_t part = code.scratch("part", ElementType::F32, 10);
  code.buffers[size_t(landing)].bytes = 4000;
  move(at(landing, 0), immediate(1));
  move(at(part, 0), at(landing, 0), 10);
  scale(result, part, 10);
  EXPECT_EQ(merged(), 0);
}

TEST_F(MergeCopies, CopiesThatRearrangeStay) {
  move(at(landing, 0), immediate(1));
  code.append(
      instruction(Opcode::Move, ElementType::F32, {10, 10}, memory(operand, 0, {40, 4}), memory(landing, 0, {4, 40})),
      {});
  scale(result, operand);
  EXPECT_EQ(merged(), 0);
}

TEST_F(MergeCopies, BasesThatDifferFromCoreToCoreStay) {
  move(at(landing, 0), immediate(1));
  Operand part = at(landing, 0);
  part.base.perDim[spmd::kColDim] = 40;
  move(at(operand, 0), part, 10);
  scale(result, operand, 10);
  EXPECT_EQ(merged(), 0);
}

TEST_F(MergeCopies, ConstantsAreReadWhereTheyLie) {
  const int16_t constant = resident(100);
  move(at(operand, 0), at(constant, 0));
  scale(result, operand);
  EXPECT_EQ(merged(), 1);
  EXPECT_EQ(code.main[0].a.buffer, constant);
}

TEST_F(MergeCopies, ResidentsAreNotWrittenThroughACopy) {
  const int16_t kept = resident(100);
  move(at(operand, 0), at(kept, 0));
  scale(operand, operand);
  EXPECT_EQ(merged(), 0);
}

TEST_F(MergeCopies, ResultsAreMadeInTheirResident) {
  const int16_t kept = resident(100, BufferKind::State);
  scale(landing, kept); // reads the old value first
  scale(operand, landing);
  move(at(kept, 0), at(operand, 0));
  EXPECT_EQ(merged(), 1);
  ASSERT_EQ(code.main.size(), 2u);
  EXPECT_EQ(code.main[1].dst.buffer, kept);
}

TEST_F(MergeCopies, ResidentsThatAreReadMeanwhileStayApart) {
  const int16_t kept = resident(100, BufferKind::State);
  scale(operand, landing);
  scale(result, kept);
  move(at(kept, 0), at(operand, 0));
  EXPECT_EQ(merged(), 0);
}

TEST_F(MergeCopies, CoresWithoutTheCopyKeepTheirResident) {
  const int16_t kept = resident(100, BufferKind::State);
  scale(operand, landing); // on all cores
  spmd::Guard first;
  first.colEnd = 1;
  code.append(instruction(Opcode::Move, ElementType::F32, {100}, at(kept, 0), at(operand, 0)), first);
  EXPECT_EQ(merged(), 0);
}

TEST_F(MergeCopies, TablesKeepTheirBytes) {
  const int16_t numbers = code.scratch("numbers", ElementType::I32, 100);
  move(at(landing, 0), immediate(1));
  move(at(operand, 0), at(landing, 0));
  move(at(numbers, 0), immediate(0));
  code.append(instruction(Opcode::Gather, ElementType::F32, {100}, at(result, 0), at(operand, 0), at(numbers, 0)), {});
  EXPECT_EQ(merged(), 0);
}

TEST_F(MergeCopies, CopiesInLoopsStay) {
  Instruction loop, end;
  loop.opcode = Opcode::Loop;
  loop.extent[0] = Affine(3);
  end.opcode = Opcode::EndLoop;
  move(at(landing, 0), immediate(1));
  code.append(loop, {});
  move(at(operand, 0), at(landing, 0));
  scale(landing, operand);
  code.append(end, {});
  EXPECT_EQ(merged(), 0);
}
