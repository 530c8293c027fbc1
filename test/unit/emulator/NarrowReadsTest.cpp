// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words that come to all cores of a line, of which each core reads a few.
#include "runtime/emulator/NarrowReads.h"
#include "runtime/emulator/ScratchMoves.h"
#include "test/unit/emulator/TinyMesh.h"

#include <gtest/gtest.h>

using namespace wsc::format;
using namespace wsc::testing;
using wsc::emulator::NarrowScratch;

namespace {

constexpr int kBlocks = 0, kOwn = 1, kNumbers = 2, kIn = 0, kOut = 1; // buffers, queues
constexpr int64_t kWords = 64;

class NarrowReads : public testing::Test {
protected:
  NarrowReads() {
    role.cores = rowOf(0, 0, 4);
    role.buffers = {scratch(kWords * 4), scratch(64), scratch(64)};
    role.queues = {{false, 0, 0}, {true, 1, 1}};
  }
  // Core k takes all words, and needs the four from number 16 k on.
  static Instruction take(Affine words = kWords) {
    return vectorOp(Opcode::Move, words, memoryOperand(kBlocks, 4), queueOperand(kIn));
  }
  static Instruction four() {
    Instruction few = vectorOp(Opcode::Move, 4, memoryOperand(kOwn, 4), memoryOperand(kBlocks, 4));
    few.a.base.perDim[3] = 64;
    return few;
  }
  static Instruction send(int buffer, Affine words) {
    return vectorOp(Opcode::Move, words, queueOperand(kOut), memoryOperand(buffer, 4));
  }

  // `numbers`: of gathers the least and the largest, if they are known; `mayStay`: copies whose words may stay.
  const std::vector<NarrowScratch> &find(const Thread &thread, std::optional<std::pair<int32_t, int32_t>> numbers = {},
                                         std::vector<size_t> mayStay = {}) {
    role.threads = {thread};
    auto decoded =
        wsc::emulator::decodeRole(role, {false, false}, wsc::emulator::kernels(wsc::emulator::CpuLevel::Portable));
    EXPECT_TRUE(decoded.ok()) << decoded.status();
    program = *std::move(decoded);
    for (wsc::emulator::DecodedOp &op : program.threads[0])
      if (op.instruction->opcode == Opcode::Gather)
        op.numbers = numbers;
    const std::vector<int64_t> offsets{0, 256, 320};
    const auto live = liveScratch(program, program.threads[0], offsets, 384),
               touched = touchedScratch(program, program.threads[0], offsets, 384);
    return narrow = findNarrowReads(program, program.threads[0], offsets, live, touched, mayStay);
  }

  Role role;
  wsc::emulator::RoleProgram program;
  std::vector<NarrowScratch> narrow;
};

TEST_F(NarrowReads, FourOfManyWords) {
  const auto &found = find({take(), send(kOwn, 1), four(), send(kOwn, 4)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].copy, 0u);
  EXPECT_EQ(found[0].first, 0u);
  EXPECT_EQ(found[0].last, 2u);
  const LatticeIndex second{0, 0, 0, 1};
  EXPECT_EQ(found[0].readOf(0, 256, second), std::pair(int64_t(64), int64_t(80)));
  EXPECT_EQ(found[0].readOf(72, 256, second), std::pair(int64_t(72), int64_t(80)));
  EXPECT_EQ(found[0].readOf(0, 64, second).second, 0) << "nothing of these";
  EXPECT_EQ(found[0].readOf(62, 78, second), std::pair(int64_t(62), int64_t(78)))
      << "whole words from the first one on";
}

// As in a gather from both sides: the words of one side are there while the core waits for those of the other.
TEST_F(NarrowReads, TwoCopiesWithOneReader) {
  Affine own(0);
  own.perDim[3] = 16;
  Instruction rest = take(kWords - 48);
  rest.dst.base = Affine(48 * 4);
  const auto &found = find({take(own), rest, four(), send(kOwn, 4)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].range.bytes, 48 * 4) << "of the core that takes most";
  EXPECT_EQ(found[0].last, 2u);
  EXPECT_EQ(found[1].range.begin, 48 * 4);
}

// Before an operation that reads what was there before, other bytes matter than behind it.
TEST_F(NarrowReads, BeginBehindWhoReadWhatWasThere) {
  const auto &found = find({take(), send(kBlocks, kWords), take(), four(), send(kOwn, 4)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].copy, 2u);
  EXPECT_EQ(found[0].first, 2u);
}

// Four of the sixteen words from number 16 k on, and no other number goes beyond the buffer.
TEST_F(NarrowReads, GathersOfKnownNumbers) {
  Instruction choose =
      vectorOp(Opcode::Gather, 4, memoryOperand(kOwn, 4), memoryOperand(kBlocks, 4), memoryOperand(kNumbers, 4));
  choose.a.base.perDim[3] = 64;
  const Thread thread{take(), choose, send(kOwn, 4)};
  const auto &found = find(thread, {{5, 9}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].readOf(0, 256, LatticeIndex{0, 0, 0, 1}), std::pair(int64_t(64 + 20), int64_t(64 + 40)));
  EXPECT_EQ(find(thread, {{5, 15}}).size(), 1u);
  EXPECT_TRUE(find(thread, {{5, 16}}).empty()) << "the last core chooses the last word instead of one beyond";
  EXPECT_TRUE(find(thread, {{-1, 9}}).empty()) << "the first instead of one before";
  EXPECT_TRUE(find(thread).empty());
}

// Words that may stay count whoever reads them; where they do not stay all of them are brought, or what a core reads.
TEST_F(NarrowReads, WordsThatMayStay) {
  const LatticeIndex second{0, 0, 0, 1};
  const auto &all = find({take(), four(), send(kBlocks, kWords)}, {}, {0});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].mayStay);
  EXPECT_EQ(all[0].last, 2u);
  EXPECT_EQ(all[0].readOf(0, 256, second), std::pair(int64_t(0), int64_t(256)));
  const auto &few = find({take(), send(kOwn, 1), four(), send(kOwn, 4)}, {}, {0});
  ASSERT_EQ(few.size(), 1u);
  EXPECT_TRUE(few[0].mayStay);
  EXPECT_EQ(few[0].readOf(0, 256, second), std::pair(int64_t(64), int64_t(80)));
}

TEST_F(NarrowReads, AllWordsOrUnknownPlaces) {
  EXPECT_TRUE(find({take(), four(), send(kBlocks, kWords)}).empty()) << "all are sent on";
  EXPECT_TRUE(find({take(), four(), send(kBlocks, kWords / 2)}).empty()) << "half and four";
  EXPECT_TRUE(find({take(12), four(), send(kOwn, 4)}).empty()) << "few words come";
  Instruction loop, end;
  loop.opcode = Opcode::Loop;
  loop.extent[0] = 2;
  end.opcode = Opcode::EndLoop;
  EXPECT_TRUE(find({take(), loop, four(), send(kOwn, 4), end}).empty()) << "in a loop";
}

} // namespace
