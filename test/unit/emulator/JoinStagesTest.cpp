// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiply-adds in stages, each when more of the input has come: which are joined, and which must not be.
#include "runtime/emulator/JoinStages.h"
#include "test/unit/emulator/TinyMesh.h"

#include <gtest/gtest.h>

using namespace wsc::format;
using namespace wsc::testing;
using wsc::emulator::joinStages;

namespace {

constexpr int kX = 0, kAcc = 1, kWeights = 2, kIn = 0;

class JoinStages : public testing::Test {
protected:
  JoinStages() {
    role.cores = rowOf(0, 0, 1);
    role.buffers = {scratch(256), scratch(64), scratch(256)};
    role.queues = {{false, 0, 0}};
  }
  /// Takes channels [first, end) of x, four words each.
  static Instruction take(int first, int end) {
    return vectorOp(Opcode::Move, 4 * (end - first), memoryOperand(kX, 4, 16 * first), queueOperand(kIn));
  }
  /// acc[p] += weights[c] · x[c][p] for channels [first, end); a single channel needs no loop.
  static Thread compute(int first, int end) {
    Instruction fma = vectorOp(Opcode::Fma, 4, memoryOperand(kAcc, 4), memoryOperand(kWeights, 0, 4 * first),
                               memoryOperand(kX, 4, 16 * first));
    if (end - first == 1)
      return {fma};
    fma.a.loopStep[0] = 4;
    fma.b.loopStep[0] = 16;
    Instruction loop, endLoop;
    loop.opcode = Opcode::Loop;
    loop.extent[0] = end - first;
    endLoop.opcode = Opcode::EndLoop;
    return {loop, fma, endLoop};
  }
  static Thread append(Thread a, const Thread &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static Thread sequence(std::initializer_list<Thread> parts) {
    Thread all;
    for (const Thread &part : parts)
      all = append(std::move(all), part);
    return all;
  }
  /// As when all of the input came at once.
  void expectJoined(const Thread &thread, const Thread &want) {
    const std::optional<Thread> got = joinStages(role, thread);
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, want);
  }
  void expectApart(const Thread &thread) { EXPECT_FALSE(joinStages(role, thread)); }

  Role role;
};

TEST_F(JoinStages, TakesComeFirstAndLoopsAreOne) {
  expectJoined(sequence({{take(0, 2)}, compute(0, 2), {take(2, 5)}, compute(2, 5), {take(5, 7)}, compute(5, 7)}),
               sequence({{take(0, 2), take(2, 5), take(5, 7)}, compute(0, 7)}));
}

TEST_F(JoinStages, AStageOfOneChannelHasNoLoop) {
  const Thread whole = sequence({{take(0, 1), take(1, 4)}, compute(0, 4)});
  expectJoined(sequence({{take(0, 1)}, compute(0, 1), {take(1, 4)}, compute(1, 4)}), whole);
  expectJoined(sequence({{take(0, 3)}, compute(0, 3), {take(3, 4)}, compute(3, 4)}),
               sequence({{take(0, 3), take(3, 4)}, compute(0, 4)}));
}

/// The second take would come before channel 1 has been read.
TEST_F(JoinStages, NotWhereTheNextTakeOverwritesWhatIsRead) {
  expectApart(sequence({{take(0, 2)}, compute(0, 2), {take(1, 5)}, compute(2, 5)}));
}

/// Where a place differs from core to core, all of them count.
TEST_F(JoinStages, NotWhereAnotherCoresTakeDoes) {
  role.cores.dims[3].count = 4;
  Instruction back = take(5, 7);
  back.dst.base.perDim[3] = -32;
  expectApart(sequence({{take(0, 2)}, compute(0, 2), {back}, compute(2, 5)}));
  role.cores.dims[3].count = 2;
  EXPECT_TRUE(joinStages(role, sequence({{take(0, 2)}, compute(0, 2), {back}, compute(2, 5)})));
}

TEST_F(JoinStages, NotWhereASumDoesNotGoOn) {
  expectApart(sequence({{take(0, 2)}, compute(0, 2), {take(2, 6)}, compute(3, 6)})); // a channel is left out
  Thread other = compute(2, 5);
  other[1].dst.base = Affine(16);
  expectApart(sequence({{take(0, 2)}, compute(0, 2), {take(2, 5)}, other})); // another sum
}

/// Inside another loop, step 0 is that loop's.
TEST_F(JoinStages, NotInsideAnotherLoop) {
  Thread loop = compute(0, 2);
  const Thread twice = sequence({{loop[0], take(0, 2)}, compute(0, 2), {take(2, 5)}, compute(2, 5), {loop[2]}});
  expectApart(twice);
}

TEST_F(JoinStages, NotOverWorkOfOtherKinds) {
  const Instruction half =
      vectorOp(Opcode::Mul, 4, memoryOperand(kAcc, 4), memoryOperand(kAcc, 4), memoryOperand(kWeights, 0));
  expectApart(sequence({{take(0, 2)}, compute(0, 2), {half, take(2, 5)}, compute(2, 5)}));
}

} // namespace
