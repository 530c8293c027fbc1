// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a core keeps of its scratch while it waits at an operation.
#include "runtime/emulator/LiveScratch.h"
#include "test/unit/emulator/TinyMesh.h"

#include <gtest/gtest.h>

#include <optional>

using namespace wsc::format;
using namespace wsc::testing;
using wsc::emulator::ScratchRange;
using Ranges = std::vector<ScratchRange>;

namespace {

constexpr int kSum = 0, kX = 1, kIn = 0, kOut = 1; // buffers of 64 and 256 bytes; queues

class LiveScratch : public testing::Test {
protected:
  LiveScratch() {
    role.cores = rowOf(0, 0, 4);
    role.buffers = {scratch(64), scratch(256)};
    role.queues = {{false, 0, 0}, {true, 1, 1}};
  }
  std::vector<Ranges> liveOf(const Thread &thread) {
    role.threads = {thread};
    auto program =
        wsc::emulator::decodeRole(role, {false, false}, wsc::emulator::kernels(wsc::emulator::CpuLevel::Portable));
    EXPECT_TRUE(program.ok()) << program.status();
    const std::vector<int64_t> offsets{0, 64};
    return liveScratch(*program, program->threads[0], offsets, 320);
  }
  static Instruction take(Operand dst, Affine n) { return vectorOp(Opcode::Move, n, dst, queueOperand(kIn)); }
  // Every byte of a buffer, so that what may be read of it later matters.
  Instruction all(int buffer) const { return take(memoryOperand(buffer, 4), role.buffers[size_t(buffer)].bytes / 4); }
  static Instruction send(Operand source, Affine n) { return vectorOp(Opcode::Move, n, queueOperand(kOut), source); }
  static Instruction loop(Affine trips) {
    Instruction begin;
    begin.opcode = Opcode::Loop;
    begin.extent[0] = trips;
    return begin;
  }
  static Instruction endLoop() {
    Instruction end;
    end.opcode = Opcode::EndLoop;
    return end;
  }

  Role role;
};

// x is needed from where it is taken to where it is sent; before and after, nothing is.
TEST_F(LiveScratch, BetweenWriteAndRead) {
  const auto live = liveOf({take(memoryOperand(kX, 4), 8), take(memoryOperand(kSum, 4), 4),
                            send(memoryOperand(kX, 4), 8), send(memoryOperand(kSum, 4), 4)});
  ASSERT_EQ(live.size(), 4u);
  EXPECT_EQ(live[0], Ranges());
  EXPECT_EQ(live[1], (Ranges{{64, 32}}));
  EXPECT_EQ(live[2], (Ranges{{0, 16}, {64, 32}}));
  EXPECT_EQ(live[3], (Ranges{{0, 16}}));
}

// Every second element is written anew, so only the others are kept; ranges this close are one.
TEST_F(LiveScratch, StridedWritesLeaveWhatIsBetween) {
  const auto live = liveOf({all(kX), take(memoryOperand(kX, 64), 4), send(memoryOperand(kX, 4), 64)});
  EXPECT_EQ(live[1], (Ranges{{64 + 4, 252}})); // gaps of 4 bytes are not worth a second copy
}

// What nobody has written yet does not matter, whoever may read it.
TEST_F(LiveScratch, BeforeTheFirstWrite) {
  const auto live = liveOf({take(memoryOperand(kSum, 4), 4), take(memoryOperand(kX, 64), 4),
                            send(memoryOperand(kX, 4), 64), send(memoryOperand(kSum, 4), 16)});
  EXPECT_EQ(live[0], Ranges());
  EXPECT_EQ(live[1], (Ranges{{0, 16}}));
  EXPECT_EQ(live[2], (Ranges{{0, 16}, {64, 196}}));
}

// An accumulator is read by what adds to it.
TEST_F(LiveScratch, AccumulatorsAreRead) {
  const auto live = liveOf(
      {all(kSum), all(kX), vectorOp(Opcode::Fma, 4, memoryOperand(kSum, 4), memoryOperand(kX, 4), memoryOperand(kX, 4)),
       send(memoryOperand(kSum, 4), 4)});
  EXPECT_EQ(live[2], (Ranges{{0, 16}, {64, 16}}));
}

// A core-dependent place is read on some core and surely written on none.
TEST_F(LiveScratch, PlacesThatDifferFromCoreToCore) {
  Operand own = memoryOperand(kX, 4);
  own.base.perDim[3] = 16;
  EXPECT_EQ(liveOf({all(kX), send(own, 4)})[1], (Ranges{{64, 64}}));
  EXPECT_EQ(liveOf({all(kX), take(own, 4), send(memoryOperand(kX, 4), 16)})[1], (Ranges{{64, 64}}));
}

// Of a buffer from which it chooses by known numbers, only what lies between the least and the largest is needed.
TEST_F(LiveScratch, GathersOfKnownNumbers) {
  const Instruction gather =
      vectorOp(Opcode::Gather, 4, memoryOperand(kSum, 4), memoryOperand(kX, 8), memoryOperand(kSum, 4));
  const auto needed = [&](std::optional<std::pair<int32_t, int32_t>> numbers) {
    role.threads = {{all(kX), gather}};
    auto program =
        wsc::emulator::decodeRole(role, {false, false}, wsc::emulator::kernels(wsc::emulator::CpuLevel::Portable));
    EXPECT_TRUE(program.ok()) << program.status();
    program->threads[0][1].numbers = numbers;
    const std::vector<int64_t> offsets{0, 512};
    return liveScratch(*program, program->threads[0], offsets, 768)[1].back();
  };
  EXPECT_EQ(needed({}), (ScratchRange{512, 256}));
  EXPECT_EQ(needed({{3, 5}}), (ScratchRange{512 + 24, 20}));
  EXPECT_EQ(needed({{-2, 1}}), (ScratchRange{512, 12}));        // below 0: the first element
  EXPECT_EQ(needed({{90, 99}}), (ScratchRange{512 + 244, 12})); // beyond the end: the last one
}

// A loop may run no time on some core: what it writes is not surely written.
TEST_F(LiveScratch, LoopsThatMayBeEmpty) {
  const auto body = [&](Affine trips) {
    return Thread{all(kX),
                  loop(trips),
                  take(memoryOperand(kX, 4), 4),
                  send(memoryOperand(kX, 4), 1),
                  endLoop(),
                  send(memoryOperand(kX, 4), 4)};
  };
  Affine fewer(0);
  fewer.perDim[3] = 1;
  EXPECT_EQ(liveOf(body(fewer))[1], (Ranges{{64, 16}}));
}

// What one iteration leaves for the next is kept at the loop's end.
TEST_F(LiveScratch, FromIterationToIteration) {
  const auto live = liveOf({take(memoryOperand(kX, 4), 4), loop(3), send(memoryOperand(kX, 4), 4),
                            take(memoryOperand(kX, 4), 4), endLoop()});
  EXPECT_EQ(live[3], Ranges());
  EXPECT_EQ(live[4], (Ranges{{64, 16}}));
}

} // namespace
