// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the scalar interpreter refuses, each with the message that says why.
#include "runtime/emulator/Interpreter.h"
#include "test/unit/support/ProgramBuilder.h"

#include <gtest/gtest.h>

namespace wsc::emulator {
namespace {

using namespace wsc::testing;
using format::LatticeIndex;

class InterpreterErrorTest : public ::testing::Test {
protected:
  ExecutableBuilder executable;
  RoleBuilder role{executable, "test"};
  std::vector<std::vector<std::byte>> received;

  void expectError(const std::vector<std::string> &parts) {
    const format::Role &built = role.build();
    received.resize(built.queues.size());
    LatticeIndex index{0, 0, 1, 2};
    auto image = initialImage(executable.result, built, index);
    absl::Status status = image.status();
    if (image.ok())
      status = interpretCore(executable.result, built, index, *std::move(image), received).status();
    ASSERT_FALSE(status.ok());
    for (const std::string &part : parts)
      EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << "'" << part << "' in: " << status;
  }
};

TEST_F(InterpreterErrorTest, ReadBehindTheEndOfABuffer) {
  auto x = role.constant("x", ElementType::F32, {1, 2});
  role.thread().move(null(), imm(0)).move(null(), x, {3});
  expectError({"role test, core (0,0,1,2), thread 0, instruction 1 (move)", "address 8", "buffer 'x' of 8 bytes"});
}

TEST_F(InterpreterErrorTest, WriteBeforeTheBeginOfABuffer) {
  auto x = role.scratch("x", ElementType::F64, 2);
  role.thread().type(ElementType::F64).loop(2).move(x.at(0).repeated().steps({-1}), imm(0)).endLoop();
  expectError({"instruction 1 (move)", "element of 8 bytes at address -8", "buffer 'x' of 16 bytes"});
}

TEST_F(InterpreterErrorTest, AddressBeyond64Bits) {
  auto x = role.state("x", ElementType::F32, 1);
  role.thread().move(null(), x.at(affine(0, {0, 0, 0, int64_t(1) << 60})));
  expectError({"does not fit in 64 bits"});
}

TEST_F(InterpreterErrorTest, GatherOriginOutsideTheBuffer) {
  auto x = role.constant("x", ElementType::F32, {1, 2});
  role.thread().gather(null(), x.at(2).strides({1}), imm(0));
  expectError({"instruction 0 (gather)", "address 8", "'x'"});
}

TEST_F(InterpreterErrorTest, ScratchReadBeforeItIsWritten) {
  auto x = role.scratch("x", ElementType::F32, 2);
  role.thread().move(x, imm(0)).move(null(), x, {2});
  expectError({"instruction 1 (move)", "address 4 of scratch buffer 'x'", "has not written"});
}

TEST_F(InterpreterErrorTest, MissingWordsNameTheQueue) {
  auto in = role.input(9);
  role.thread().move(null(), in, {2});
  received = {wordsOf(ElementType::F32, {1})};
  expectError({"thread 0, instruction 0 (move) waits for words on input queue 0 (colour 9; all 1 words"});
}

TEST_F(InterpreterErrorTest, ThreadsWaitingForEachOther) {
  auto there = role.fifo("there", ElementType::F32, 1), back = role.fifo("back", ElementType::F32, 1);
  role.thread().move(null(), back).move(there, imm(1));
  role.thread().move(null(), there).move(back, imm(1));
  expectError({"thread 0, instruction 0 (move) waits for elements in FIFO 'back' of 1 elements",
               "thread 1, instruction 0 (move) waits for elements in FIFO 'there'"});
}

TEST_F(InterpreterErrorTest, FifoTooSmall) {
  auto ring = role.fifo("ring", ElementType::F32, 2);
  role.thread().move(ring, imm(1), {3}).move(null(), ring, {3});
  expectError({"instruction 0 (move) waits for space in FIFO 'ring' of 2 elements"});
}

TEST_F(InterpreterErrorTest, ElementsLeftInAFifo) {
  auto ring = role.fifo("ring", ElementType::F32, 2);
  role.thread().move(ring, imm(1), {2}).move(null(), ring);
  expectError({"1 elements are left in FIFO 'ring'"});
}

TEST_F(InterpreterErrorTest, FifoPushedByTwoThreads) {
  auto ring = role.fifo("ring", ElementType::F32, 2);
  role.thread().move(ring, imm(1)).move(null(), ring, {2});
  role.thread().move(ring, imm(1));
  expectError({"thread 1", "pushing end of FIFO 'ring'", "used by thread 0"});
}

TEST_F(InterpreterErrorTest, QueueUsedByTwoThreads) {
  auto out = role.output(0);
  role.thread().move(out, imm(1));
  role.thread().move(out, imm(1));
  expectError({"queue 0 is already used by thread 0"});
}

TEST_F(InterpreterErrorTest, QueueInTheWrongDirection) {
  auto out = role.output(0);
  role.thread().move(null(), out);
  expectError({"a names queue 0, which is an output queue"});
}

TEST_F(InterpreterErrorTest, WriteToConstant) {
  auto x = role.constant("x", ElementType::F32, {1});
  role.thread().move(x, imm(1));
  expectError({"dst is the read-only buffer 'x'"});
}

TEST_F(InterpreterErrorTest, NegativeExtent) {
  role.thread().move(null(), imm(1), {affine(1, {0, 0, 0, -1})});
  expectError({"instruction 0 (move)", "extent 3 is -1"});
}

TEST_F(InterpreterErrorTest, NegativeTripCount) {
  role.thread().loop(-2).endLoop();
  expectError({"trip count -2"});
}

TEST_F(InterpreterErrorTest, LoopsNotMatched) {
  role.thread().loop(2);
  expectError({"1 loops are not closed"});
}

TEST_F(InterpreterErrorTest, EndLoopWithoutLoop) {
  role.thread().endLoop();
  expectError({"instruction 0 (end_loop): closes no loop"});
}

TEST_F(InterpreterErrorTest, FiveLoops) {
  role.thread().loop(1).loop(1).loop(1).loop(1).loop(1).endLoop().endLoop().endLoop().endLoop().endLoop();
  expectError({"instruction 4 (loop)", "nested 5 deep, the limit is 4"});
}

TEST_F(InterpreterErrorTest, FloatRoutineOnIntegers) {
  role.thread().type(ElementType::I32).op(Opcode::Exp, null(), imm(1));
  expectError({"(exp): has no meaning on i32"});
}

TEST_F(InterpreterErrorTest, FmaIntoAQueue) {
  auto out = role.output(0);
  role.thread().fma(out, imm(1), imm(1));
  expectError({"(fma): dst takes part in the result and must be in memory"});
}

TEST_F(InterpreterErrorTest, MissingAndSuperfluousSources) {
  role.thread().op(Opcode::Neg, null(), imm(1), imm(1));
  expectError({"takes one source, but b is given"});
}

TEST_F(InterpreterErrorTest, MissingSource) {
  role.thread().op(Opcode::Add, null(), imm(1));
  expectError({"b is missing"});
}

TEST_F(InterpreterErrorTest, ConstantOutsideItsSection) {
  int32_t section = executable.section("w", bytesOf(ElementType::F32, {1, 2, 3}));
  role.constant("x", ElementType::F32, 2, section, affine(0, {0, 0, 0, 4}));
  expectError({"constant buffer 'x' of 8 bytes at offset 8 lies outside section 0 of 12 bytes"});
}

TEST_F(InterpreterErrorTest, BufferLargerThanSram) {
  executable.result.target.sramBytes = 64;
  role.scratch("x", ElementType::F32, 17);
  expectError({"68 bytes exceed the core's SRAM of 64"});
}

TEST_F(InterpreterErrorTest, UnknownOpcodeTypeAndBuffer) {
  role.thread().move(null(), imm(1));
  role.build();
  auto run = [&](auto change) {
    format::Role damaged = role.role;
    change(damaged.threads[0][0]);
    return std::string(interpretCore(executable.result, damaged, {}, {}, {}).status().message());
  };
  EXPECT_NE(run([](auto &i) { i.opcode = Opcode(60); }).find("opcode 60 does not exist"), std::string::npos);
  EXPECT_NE(run([](auto &i) { i.type = ElementType(33); }).find("element type 33 does not exist"), std::string::npos);
  EXPECT_NE(run([](auto &i) {
              i.a.kind = format::OperandKind::Memory;
              i.a.buffer = 5;
            }).find("a names buffer 5, the role has 0"),
            std::string::npos);
}

} // namespace
} // namespace wsc::emulator
