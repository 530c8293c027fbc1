// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slots of a core by what they are spent on. The target: set-up 3 slots, a loop's iteration 2, a task's start 4, one
// element a cycle; all other limits are those of mesh-8x8.
#include "test/unit/verifier/Fixture.h"

#include "runtime/report/Report.h"

#include <gtest/gtest.h>

namespace wsc::report {
namespace {

using namespace format;
using namespace format::fixture;

target::Target plainTarget() {
  target::Target target = meshTarget("mesh-8x8");
  target.vectorSetupCycles = 3;
  target.loopCycles = 2;
  target.taskStartCycles = 4;
  target.elementsPerCycleF32 = target.fmaPerCycleF32 = 1;
  return target;
}

Work busiestOf(std::vector<Instruction> thread, Lattice where = cores(0, 0)) {
  Role role;
  role.cores = where;
  role.buffers = {scratch("a", 8192, 1024), scratch("b", 9224, 1024)};
  role.queues = {Queue{false, 0, 0}, Queue{true, 1, 0}};
  role.threads = {std::move(thread)};
  return workOf(plainTarget(), role).busiest;
}

TEST(Work, ArithmeticIsCompute) {
  const Work work = busiestOf({instruction(Opcode::Fma, 10, memory(0), memory(1), immediate(2))});
  EXPECT_EQ(work.computeCycles, 10);
  EXPECT_EQ(work.setupCycles, 3);
  EXPECT_EQ(work.networkCycles, 0);
  EXPECT_EQ(work.fma, 10);
  EXPECT_EQ(work.sramBytes, 10 * 4 * 3); // reads a and dst, writes dst
}

TEST(Work, MovesInSramAreMemory) {
  const Work work = busiestOf({instruction(Opcode::Move, 10, memory(0), memory(1))});
  EXPECT_EQ(work.memoryCycles, 10);
  EXPECT_EQ(work.computeCycles, 0);
  EXPECT_EQ(work.sramBytes, 10 * 4 * 2);
}

TEST(Work, WordsOfQueuesAreNetwork) {
  const Work work = busiestOf({instruction(Opcode::Move, 6, memory(0), queue(0)),
                               instruction(Opcode::Move, 5, queue(1), memory(0)), control(1, 1)});
  EXPECT_EQ(work.networkCycles, 6 + 5 + 1);
  EXPECT_EQ(work.setupCycles, 2 * (3 + 4));
  EXPECT_EQ(work.wordsIn, 6);
  EXPECT_EQ(work.wordsOut, 5);
}

TEST(Work, LoopsMultiply) {
  const Work work = busiestOf({loop(4), instruction(Opcode::Add, 8, memory(0), memory(1), immediate(1)), endLoop()});
  EXPECT_EQ(work.computeCycles, 4 * 8);
  EXPECT_EQ(work.setupCycles, 4 * (3 + 2));
}

TEST(Work, EmptyInstructionsTakeNothing) {
  EXPECT_EQ(busiestOf({instruction(Opcode::Add, 0, memory(0), memory(1), immediate(1))}).slots(), 0);
}

TEST(Work, TheCoreThatDoesMostIsToldAndTheMean) {
  Affine extent(2);
  extent.perDim[kMaxDims - 1] = 3; // 2, 5, 8, 11 elements from west to east
  Role role;
  role.cores = cores(0, 0, 1, 4);
  role.buffers = {scratch("a", 8192, 1024), scratch("b", 9224, 1024)};
  role.threads = {{instruction(Opcode::Fma, extent, memory(0), memory(1), immediate(2))}};
  const RoleWork work = workOf(plainTarget(), role);
  EXPECT_EQ(work.busiest.fma, 11);
  EXPECT_EQ(work.mean.fma, (2 + 11) / 2);
}

} // namespace
} // namespace wsc::report
