// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a nest does along with its own: x ← words, acc ← 0, acc += x · w, words ← words + acc.
#include "runtime/emulator/WaveFusion.h"
#include "test/unit/emulator/TinyMesh.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

using namespace wsc::format;
using namespace wsc::testing;
using wsc::emulator::WaveOp;
using wsc::emulator::WaveRole;

namespace {

constexpr int kAcc = 0, kX = 1, kW = 2, kIn = 0, kSums = 1, kOut = 2; // buffers, queues
constexpr int64_t kRows = 8, kColumns = 3, kTaps = 2;

class WaveFusion : public testing::Test {
protected:
  WaveFusion() {
    role.cores = rowOf(0, 0, 4);
    role.buffers = {scratch(kRows * kColumns * 4), scratch(kRows * kTaps * 4), scratch(kTaps * kColumns * 4)};
    role.queues = {{false, 0, 0}, {false, 1, 1}, {true, 2, 2}};
  }

  static Instruction take() { return vectorOp(Opcode::Move, kRows * kTaps, memoryOperand(kX, 4), queueOperand(kIn)); }
  static Instruction zero(Affine n = kRows * kColumns) {
    Operand nothing;
    nothing.kind = OperandKind::Immediate;
    return vectorOp(Opcode::Move, n, memoryOperand(kAcc, 4), nothing);
  }
  static Instruction loop() {
    Instruction begin;
    begin.opcode = Opcode::Loop;
    begin.extent[0] = kTaps;
    return begin;
  }
  static Instruction product() {
    Instruction fma =
        vectorOp(Opcode::Fma, kColumns, memoryOperand(kAcc, 4), memoryOperand(kX, 0), memoryOperand(kW, 4));
    fma.extent[2] = kRows;
    fma.dst.stride[2] = kColumns * 4;
    fma.a.stride[2] = kTaps * 4;
    fma.a.loopStep[0] = 4;
    fma.b.loopStep[0] = kColumns * 4;
    return fma;
  }
  static Instruction endLoop() {
    Instruction end;
    end.opcode = Opcode::EndLoop;
    return end;
  }
  static Instruction sum() {
    return vectorOp(Opcode::Add, kRows * kColumns, queueOperand(kOut), queueOperand(kSums), memoryOperand(kAcc, 4));
  }

  // `numbers`: of gathers the least and the largest, if they are known.
  const std::vector<WaveOp> &fuse(const Thread &thread, std::optional<std::pair<int32_t, int32_t>> numbers = {}) {
    role.threads = {thread};
    auto decoded = wsc::emulator::decodeRole(role, {false, false, false},
                                             wsc::emulator::kernels(wsc::emulator::CpuLevel::Portable));
    EXPECT_TRUE(decoded.ok()) << decoded.status();
    program = *std::move(decoded);
    for (wsc::emulator::DecodedOp &op : program.threads[0])
      if (op.instruction->opcode == Opcode::Gather)
        op.numbers = numbers;
    wave = wsc::emulator::planRole(program);
    return wave.threads[0];
  }

