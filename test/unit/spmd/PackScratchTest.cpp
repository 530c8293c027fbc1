// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch buffers as windows of one arena: who shares, who does not, and where windows begin.
#include "compiler/spmd/program/PackScratch.h"
#include "test/support/RandomNest.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::format;
using spmd::Code;
using spmd::immediate;
using spmd::instruction;
using spmd::memory;
using spmd::PackedScratch;

namespace {

constexpr int64_t kRoom = 1 << 20;

const target::Target &wse2() {
  static const target::Target target = *target::loadTarget("wse2");
  return target;
}

void move(Code &code, int16_t dst, int64_t elements, Operand source) {
  code.main.push_back(instruction(Opcode::Move, ElementType::F32, {elements}, memory(dst, 0, {4}), std::move(source)));
}
void loop(Code &code, int64_t trips) {
  Instruction begin;
  begin.opcode = Opcode::Loop;
  begin.extent[0] = Affine(trips);
  code.main.push_back(begin);
}
void endLoop(Code &code) {
  Instruction end;
  end.opcode = Opcode::EndLoop;
  code.main.push_back(end);
}

PackedScratch pack(Code &code, int64_t roomBytes = kRoom) {
  auto packed = packScratch(code, wse2(), roomBytes);
  EXPECT_TRUE(packed.ok()) << packed.status();
  return packed.ok() ? *packed : PackedScratch{};
}

int64_t bankOf(const Operand &operand) { return operand.base.constant / wse2().sramAccessBytes % wse2().sramBanks; }

} // namespace

TEST(PackScratch, DisjointLivesShareBytes) {
  Code code;
  auto first = code.scratch("first", ElementType::F32, 100), second = code.scratch("second", ElementType::F32, 50);
  move(code, first, 100, immediate(0));
  move(code, second, 50, immediate(0));
  PackedScratch packed = pack(code);
  EXPECT_EQ(packed.bytes, 400);
  EXPECT_EQ(packed.arena, 0);
  ASSERT_EQ(code.buffers.size(), 1u);
  EXPECT_EQ(code.buffers[0].bytes, 400);
  EXPECT_EQ(code.main[0].dst.base.constant, 0);
  EXPECT_EQ(code.main[1].dst.base.constant, 0);
}

TEST(PackScratch, LivesThatMeetAreApart) {
  Code code;
  auto first = code.scratch("first", ElementType::F32, 100), second = code.scratch("second", ElementType::F32, 50);
  move(code, first, 100, immediate(0));
  move(code, second, 50, memory(first, 0, {4}));
  EXPECT_EQ(pack(code, 0).bytes, 600);
}

TEST(PackScratch, ALoopKeepsItsBuffersAlive) {
  // What the loop's second instruction writes, its first reads in the next iteration.
  Code code;
  auto carried = code.scratch("carried", ElementType::F32, 8), before = code.scratch("before", ElementType::F32, 8);
  auto inside = code.scratch("inside", ElementType::F32, 8);
  move(code, before, 8, immediate(0));
  loop(code, 3);
  move(code, carried, 8, immediate(0));
  loop(code, 2);
  move(code, inside, 8, immediate(0));
  endLoop(code);
  endLoop(code);
  pack(code, 0);
  const int64_t a = code.main[2].dst.base.constant, b = code.main[4].dst.base.constant;
  EXPECT_GE(std::abs(a - b), 32);
  EXPECT_EQ(code.buffers[0].bytes, 64); // `before` shares with one of them
}

TEST(PackScratch, OperandsOfAnInstructionBeginInDifferentBanks) {
  Code code;
  auto a = code.scratch("a", ElementType::F32, 64), b = code.scratch("b", ElementType::F32, 64);
  auto sum = code.scratch("sum", ElementType::F32, 64);
  move(code, a, 64, immediate(1));
  move(code, b, 64, immediate(2));
  code.main.push_back(
      instruction(Opcode::Add, ElementType::F32, {32}, memory(sum, 0, {4}), memory(a, 128, {4}), memory(b, 0, {4})));
  Code tight = code;
  EXPECT_GT(pack(code).bytes, 768);
  const Instruction &add = code.main[2];
  EXPECT_NE(bankOf(add.dst), bankOf(add.a));
  EXPECT_NE(bankOf(add.dst), bankOf(add.b));
  EXPECT_NE(bankOf(add.a), bankOf(add.b));
  EXPECT_EQ(pack(tight, 768).bytes, 768); // no room for that
}

