// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finer points of streams and operands: what the verifier must accept, beside what it must refuse.
#include "Fixture.h"

#include <gtest/gtest.h>

namespace wsc::format {
namespace {

using namespace fixture;

Instruction narrow(Instruction instruction) {
  instruction.type = ElementType::F16;
  for (Operand *operand : {&instruction.dst, &instruction.a})
    if (operand->kind == OperandKind::Memory)
      operand->stride[kMaxDims - 1] = 2;
  return instruction;
}
Instruction send(int count) { return instruction(Opcode::Move, count, queue(0), memory(0)); }
Instruction take(int count) { return instruction(Opcode::Move, count, memory(0), queue(0)); }

std::string judge(std::vector<Instruction> sends, std::vector<Instruction> takes) {
  std::vector<Violation> violations = findViolations(pairExecutable(sends, takes));
  return violations.empty() ? "" : violations[0].rule;
}

TEST(Streams, BoundariesOfWholeWordsNeedNotMatch) {
  EXPECT_EQ(judge({send(3), send(5)}, {take(8)}), "");
  EXPECT_EQ(judge({narrow(send(4)), narrow(send(6))}, {narrow(take(2)), narrow(take(8))}), "");
  EXPECT_EQ(judge({narrow(send(6))}, {take(3)}), "");
}

TEST(Streams, PaddedWordsMustMeet) {
  EXPECT_EQ(judge({narrow(send(3)), narrow(send(3))}, {narrow(take(3)), narrow(take(3))}), "");
  EXPECT_EQ(judge({narrow(send(7))}, {narrow(take(4)), narrow(take(3))}), "");
  EXPECT_EQ(judge({narrow(send(3)), narrow(send(5))}, {narrow(take(5)), narrow(take(3))}), "word-boundary");
  EXPECT_EQ(judge({narrow(send(3)), narrow(send(3))}, {narrow(take(6))}), "words");
  EXPECT_EQ(judge({narrow(send(3)), narrow(send(3))}, {narrow(take(8))}), "word-boundary");
}

TEST(Streams, LoopsMultiplyAndRepeat) {
  EXPECT_EQ(judge({loop(10), send(3), endLoop()}, {take(30)}), "");
  EXPECT_EQ(judge({loop(10), narrow(send(3)), endLoop()}, {loop(5), narrow(take(3)), narrow(take(3)), endLoop()}), "");
  EXPECT_EQ(judge({loop(10), narrow(send(3)), narrow(send(2)), endLoop()}, {loop(10), narrow(take(5)), endLoop()}),
            "word-boundary");
  EXPECT_EQ(judge({loop(0), send(3), endLoop(), send(1)}, {take(1)}), "");
  EXPECT_EQ(judge({loop(3), send(100), endLoop()}, {loop(100), take(3), endLoop(), loop(0), take(99), endLoop()}), "");
}

TEST(Streams, WhatCannotBeJudgedIsRefused) {
  EXPECT_EQ(judge({loop(1000000), narrow(send(3)), narrow(send(2)), endLoop()}, {take(3)}), "words-budget");
  EXPECT_EQ(judge({loop(1 << 30), loop(1 << 30), loop(1 << 30), send(100), endLoop(), endLoop(), endLoop()}, {take(3)}),
            "words-budget");
}

// A ring of two routers that hands a word round for ever must be refused, and soon.
TEST(Streams, WordsThatCircle) {
  Executable executable = pairExecutable({send(1), control(0, 1)}, {take(1)});
  Configuration &configuration = executable.configurations[0];
  configuration.routers = {
      router(cores(0, 0), 0, 0,
             {{Port::Ramp, mask(Port::East)}, {Port::East, mask(Port::South)}, {Port::South, mask(Port::East)}}),
      router(cores(0, 1), 0, 0, {{Port::West, PortMask(mask(Port::Ramp) | mask(Port::South))}}),
      router(cores(1, 1), 0, 0, {{Port::North, mask(Port::West)}}),
      router(cores(1, 0), 0, 0, {{Port::East, mask(Port::North)}})};
  std::vector<Violation> violations = findViolations(executable);
  ASSERT_FALSE(violations.empty());
  configuration.routers[0].positions = {{Port::Ramp, mask(Port::East)}, {Port::South, mask(Port::East)}};
  violations = findViolations(executable);
  ASSERT_FALSE(violations.empty());
  EXPECT_EQ(violations[0].rule, "words-budget") << list(violations);
}

// The switch form of the same ring ends: the word goes round once and its control word brings the switch back.
TEST(Streams, RingOfOneRoundIsAccepted) {
  Executable executable = pairExecutable({send(2), control(0, 2), send(1), control(0, 1)}, {take(3)});
  Configuration &configuration = executable.configurations[0];
  // (0,0): RAMP→E, then S→… is never used; two positions that both take from RAMP.
  configuration.routers = {router(cores(0, 0), 0, 0, {{Port::Ramp, mask(Port::East)}, {Port::Ramp, mask(Port::South)}}),
                           router(cores(0, 1), 0, 0, {{Port::West, mask(Port::Ramp)}, {Port::South, mask(Port::Ramp)}}),
                           router(cores(1, 0), 0, 0, {{Port::North, mask(Port::East)}}),
                           router(cores(1, 1), 0, 0, {{Port::West, mask(Port::North)}})};
  // The second control word brings (0,0) back; (0,1) still stands at position 1.
  std::vector<Violation> violations = findViolations(executable);
  ASSERT_EQ(violations.size(), 1u) << list(violations);
  EXPECT_EQ(violations[0].rule, "switch-return");
  EXPECT_NE(violations[0].message.find("core (0, 1)"), std::string::npos);
  configuration.roles[0].threads[0].back().controlCount = 2;
  EXPECT_EQ(list(findViolations(executable)), "");
}

std::string judgeOperands(Instruction instruction, int64_t bytes = 512) {
  Executable executable = pairExecutable({send(1)}, {take(1)});
  Role &role = executable.configurations[0].roles[0];
  role.buffers[0].bytes = bytes;
  role.threads[0][0].extent[3] = bytes / 4;
  role.threads[0].push_back(instruction);
  std::vector<Violation> violations = findViolations(executable);
  return violations.empty() ? "" : violations[0].rule;
}

TEST(Operands, WalksApartOrAlikeAreAccepted) {
  EXPECT_EQ(judgeOperands(instruction(Opcode::Neg, 16, memory(0), memory(0))), "");
  EXPECT_EQ(judgeOperands(instruction(Opcode::Neg, 16, memory(0), memory(0, 4, 64))), "");
  EXPECT_EQ(judgeOperands(instruction(Opcode::Neg, 16, memory(0), memory(0, 4, 60))), "operand-overlap");
  EXPECT_EQ(judgeOperands(instruction(Opcode::Neg, 16, memory(0, 8), memory(0, 8, 4))), "");
  EXPECT_EQ(judgeOperands(instruction(Opcode::Neg, 16, memory(0, 8), memory(0, 4, 4))), "operand-overlap");
  EXPECT_EQ(judgeOperands(instruction(Opcode::Neg, 4, memory(0, -4, 12), memory(0))), "operand-overlap");
  EXPECT_EQ(judgeOperands(instruction(Opcode::ReduceAdd, 16, memory(0, 0), memory(0, 4, 4))), "");
}

TEST(Operands, EmptyInstructionsWalkNowhere) {
  EXPECT_EQ(judgeOperands(instruction(Opcode::Neg, 0, memory(0, 4, 4096), memory(0))), "");
  Instruction zero = instruction(Opcode::Neg, 16, memory(0, 4, 4096), memory(0));
  zero.extent[0] = 0;
  EXPECT_EQ(judgeOperands(zero), "");
}

// Where an extent falls to 0 on some cores, only the others count, exactly.
TEST(Operands, RaggedCoresAreJudgedAtTheirOwnExtents) {
  Executable executable = pairExecutable({send(1)}, {take(1)});
  Role role;
  role.name = "ragged";
  role.cores = cores(1, 0, 1, 2);
  role.buffers = {scratch("data", 8192, 64)};
  Affine count = 16, base = 0;
  count.perDim[3] = -16;
  base.perDim[3] = 64; // beyond the buffer where the instruction is empty
  role.threads = {{instruction(Opcode::Move, count, memory(0, 4, base), immediate(0))}};
  executable.configurations[0].roles.push_back(role);
  EXPECT_EQ(list(findViolations(executable)), "");
  executable.configurations[0].roles.back().threads[0][0].extent[3].perDim[3] = -15;
  std::vector<Violation> violations = findViolations(executable);
  ASSERT_EQ(violations.size(), 1u) << list(violations);
  EXPECT_EQ(violations[0].rule, "memory-bounds");
  EXPECT_NE(violations[0].message.find("core (1, 1)"), std::string::npos);
}

TEST(Operands, InjectivityOfMultiplyAdd) {
  auto fma = [](int32_t outer, int32_t inner) {
    Instruction result = instruction(Opcode::Fma, 4, memory(0, inner), immediate(1), immediate(2));
    result.extent[2] = 4;
    result.dst.stride[2] = outer;
    return judgeOperands(result);
  };
  EXPECT_EQ(fma(16, 4), "");
  EXPECT_EQ(fma(4, 16), "");
  EXPECT_EQ(fma(12, 4), "fma-injective");
  EXPECT_EQ(fma(0, 4), "fma-injective");
}

} // namespace
} // namespace wsc::format
