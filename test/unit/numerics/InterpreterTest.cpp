// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar interpreter on hand-written roles: what each form of program does, one case per behaviour.
#include "runtime/emulator/Interpreter.h"
#include "test/unit/support/ProgramBuilder.h"

#include <gtest/gtest.h>

namespace wsc::emulator {
namespace {

using namespace wsc::testing;
using format::LatticeIndex;
using Values = std::vector<double>;

class InterpreterTest : public ::testing::Test {
protected:
  ExecutableBuilder executable;
  RoleBuilder role{executable, "test"};
  LatticeIndex index{};
  std::vector<std::vector<std::byte>> received;
  CoreRun result;

  // Words for input queue q, sent by one instruction.
  void give(size_t q, const Values &values, ElementType type = ElementType::F32) {
    received.resize(std::max(received.size(), q + 1));
    auto words = wordsOf(type, values);
    received[q].insert(received[q].end(), words.begin(), words.end());
  }
  void run() {
    const format::Role &built = role.build();
    received.resize(built.queues.size());
    auto image = initialImage(executable.result, built, index);
    ASSERT_TRUE(image.ok()) << image.status();
    auto run = interpretCore(executable.result, built, index, *std::move(image), received);
    ASSERT_TRUE(run.ok()) << run.status();
    result = *std::move(run);
  }
  Values buffer(size_t i) { return valuesOf(role.role.buffers[i].type, result.image.buffers[i]); }
  Values queue(size_t q, ElementType type = ElementType::F32) { return valuesOf(type, result.queueWords[q]); }
};

TEST_F(InterpreterTest, MoveBetweenConstantMemoryAndQueues) {
  auto weights = role.constant("weights", ElementType::F32, {1, 2, 3, 4, 5, 6});
  auto copy = role.scratch("copy", ElementType::F32, 6);
  auto out = role.output(3);
  role.thread().move(copy, weights.strides({1, 2}), {2, 3}).move(out, copy, {6}); // transposed
  run();
  EXPECT_EQ(queue(0), (Values{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(buffer(0), (Values{1, 2, 3, 4, 5, 6}));
}

TEST_F(InterpreterTest, QueueToQueue) {
  auto in = role.input(1), out = role.output(2);
  role.thread().move(out, in, {2}).op(Opcode::Add, out, in, imm(10), {1});
  give(0, {7, 8, 9});
  run();
  EXPECT_EQ(queue(1), (Values{7, 8, 19}));
  EXPECT_TRUE(result.queueWords[0].empty());
}

TEST_F(InterpreterTest, LeftoverWordsAreReported) {
  auto in = role.input(1);
  role.thread().move(null(), in, {1});
  give(0, {7, 8, 9});
  run();
  EXPECT_EQ(queue(0), (Values{8, 9}));
}

TEST_F(InterpreterTest, NarrowElementsArePackedPerInstruction) {
  auto in = role.input(1), out = role.output(2);
  role.thread().type(ElementType::F16).move(out, in, {3}).move(out, in, {1}).type(ElementType::U8).move(out, in, {5});
  give(0, {1, 2, 3}, ElementType::F16);
  give(0, {4}, ElementType::F16);
  give(0, {5, 6, 7, 8, 9}, ElementType::U8);
  run();
  EXPECT_EQ(result.queueWords[1].size(), 8u + 4 + 8);
  EXPECT_EQ(result.queueWords[1], received[0]);
  EXPECT_TRUE(result.queueWords[0].empty());
}

TEST_F(InterpreterTest, FmaNestOverLoopSteps) {
  // y[m] += Σ_k w[k][m]·x[k], k as a loop, x one element at a time.
  auto w = role.constant("w", ElementType::F32, {1, 2, 3, 10, 20, 30});
  auto x = role.constant("x", ElementType::F32, {2, 5});
  auto y = role.scratch("y", ElementType::F32, 3);
  role.thread().move(y, imm(1), {3}).loop(2).fma(y, w.strides({1}).steps({3}), x.repeated().steps({1}), {3}).endLoop();
  run();
  EXPECT_EQ(buffer(2), (Values{1 + 2 + 50, 1 + 4 + 100, 1 + 6 + 150}));
}

TEST_F(InterpreterTest, LoopsNestFourDeepAndRestart) {
  auto count = role.scratch("count", ElementType::I32, 16);
  auto total = role.scratch("total", ElementType::I32, 1);
  role.thread()
      .type(ElementType::I32)
      .move(count, imm(0), {16})
      .move(total, imm(0))
      .loop(2)
      .loop(2)
      .loop(2)
      .loop(2)
      .op(Opcode::Add, count.repeated().steps({8, 4, 2, 1}), count.repeated().steps({8, 4, 2, 1}), imm(1))
      .endLoop()
      .endLoop()
      .op(Opcode::ReduceAdd, total, count.repeated().steps({8, 4}))
      .endLoop()
      .endLoop();
  run();
  EXPECT_EQ(buffer(0), Values(16, 1));
  EXPECT_EQ(buffer(1), Values{4});
}

TEST_F(InterpreterTest, LoopWithoutTripsIsSkippedWithItsInnerLoops) {
  auto out = role.output(0);
  role.thread().loop(0).loop(3).move(out, imm(1)).endLoop().endLoop().move(out, imm(2));
  run();
  EXPECT_EQ(queue(0), Values{2});
}

TEST_F(InterpreterTest, ReduceIntoZeroStridesInIterationOrder) {
  // 2^24 + 1 + 1 in f32: each 1 is lost when it comes after 2^24.
  auto x = role.constant("x", ElementType::F32, {16777216, 1, 1, 1, 1, 16777216});
  auto sums = role.scratch("sums", ElementType::F32, 2);
  role.thread().move(sums, imm(0), {2}).op(Opcode::ReduceAdd, sums.strides({1, 0}), x, {2, 3});
  run();
  EXPECT_EQ(buffer(1), (Values{16777216, 16777218}));
}

TEST_F(InterpreterTest, FifoBetweenTwoThreads) {
  auto ring = role.fifo("ring", ElementType::F32, 2);
  auto in = role.input(0), out = role.output(1);
  role.thread().op(Opcode::Mul, out, ring, imm(2), {7}); // waits first
  role.thread().move(ring, in, {7});
  give(0, {1, 2, 3, 4, 5, 6, 7});
  run();
  EXPECT_EQ(queue(1), (Values{2, 4, 6, 8, 10, 12, 14}));
}

TEST_F(InterpreterTest, FifoFilledByTheSameThread) {
  auto ring = role.fifo("ring", ElementType::I8, 3);
  auto out = role.output(1);
  role.thread()
      .type(ElementType::I8)
      .move(ring, imm(-5), {3})
      .op(Opcode::Neg, ring, ring, {3}) // pops before it pushes
      .move(out, ring, {3});
  run();
  EXPECT_EQ(queue(0, ElementType::I8), (Values{5, 5, 5, 0}));
}

TEST_F(InterpreterTest, GatherClampsNumbersToTheBuffer) {
  auto table = role.constant("table", ElementType::F32, {0, 10, 20, 30, 40, 50});
  auto numbers = role.constant("numbers", ElementType::I32, {1, -7, 2, 99});
  auto out = role.output(0);
  role.thread()
      .gather(out, table.strides({1}), numbers, {4})
      .gather(out, table.at(1).strides({2}), numbers, {4})  // 10, 30, 50
      .gather(out, table.strides({3, 1}), numbers, {2, 2}); // the outer stride moves the origin
  run();
  EXPECT_EQ(queue(0), (Values{10, 0, 20, 50, 30, 10, 50, 50, 10, 0, 50, 50}));
}

TEST_F(InterpreterTest, ScatterWritesInOrder) {
  auto table = role.state("table", ElementType::F32, 4);
  auto numbers = role.constant("numbers", ElementType::I32, {2, 0, 2, 100});
  auto values = role.constant("values", ElementType::F32, {1, 2, 3, 4});
  role.thread().scatter(table.strides({1}), values, numbers, {4});
  run();
  EXPECT_EQ(buffer(0), (Values{2, 0, 3, 4}));
}

TEST_F(InterpreterTest, RaggedExtentsAndBasesAreAffineInTheIndex) {
  int32_t section = executable.section("all", bytesOf(ElementType::F32, {0, 1, 2, 3, 4, 5, 6, 7}));
  role.over(3, 3, 0, 1);
  auto part = role.constant("part", ElementType::F32, 4, section, affine(0, {0, 0, 0, 8}));
  auto out = role.output(0);
  role.thread().move(out, part.at(affine(1, {0, 0, 0, 1})).strides({1}), {affine(3, {0, 0, 0, -1})});
  for (auto [core, expected] : {std::pair{0, Values{1, 2, 3}}, {1, Values{4, 5}}, {2, Values{7}}, {3, Values{}}}) {
    if (core == 3) // its constant would lie outside the section; the extent is 0
      role.role.buffers[0].sectionOffset = Affine(0);
    index = {0, 0, 0, core};
    run();
    EXPECT_EQ(queue(0), expected) << "core " << core;
  }
}

TEST_F(InterpreterTest, SelectConvertAndIntegersFollowNumerics) {
  auto x = role.constant("x", ElementType::F32, {1.5, -300, 3e9, -2.5});
  auto mask = role.constant("mask", ElementType::I32, {1, 0, 1, 0});
  auto y = role.scratch("y", ElementType::I32, 4);
  auto z = role.scratch("z", ElementType::I32, 4);
  role.thread()
      .type(ElementType::I32)
      .convert(y, x, ElementType::F32, {4})
      .move(z, imm(7), {4})
      .op(Opcode::Select, z, y, mask, {4});
  run();
  EXPECT_EQ(buffer(2), (Values{1, -300, 2147483647, -2}));
  EXPECT_EQ(buffer(3), (Values{1, 7, 2147483647, 7}));
}

TEST_F(InterpreterTest, StateSurvivesFromSampleToSample) {
  auto steps = role.state("steps", ElementType::I64, 1);
  role.thread().type(ElementType::I64).op(Opcode::Add, steps, steps, imm(3));
  run();
  auto second = interpretCore(executable.result, role.role, index, result.image, received);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(valuesOf(ElementType::I64, second->image.buffers[0]), Values{6});
}

TEST_F(InterpreterTest, ControlWordsCarryNoData) {
  auto out = role.output(0);
  role.thread().move(out, imm(1), {2}).sendControl(out, 2);
  run();
  EXPECT_EQ(queue(0), (Values{1, 1}));
}

} // namespace
} // namespace wsc::emulator