TEST(PackScratch, IndexedBuffersStayOnTheirOwn) {
  Code code;
  auto table = code.scratch("table", ElementType::F32, 10), numbers = code.scratch("numbers", ElementType::I32, 4);
  auto result = code.scratch("result", ElementType::F32, 4);
  move(code, table, 10, immediate(1));
  move(code, numbers, 4, immediate(0));
  code.main.push_back(instruction(Opcode::Gather, ElementType::F32, {4}, memory(result, 0, {4}), memory(table, 0, {4}),
                                  memory(numbers, 0, {4})));
  PackedScratch packed = pack(code, 0);
  ASSERT_EQ(code.buffers.size(), 2u);
  EXPECT_EQ(code.buffers[size_t(packed.newBuffer[size_t(table)])].bytes, 40);
  EXPECT_EQ(code.main[2].a.base.constant, 0);
  EXPECT_NE(code.main[2].a.buffer, packed.arena);
  EXPECT_EQ(code.main[2].dst.buffer, packed.arena);
  EXPECT_EQ(packed.bytes, 40 + 32);
}

TEST(PackScratch, OtherBuffersKeepTheirOrder) {
  Code code;
  auto unused = code.scratch("unused", ElementType::F32, 10), used = code.scratch("used", ElementType::F16, 3);
  Buffer weights;
  weights.name = "weights";
  weights.kind = BufferKind::Constant;
  weights.bytes = 16;
  code.buffers.push_back(weights);
  code.main.push_back(instruction(Opcode::Move, ElementType::F16, {3}, memory(used, 0, {2}), memory(2, 4, {2})));
  PackedScratch packed = pack(code);
  EXPECT_EQ(packed.newBuffer, (std::vector<int16_t>{-1, 1, 0}));
  EXPECT_EQ(packed.newBuffer[size_t(unused)], -1);
  EXPECT_EQ(code.buffers[0].name, "weights");
  EXPECT_EQ(code.main[0].a.buffer, 0);
  EXPECT_EQ(code.main[0].a.base.constant, 4);
  EXPECT_EQ(packed.bytes, 8); // whole multiples of 8
  Code empty;
  EXPECT_EQ(pack(empty).arena, -1);
}

TEST(PackScratch, RandomLivesNeverMeet) {
  const char *variable = std::getenv("WSC_SEED");
  const uint64_t first = variable ? std::strtoull(variable, nullptr, 10) : 1;
  for (uint64_t seed = first; seed < first + (variable ? 1 : 200); ++seed) {
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed));
    test::Draw draw(seed);
    Code code;
    std::vector<int64_t> elements;
    for (int64_t b = draw.in(1, 12); b > 0; --b) {
      elements.push_back(draw.in(1, 40));
      code.scratch("b", ElementType::F32, elements.back());
    }
    // Straight code; every instruction moves one buffer to another, or an immediate.
    std::vector<std::pair<int16_t, int16_t>> named;
    for (int64_t i = draw.in(1, 30); i > 0; --i) {
      const auto dst = int16_t(draw.in(0, int64_t(elements.size()) - 1)),
                 src = int16_t(draw.in(0, int64_t(elements.size()) - 1));
      named.emplace_back(dst, src);
      move(code, dst, std::min(elements[size_t(dst)], elements[size_t(src)]),
           dst == src ? immediate(0) : memory(src, 0, {4}));
    }
    const bool banks = draw.oneIn(2);
    PackedScratch packed = pack(code, banks ? kRoom : 0);
    struct Window {
      size_t from = SIZE_MAX, to = 0;
      int64_t begin = 0;
    };
    std::vector<Window> windows(elements.size());
    for (size_t i = 0; i < named.size(); ++i)
      for (auto [buffer, operand] :
           {std::pair(named[i].first, &code.main[i].dst), std::pair(named[i].second, &code.main[i].a)}) {
        if (operand->kind != OperandKind::Memory)
          continue;
        Window &window = windows[size_t(buffer)];
        EXPECT_TRUE(window.from == SIZE_MAX || window.begin == operand->base.constant);
        window.from = std::min(window.from, i);
        window.to = std::max(window.to, i);
        window.begin = operand->base.constant;
        EXPECT_EQ(window.begin % 8, 0);
        EXPECT_LE(window.begin + 4 * elements[size_t(buffer)], packed.bytes);
      }
    for (size_t x = 0; x < windows.size(); ++x)
      for (size_t y = 0; y < x; ++y)
        if (windows[x].from != SIZE_MAX && windows[y].from != SIZE_MAX && windows[x].from <= windows[y].to &&
            windows[y].from <= windows[x].to)
          EXPECT_TRUE(windows[x].begin + 4 * elements[x] <= windows[y].begin ||
                      windows[y].begin + 4 * elements[y] <= windows[x].begin)
              << x << " and " << y;
  }
}