  Role role;
  wsc::emulator::RoleProgram program;
  WaveRole wave;
};

TEST_F(WaveFusion, AProductOfAChain) {
  const auto &ops = fuse({take(), zero(), loop(), product(), endLoop(), sum()});
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_EQ(ops[0].heldIn, 0);
  EXPECT_EQ(ops[2].letsGo, 1);
  EXPECT_TRUE(ops[1].leftOut);
  EXPECT_EQ(ops[2].zeros, 1);
  EXPECT_EQ(ops[2].wordsOf[0], 0);
  EXPECT_EQ(ops[2].wordsOf[1], -1);
  EXPECT_TRUE(ops[2].addsNext);
}

// The first of a chain.
TEST_F(WaveFusion, AProductThatIsSent) {
  const Instruction send = vectorOp(Opcode::Move, kRows * kColumns, queueOperand(kOut), memoryOperand(kAcc, 4));
  EXPECT_TRUE(fuse({take(), zero(), loop(), product(), endLoop(), send})[2].addsNext);
  EXPECT_FALSE(fuse({take(), zero(), loop(), product(), endLoop(), send, send})[2].addsNext);
  Instruction half = send;
  half.extent[3] = kRows;
  EXPECT_FALSE(fuse({take(), zero(), loop(), product(), endLoop(), half})[2].addsNext);
}

// Each core needs a few of the words that come; where they lie depends on the core.
TEST_F(WaveFusion, ARowThatReadsAFewWords) {
  Instruction few = vectorOp(Opcode::Move, 2, memoryOperand(kW, 4), memoryOperand(kX, 4));
  few.a.base = Affine(8);
  few.a.base.perDim[3] = 4;
  Instruction send = vectorOp(Opcode::Move, 2, queueOperand(kOut), memoryOperand(kW, 4));
  const auto &ops = fuse({take(), few, send});
  EXPECT_EQ(ops[0].heldIn, 0);
  EXPECT_EQ(ops[1].wordsOf[0], 0);
  EXPECT_EQ(ops[1].wordsOffset[0], 0); // the place on a core is all that is added
  Instruction beyond = few;
  beyond.a.base.perDim[3] = 32; // of the last core
  role.buffers[kX].bytes += 64;
  EXPECT_EQ(fuse({take(), beyond, send})[0].heldIn, -1);
}

// A gather chooses inside its buffer; where that holds more than the words it has to be known what it chooses.
TEST_F(WaveFusion, AGatherThatReadsWords) {
  const Thread thread{take(),
                      vectorOp(Opcode::Gather, 2, memoryOperand(kW, 4), memoryOperand(kX, 4), memoryOperand(kAcc, 4)),
                      vectorOp(Opcode::Move, 2, queueOperand(kOut), memoryOperand(kW, 4))};
  const auto &ops = fuse(thread, {{3, kRows * kTaps - 1}});
  EXPECT_EQ(ops[0].heldIn, 0);
  EXPECT_EQ(ops[1].wordsOf[0], 0);
  EXPECT_EQ(fuse(thread)[0].heldIn, 0);
  role.buffers[kX].bytes += 4;
  EXPECT_EQ(fuse(thread, {{3, kRows * kTaps - 1}})[0].heldIn, 0);
  EXPECT_EQ(fuse(thread, {{3, kRows * kTaps}})[0].heldIn, -1);
  EXPECT_EQ(fuse(thread)[0].heldIn, -1);
}

// Words that are read behind a wait may stay where they are.
TEST_F(WaveFusion, WordsThatAreReadLater) {
  role.buffers[kAcc].bytes = 1024; // so much scratch is moved while cores wait
  const Instruction read = vectorOp(Opcode::Move, 2, queueOperand(kOut), memoryOperand(kX, 4)),
                    wait = vectorOp(Opcode::Move, 2, memoryOperand(kW, 4), queueOperand(kSums)),
                    send = vectorOp(Opcode::Move, 2, queueOperand(kOut), memoryOperand(kW, 4)),
                    change = vectorOp(Opcode::Move, 1, memoryOperand(kX, 4), queueOperand(kSums));
  fuse({take(), send, wait, read, send});
  ASSERT_EQ(wave.kept.narrow.size(), 1u);
  EXPECT_TRUE(wave.kept.narrow[0].mayStay);
  EXPECT_EQ(wave.threads[0][3].wordsOf[0], 0);
  fuse({take(), send, read, wait, send});
  EXPECT_TRUE(wave.kept.narrow.empty() || !wave.kept.narrow[0].mayStay) << "read before the core waits";
  fuse({take(), send, change, read, send});
  EXPECT_TRUE(wave.kept.narrow.empty() || !wave.kept.narrow[0].mayStay) << "one of them is changed";
}

// Zeros behind the accumulators would be missing.
TEST_F(WaveFusion, ZerosOfMoreThanTheAccumulators) {
  role.buffers[kAcc].bytes += 4;
  const auto &ops = fuse({take(), zero(kRows * kColumns + 1), loop(), product(), endLoop(), sum()});
  EXPECT_FALSE(ops[1].leftOut);
  EXPECT_EQ(ops[2].zeros, -1);
}

// The accumulators are sent once more, so they have to be there.
TEST_F(WaveFusion, AccumulatorsThatAreReadLater) {
  const Instruction again = vectorOp(Opcode::Move, kRows * kColumns, queueOperand(kOut), memoryOperand(kAcc, 4));
  const auto &ops = fuse({take(), zero(), loop(), product(), endLoop(), sum(), again});
  EXPECT_TRUE(ops[1].leftOut);
  EXPECT_FALSE(ops[2].addsNext);
}

// Words are held for all who read them; they are copied where one of them is changed, or where the product reads more.
TEST_F(WaveFusion, WordsThatOthersRead) {
  const Instruction again = vectorOp(Opcode::Move, 1, queueOperand(kOut), memoryOperand(kX, 4));
  const auto &both = fuse({take(), again, zero(), loop(), product(), endLoop(), sum()});
  EXPECT_EQ(both[0].heldIn, 0);
  EXPECT_EQ(both[1].wordsOf[0], 0);
  EXPECT_EQ(both[1].letsGo, 0);
  EXPECT_EQ(both[3].wordsOf[0], 0);
  EXPECT_EQ(both[3].letsGo, 1);
  const Instruction change = vectorOp(Opcode::Move, 1, memoryOperand(kX, 4), queueOperand(kSums));
  EXPECT_EQ(fuse({take(), change, zero(), loop(), product(), endLoop(), sum()})[0].heldIn, -1);
  Instruction half = take();
  half.extent[3] = kRows;
  EXPECT_EQ(fuse({half, half, zero(), loop(), product(), endLoop(), sum()})[1].heldIn, -1);
}

// Words may wait behind another product that reads words, for the same source or another.
TEST_F(WaveFusion, WordsOfTwoProducts) {
  constexpr int kOther = 3;
  role.buffers.push_back(scratch(kTaps * kColumns * 4));
  Instruction weights = take(), weighted = product();
  weights.dst = memoryOperand(kOther, 4);
  weights.extent[3] = kTaps * kColumns;
  weighted.b.buffer = kOther;
  const Thread twice = {weights, take(), zero(), loop(),   product(), endLoop(), sum(),
                        take(),  zero(), loop(), weighted, endLoop(), sum()};
  const auto &ops = fuse(twice);
  EXPECT_EQ(ops[0].heldIn, 0);
  EXPECT_EQ(ops[1].heldIn, 1);
  EXPECT_EQ(ops[5].heldIn, 1);
  EXPECT_EQ(ops[3].wordsOf[0], 1);
  EXPECT_EQ(ops[7].wordsOf[0], 5);
  EXPECT_EQ(ops[7].wordsOf[1], 0);
  Instruction first = take(), second = product();
  first.dst = memoryOperand(kOther, 4);
  first.extent[3] = kRows * kTaps;
  role.buffers[kOther].bytes = kRows * kTaps * 4;
  second.a.buffer = kOther;
  const auto &crossed =
      fuse({first, take(), zero(), loop(), product(), endLoop(), sum(), zero(), loop(), second, endLoop(), sum()});
  EXPECT_EQ(crossed[0].heldIn, 0);
  EXPECT_EQ(crossed[1].heldIn, 1);
  EXPECT_EQ(crossed[3].wordsOf[0], 1);
  EXPECT_EQ(crossed[6].wordsOf[0], 0);
}

// Words are taken, but nobody reads them or what is made of them.
TEST_F(WaveFusion, ResultsThatNobodyReads) {
  const Instruction twice = vectorOp(Opcode::Add, 4, memoryOperand(kX, 4), queueOperand(kSums), memoryOperand(kW, 4)),
                    send = vectorOp(Opcode::Move, 4, queueOperand(kOut), memoryOperand(kX, 4));
  const auto &ops = fuse({twice, zero(), take(), send});
  EXPECT_TRUE(ops[0].isDropped);
  EXPECT_TRUE(ops[1].leftOut);
  EXPECT_FALSE(ops[2].isDropped);
  EXPECT_FALSE(fuse({twice, send})[0].isDropped);
}

// A sum that is kept where the product's words would be.
TEST_F(WaveFusion, ASumInPlaceOfItsWords) {
  Instruction keep = sum();
  keep.dst = memoryOperand(kX, 4);
  role.buffers[kX].bytes = role.buffers[kAcc].bytes;
  const Instruction send = vectorOp(Opcode::Move, kRows * kColumns, queueOperand(kOut), memoryOperand(kX, 4));
  const auto &ops = fuse({take(), zero(), loop(), product(), endLoop(), keep, send});
  EXPECT_TRUE(ops[2].addsNext);
  EXPECT_TRUE(ops[2].addsIfHeld);
  const Instruction fill = vectorOp(Opcode::Move, kRows * kTaps, memoryOperand(kX, 4), memoryOperand(kW, 0));
  EXPECT_FALSE(fuse({fill, zero(), loop(), product(), endLoop(), keep, send})[2].addsNext);
}

// Between the zeros and the product the accumulators are something else.
TEST_F(WaveFusion, AccumulatorsThatAreWrittenBefore) {
  const Instruction other = vectorOp(Opcode::Move, 1, memoryOperand(kAcc, 4), queueOperand(kSums));
  EXPECT_FALSE(fuse({take(), zero(), other, loop(), product(), endLoop(), sum()})[1].leftOut);
}

} // namespace
