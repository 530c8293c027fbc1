// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of large buffers that are copied out where the buffer is complete: which copies move, and where to.
#include "compiler/spmd/program/EarlySlices.h"

#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::format;
using spmd::Code;
using spmd::immediate;
using spmd::instruction;
using spmd::memory;

namespace {

class EarlySlices : public testing::Test {
protected:
  Code code;
  int16_t made = code.scratch("made", ElementType::F32, 100);
  int16_t part = code.scratch("part", ElementType::F32, 20);
  int16_t others = code.scratch("others", ElementType::F32, 20);
  int16_t result = code.scratch("result", ElementType::F32, 20);

  static Operand at(int16_t buffer, int64_t element = 0) { return memory(buffer, element * 4, {4}); }
  void move(Operand dst, Operand source, int64_t elements) {
    code.append(instruction(Opcode::Move, ElementType::F32, {elements}, std::move(dst), std::move(source)), {});
  }
  void scale(int16_t dst, int16_t source) {
    code.append(instruction(Opcode::Mul, ElementType::F32, {20}, at(dst), at(source), immediate(2)), {});
  }
  // The buffers that instructions write, in order.
  std::vector<int16_t> written() const {
    std::vector<int16_t> buffers;
    for (const Instruction &instruction : code.main)
      buffers.push_back(instruction.dst.buffer);
    return buffers;
  }
};

} // namespace

TEST_F(EarlySlices, APartIsTakenWhereItsSourceIsComplete) {
  move(at(made), immediate(1), 100);
  scale(others, others);
  move(at(part), at(made, 40), 20);
  code.guards.resize(2);
  code.guards.push_back(spmd::Guard{.rowBegin = 3});
  scale(result, part);
  EXPECT_EQ(spmd::takeSlicesEarly(code), 1);
  EXPECT_EQ(written(), (std::vector<int16_t>{made, part, others, result}));
  EXPECT_EQ(code.main[1].a, at(made, 40));
  EXPECT_EQ(code.guards[1].rowBegin, 3);
  EXPECT_EQ(code.guards[2].rowBegin, 0);
  EXPECT_EQ(spmd::takeSlicesEarly(code), 0) << "it is there";
}

TEST_F(EarlySlices, PartsThatSomebodyReadsBetweenStayBehindThatReader) {
  move(at(made), immediate(1), 100);
  move(at(part), at(made, 40), 20);
  scale(result, made);
  scale(others, others);
  const int16_t late = code.scratch("late", ElementType::F32, 10);
  move(at(late), at(made), 10);
  EXPECT_EQ(spmd::takeSlicesEarly(code), 1);
  EXPECT_EQ(written(), (std::vector<int16_t>{made, part, result, late, others}));
}

TEST_F(EarlySlices, TheLastOnesMoveThatTakeHalfOfTheRoom) {
  // Queries, keys and values of all tokens: keys are read at once, values behind the softmax.
  const int16_t keys = code.scratch("keys", ElementType::F32, 40);
  const int16_t values = code.scratch("values", ElementType::F32, 40);
  move(at(made), immediate(1), 100);
  move(at(keys), at(made, 20), 40);
  scale(others, keys);
  move(at(values), at(made, 60), 40);
  EXPECT_EQ(spmd::takeSlicesEarly(code), 1);
  EXPECT_EQ(written(), (std::vector<int16_t>{made, keys, values, others}));
}

TEST_F(EarlySlices, CopiesOfALoopsResultFollowTheLoop) {
  code.append(instruction(Opcode::Loop, ElementType::F32, {2}, {}, {}), {});
  move(at(made), immediate(1), 100);
  code.append(instruction(Opcode::EndLoop, ElementType::F32, {1}, {}, {}), {});
  scale(others, others);
  move(at(part), at(made, 40), 20);
  EXPECT_EQ(spmd::takeSlicesEarly(code), 1);
  EXPECT_EQ(code.main[2].opcode, Opcode::EndLoop);
  EXPECT_EQ(code.main[3].dst.buffer, part);
}

TEST_F(EarlySlices, NothingMovesThatHoldsMoreOrThatOthersNameBefore) {
  // More than half of the source.
  const int16_t most = code.scratch("most", ElementType::F32, 60);
  move(at(made), immediate(1), 100);
  scale(others, others);
  move(at(most), at(made), 60);
  EXPECT_EQ(spmd::takeSlicesEarly(code), 0);
  // The destination holds something else meanwhile.
  code.main.pop_back();
  scale(part, others);
  move(at(part), at(made), 20);
  EXPECT_EQ(spmd::takeSlicesEarly(code), 0);
  // The source is written again behind the copy.
  code.main.pop_back();
  move(at(result), at(made), 20);
  move(at(made), immediate(2), 100);
  EXPECT_EQ(spmd::takeSlicesEarly(code), 0);
}
