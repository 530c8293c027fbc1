// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instructions local nests become, for the forms that layers take, and what is refused.
#include "OneCore.h"

#include "test/support/NetworkBuilder.h"
#include "test/support/NetworkReference.h"

#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::test;
using format::ElementType;
using format::Opcode;
using spmd::BodyValue;
using spmd::LocalNest;
using spmd::Nest;

namespace {

const BodyValue x0 = BodyValue::operand(0), x1 = BodyValue::operand(1);

// "loop 3, fma 4x5, end_loop": opcode, and extents that are not 1 (a single element: 1).
std::string listing(const format::Thread &thread) {
  std::string text;
  for (const format::Instruction &instruction : thread) {
    text += (text.empty() ? "" : ", ") + std::string(format::opcodeInfo(instruction.opcode).name);
    std::string extents;
    for (const format::Affine &extent : instruction.extent)
      if (extent.constant != 1)
        extents += (extents.empty() ? "" : "x") + std::to_string(extent.constant);
    if (instruction.opcode != Opcode::EndLoop)
      text += " " + (extents.empty() ? "1" : extents);
  }
  return text;
}

// A nest whose operands and result are dense, each in a buffer of its own.
struct Example {
  NetworkBuilder net;
  Nest nest;
  Core core;
  int64_t temporaryBytes = 1 << 14;
  bool partial = false;

  Example(std::vector<int64_t> extents, int32_t numParallel, ElementType type = ElementType::F32) {
    const std::vector<int64_t> shape(extents.begin(), extents.begin() + numParallel);
    nest = nestOver(std::move(extents), numParallel, net.value("y", type, shape));
  }
  void operand(ElementType type, std::vector<int64_t> shape, const std::vector<std::vector<int64_t>> &map) {
    nest.operands.push_back(read(net.input("x", type, std::move(shape)), map));
  }
  void reduce(Opcode opcode, ElementType type, std::vector<BodyValue> values) {
    nest.reduction = {opcode, type, 0};
    nest.values = std::move(values);
    nest.resultValue = BodyValue::reduced();
  }

  absl::Status emit() {
    local.nest = &nest;
    local.extents = nest.extents;
    local.partial = partial;
    for (size_t i = 0; i < nest.operands.size(); ++i) {
      const spmd::Tensor &tensor = net.network.tensors[size_t(nest.operands[i].tensor)];
      Layout layout = dense(tensor.shape, tensor.type);
      int16_t buffer = core.constant("x", tensor.type, std::vector<std::byte>(size_t(layout.bytes)));
      local.operandTypes.push_back(tensor.type);
      local.operands.push_back(localOperand(nest.operands[i], tensor.shape, layout, nest.extents.size(), buffer));
    }
    const spmd::Tensor &result = net.network.tensors[size_t(nest.result)];
    Layout layout = dense(result.shape, result.type);
    local.result = {core.state("y", result.type, layout.bytes), 0, layout.stride, 0, 0};
    local.resultType = result.type;
    return emitNest(core.code, local, temporaryBytes);
  }
  // The code; it passes the verifier and runs.
  std::string code() {
    absl::Status status = emit();
    EXPECT_TRUE(status.ok()) << status;
    core.run();
    return listing(core.code.main);
  }
  int64_t scratchBytes() const {
    int64_t bytes = 0;
    for (const format::Buffer &buffer : core.code.buffers)
      bytes += buffer.kind == format::BufferKind::Scratch ? buffer.bytes : 0;
    return bytes;
  }
  LocalNest local;
};

} // namespace

TEST(LocalNestCode, ElementwiseIsOneInstruction) {
  Example add({2, 3, 4}, 3);
  add.operand(ElementType::F32, {2, 3, 4}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  add.operand(ElementType::F32, {4}, {{0, 0, 1}});
  add.nest.body = {bodyOp(Opcode::Add, ElementType::F32, x0, x1)};
  add.nest.resultValue = BodyValue::operation(0);
  EXPECT_EQ(add.code(), "add 6x4");
}

TEST(LocalNestCode, ChainsStayInTheResult) {
  // tanh(2·x + 1) / 2: every value takes the place of the one before.
  Example chain({100}, 1);
  chain.operand(ElementType::F32, {100}, {{1}});
  chain.nest.body = {bodyOp(Opcode::Fma, ElementType::F32, x0, BodyValue::constant(2), BodyValue::constant(1)),
                     bodyOp(Opcode::Tanh, ElementType::F32, BodyValue::operation(0)),
                     bodyOp(Opcode::Mul, ElementType::F32, BodyValue::operation(1), BodyValue::constant(0.5))};
  chain.nest.resultValue = BodyValue::operation(2);
  chain.temporaryBytes = 8;
  EXPECT_EQ(chain.code(), "move 100, fma 100, tanh 100, mul 100");
  EXPECT_EQ(chain.scratchBytes(), 0);
}

TEST(LocalNestCode, SelectTakesTheOtherValueWhereItLies) {
  // x < 0 ? exp(x) : x + 1: the sum is computed in the result, then overwritten where the condition holds.
  Example select({100}, 1);
  select.operand(ElementType::F32, {100}, {{1}});
  select.nest.body = {bodyOp(Opcode::CompareLt, ElementType::F32, x0, BodyValue::constant(0)),
                      bodyOp(Opcode::Exp, ElementType::F32, x0),
                      bodyOp(Opcode::Add, ElementType::F32, x0, BodyValue::constant(1)),
                      bodyOp(Opcode::Select, ElementType::F32, BodyValue::operation(1), BodyValue::operation(2),
                             BodyValue::operation(0))};
  select.nest.resultValue = BodyValue::operation(3);
  EXPECT_EQ(select.code(), "compare_lt 100, exp 100, add 100, select 100");
  EXPECT_EQ(select.scratchBytes(), 800);
}

TEST(LocalNestCode, ContractionIsAnOuterProductPerPointOfTheReduction) {
  Example matmul({8, 16, 64}, 2);
  matmul.operand(ElementType::F32, {8, 64}, {{1, 0, 0}, {0, 0, 1}});
  matmul.operand(ElementType::F32, {64, 16}, {{0, 0, 1}, {0, 1, 0}});
  matmul.reduce(Opcode::Fma, ElementType::F32, {x0, x1});
  EXPECT_EQ(matmul.code(), "move 128, loop 64, fma 8x16, end_loop");
  // The result and one operand walk unit strides along the innermost dimension.
  const format::Instruction &fma = matmul.core.code.main[2];
  EXPECT_EQ(fma.dst.stride[3], 4);
  EXPECT_EQ(fma.a.stride[3], 0);
  EXPECT_EQ(fma.b.stride[3], 4);
}

TEST(LocalNestCode, ConvolutionLoopsOverTaps) {
  // y[co, h, w] = Σ x[ci, h + kh, w + kw] · f[co, ci, kh, kw]; channels and rows of taps of x do not walk evenly.
  Example conv({4, 6, 5, 2, 3, 3}, 3);
  conv.operand(ElementType::F32, {2, 8, 7}, {{0, 0, 0, 1, 0, 0}, {0, 1, 0, 0, 1, 0}, {0, 0, 1, 0, 0, 1}});
  conv.operand(ElementType::F32, {4, 2, 3, 3},
               {{1, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 1}});
  conv.reduce(Opcode::Fma, ElementType::F32, {x0, x1});
  EXPECT_EQ(conv.code(), "move 120, loop 2, loop 3, loop 3, fma 4x6x5, end_loop, end_loop, end_loop");
}

TEST(LocalNestCode, ConversionsOfOperandsAreOverTheirOwnIterators) {
  // i8 × i32 → i32: 12 elements are converted, not the 72 of the whole iteration space.
  Example matmul({3, 6, 4}, 2, ElementType::I32);
  matmul.operand(ElementType::I8, {3, 4}, {{1, 0, 0}, {0, 0, 1}});
  matmul.operand(ElementType::I32, {4, 6}, {{0, 0, 1}, {0, 1, 0}});
  matmul.nest.body = {convertOp(ElementType::I8, ElementType::I32, x0)};
  matmul.reduce(Opcode::Fma, ElementType::I32, {BodyValue::operation(0), x1});
  EXPECT_EQ(matmul.code(), "move 18, convert 4x3, loop 4, fma 3x6, end_loop");
}

TEST(LocalNestCode, InstructionsWidenNarrowOperandsThemselves) {
  // f16 × f16 → f32 and Σ f16 → f32 take no conversions.
  Example matmul({3, 6, 4}, 2);
  matmul.operand(ElementType::F16, {3, 4}, {{1, 0, 0}, {0, 0, 1}});
  matmul.operand(ElementType::F16, {4, 6}, {{0, 0, 1}, {0, 1, 0}});
  matmul.nest.body = {convertOp(ElementType::F16, ElementType::F32, x0),
                      convertOp(ElementType::F16, ElementType::F32, x1)};
  matmul.reduce(Opcode::Fma, ElementType::F32, {BodyValue::operation(0), BodyValue::operation(1)});
  EXPECT_EQ(matmul.code(), "move 18, loop 4, fma 3x6, end_loop");
  const format::Instruction &fma = matmul.core.code.main[2];
  EXPECT_TRUE(fma.mixed);
  EXPECT_EQ(fma.sourceType, ElementType::F16);
  EXPECT_EQ(fma.b.stride[3], 2); // along which the result and one operand walk unit strides

  Example sum({8, 64}, 1);
  sum.operand(ElementType::BF16, {8, 64}, {{1, 0}, {0, 1}});
  sum.nest.body = {convertOp(ElementType::BF16, ElementType::F32, x0)};
  sum.reduce(Opcode::ReduceAdd, ElementType::F32, {BodyValue::operation(0)});
  EXPECT_EQ(sum.code(), "move 8, reduce_add 8x64");
}

TEST(LocalNestCode, ConversionsStayWhereAnInstructionNeedsThem) {
  // x + 1 in f32: an immediate is of the sources' type, and f16 may not hold it.
  Example add({100}, 1);
  add.operand(ElementType::F16, {100}, {{1}});
  add.nest.body = {convertOp(ElementType::F16, ElementType::F32, x0),
                   bodyOp(Opcode::Add, ElementType::F32, BodyValue::operation(0), BodyValue::constant(1))};
  add.nest.resultValue = BodyValue::operation(1);
  EXPECT_EQ(add.code(), "convert 100, add 100");
}

TEST(LocalNestCode, ReductionsRunInsideAnInstruction) {
  Example sum({8, 64}, 1);
  sum.operand(ElementType::F32, {8, 64}, {{1, 0}, {0, 1}});
  sum.reduce(Opcode::ReduceAdd, ElementType::F32, {x0});
  EXPECT_EQ(sum.code(), "move 8, reduce_add 8x64");
}

TEST(LocalNestCode, FinishWorksInPlace) {
  // 1 / sqrt(Σ x² / 64)
  Example norm({8, 64}, 1);
  norm.operand(ElementType::F32, {8, 64}, {{1, 0}, {0, 1}});
  norm.nest.body = {bodyOp(Opcode::Mul, ElementType::F32, x0, x0)};
  norm.reduce(Opcode::ReduceAdd, ElementType::F32, {BodyValue::operation(0)});
  norm.nest.finish = {bodyOp(Opcode::Div, ElementType::F32, BodyValue::reduced(), BodyValue::constant(64)),
                      bodyOp(Opcode::Rsqrt, ElementType::F32, BodyValue::operation(1))};
  norm.nest.resultValue = BodyValue::operation(2);
  EXPECT_EQ(norm.code(), "move 8, mul 512, reduce_add 8x64, div 8, rsqrt 8");
  EXPECT_EQ(norm.scratchBytes(), 4 * 512);
}

TEST(LocalNestCode, AccumulatorsOfAnotherTypeAreConverted) {
  Example matmul({2, 3, 4}, 2, ElementType::F16);
  matmul.operand(ElementType::F32, {2, 4}, {{1, 0, 0}, {0, 0, 1}});
  matmul.operand(ElementType::F32, {4, 3}, {{0, 0, 1}, {0, 1, 0}});
  matmul.reduce(Opcode::Fma, ElementType::F32, {x0, x1});
  EXPECT_EQ(matmul.code(), "move 6, loop 4, fma 2x3, end_loop, convert 6");
}

TEST(LocalNestCode, PartialSumsAreLeftAsTheyAre) {
  Example matmul({2, 3, 4}, 2);
  matmul.operand(ElementType::F32, {2, 4}, {{1, 0, 0}, {0, 0, 1}});
  matmul.operand(ElementType::F32, {4, 3}, {{0, 0, 1}, {0, 1, 0}});
  matmul.reduce(Opcode::Fma, ElementType::F32, {x0, x1});
  matmul.nest.finish = {bodyOp(Opcode::Exp, ElementType::F32, BodyValue::reduced())};
  matmul.nest.resultValue = BodyValue::operation(0);
  matmul.partial = true;
  EXPECT_EQ(matmul.code(), "move 6, loop 4, fma 2x3, end_loop");
  matmul.local.partial = false;
  ASSERT_TRUE(finishNest(matmul.core.code, matmul.local, matmul.local.result, 64).ok());
  EXPECT_EQ(listing(matmul.core.code.main), "move 6, loop 4, fma 2x3, end_loop, exp 6");
}

TEST(LocalNestCode, AccumulatorsInTheResultsPlace) {
  // Sums of f32 become f16 where they lie, every second element unused; the narrower ones cannot be written in place.
  Example sum({4, 3}, 1, ElementType::F16);
  sum.operand(ElementType::F32, {4, 3}, {{1, 0}, {0, 1}});
  sum.reduce(Opcode::ReduceAdd, ElementType::F32, {x0});
  sum.nest.finish = {bodyOp(Opcode::Add, ElementType::F32, BodyValue::reduced(), BodyValue::constant(1)),
                     convertOp(ElementType::F32, ElementType::F16, BodyValue::operation(0))};
  sum.nest.resultValue = BodyValue::operation(1);
  sum.local.nest = &sum.nest;
  sum.local.extents = sum.nest.extents;
  sum.local.operandTypes = {ElementType::F32};
  const int16_t x = sum.core.constant("x", ElementType::F32, elementsOf(ElementType::F32, std::vector<double>(12, 2)));
  const int16_t y = sum.core.state("y", ElementType::F16, 16);
  sum.local.operands = {{x, 0, {12, 4}, 0, 0}};
  sum.local.result = {y, 0, {4}, 0, 0};
  sum.local.resultType = ElementType::F16;
  sum.local.partial = true;
  ASSERT_TRUE(emitNest(sum.core.code, sum.local, 64).ok());
  ASSERT_TRUE(finishNest(sum.core.code, sum.local, sum.local.result, 64).ok());
  EXPECT_EQ(listing(sum.core.code.main), "move 4, reduce_add 4x3, add 4, convert 4, move 4");
  const std::vector<std::byte> bytes = sum.core.run();
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(valuesOf(ElementType::F16, {bytes.begin() + std::ptrdiff_t(4 * i), bytes.end()})[0], 7);
}

TEST(LocalNestCode, LargeTemporariesAreSliced) {
  // Σ exp(x): 1,024 values, room for 256 at a time; those of 1,000 are cut evenly, and the last 500 need no code of
  // their own.
  for (auto [elements, text] : {std::pair(1024, "move 1, loop 4, exp 256, reduce_add 256, end_loop"),
                                std::pair(500, "move 1, loop 2, exp 250, reduce_add 250, end_loop"),
                                std::pair(257, "move 1, exp 129, reduce_add 129, exp 128, reduce_add 128")}) {
    Example sum({elements}, 0);
    sum.operand(ElementType::F32, {elements}, {{1}});
    sum.nest.body = {bodyOp(Opcode::Exp, ElementType::F32, x0)};
    sum.reduce(Opcode::ReduceAdd, ElementType::F32, {BodyValue::operation(0)});
    sum.temporaryBytes = 1024;
    EXPECT_EQ(sum.code(), text);
  }
}

TEST(LocalNestCode, GatherWalksNumbersInnermost) {
  // y[i, c] = table[numbers[i], c]: the numbers are the innermost dimension, columns of the table the outer one.
  Example gather({10, 4}, 2);
  gather.operand(ElementType::F32, {7, 4}, {{0, 0}, {0, 1}});
  gather.operand(ElementType::I32, {10}, {{1, 0}});
  gather.nest.operands[0].gatherDim = 0;
  gather.nest.operands[0].gatherIndices = 1;
  gather.nest.resultValue = x0;
  // The table ends with its buffer: the machine clamps numbers beyond it.
  EXPECT_EQ(gather.code(), "gather 4x10");
}

TEST(LocalNestCode, NumbersBeyondAWindowAreCut) {
  Example gather({10}, 1);
  gather.operand(ElementType::F32, {7, 2}, {{0}, {0}});
  gather.operand(ElementType::I32, {10}, {{1}});
  gather.nest.operands[0].gatherDim = 1; // of 14 elements, numbers reach 2
  gather.nest.operands[0].gatherIndices = 1;
  gather.nest.resultValue = x0;
  EXPECT_EQ(gather.code(), "min 10, gather 10");
}

TEST(LocalNestCode, DimensionsBeyondFourAreLoops) {
  // A transposition of six dimensions, of which no two neighbours stay so.
  Example transpose({2, 3, 4, 5, 3, 2}, 6);
  std::vector<std::vector<int64_t>> map(6, std::vector<int64_t>(6, 0));
  for (size_t d = 0; d < 6; ++d)
    map[d][5 - d] = 1;
  transpose.operand(ElementType::U8, {2, 3, 5, 4, 3, 2}, map);
  transpose.net.network.tensors[size_t(transpose.nest.result)].type = ElementType::U8;
  transpose.nest.resultValue = x0;
  EXPECT_EQ(transpose.code(), "loop 2, loop 2, move 3x4x5x3, end_loop, end_loop");
}

TEST(LocalNestCode, NothingToDo) {
  Example none({0, 3}, 2);
  none.operand(ElementType::F32, {1, 3}, {{0, 0}, {0, 1}});
  none.nest.resultValue = x0;
  ASSERT_TRUE(none.emit().ok());
  EXPECT_EQ(listing(none.core.code.main), "");
  Example sum({3, 0}, 1);
  sum.operand(ElementType::F32, {3}, {{1, 0}});
  sum.reduce(Opcode::ReduceAdd, ElementType::F32, {x0});
  EXPECT_EQ(sum.code(), "move 3");
}

TEST(LocalNestCode, ResultInPlaceOfAnOperand) {
  // x ← x · Σ_k w[i, k]: the sums must not overwrite x before it is read.
  Example scale({4, 3}, 1);
  scale.operand(ElementType::F32, {4}, {{1, 0}});
  scale.operand(ElementType::F32, {4, 3}, {{1, 0}, {0, 1}});
  scale.reduce(Opcode::ReduceAdd, ElementType::F32, {x1});
  scale.nest.finish = {bodyOp(Opcode::Mul, ElementType::F32, x0, BodyValue::reduced())};
  scale.nest.resultValue = BodyValue::operation(0);
  scale.local.nest = &scale.nest;
  scale.local.extents = {4, 3};
  scale.local.operandTypes = {ElementType::F32, ElementType::F32};
  const int16_t weights =
      scale.core.constant("w", ElementType::F32, elementsOf(ElementType::F32, std::vector<double>(12, 2)));
  const int16_t state = scale.core.state("x", ElementType::F32, 16);
  scale.local.operands = {{state, 0, {4, 0}, 0, 0}, {weights, 0, {12, 4}, 0, 0}};
  scale.local.result = {state, 0, {4}, 0, 0};
  spmd::Code &code = scale.core.code;
  code.main = {spmd::instruction(Opcode::Move, ElementType::F32, {4}, spmd::memory(state, 0, {4}), spmd::immediate(5))};
  ASSERT_TRUE(emitNest(code, scale.local, 64).ok());
  EXPECT_EQ(scale.core.run(), elementsOf(ElementType::F32, {30, 30, 30, 30}));
}

TEST(LocalNestCode, Errors) {
  auto sum = [](Opcode opcode, ElementType type) {
    Example example({2, 3}, 1);
    example.operand(ElementType::F32, {2, 3}, {{1, 0}, {0, 1}});
    example.reduce(opcode, type, {x0});
    return example;
  };
  EXPECT_EQ(sum(Opcode::ReduceAdd, ElementType::I32).emit().message(),
            "nest nest: the reduction takes a value of type f32 as i32; convert it first");
  EXPECT_EQ(sum(Opcode::Fma, ElementType::F32).emit().message(), "nest nest: 1 reduced values, it has 2");
  Example unknown = sum(Opcode::ReduceAdd, ElementType::F32);
  unknown.nest.body = {bodyOp(Opcode::Exp, ElementType::F32, BodyValue::operation(0))};
  EXPECT_EQ(unknown.emit().message(), "nest nest: operation 0 uses operation 0, in reach are 0 to -1");
  Example early = sum(Opcode::ReduceAdd, ElementType::F32);
  early.nest.body = {bodyOp(Opcode::Exp, ElementType::F32, BodyValue::reduced())};
  EXPECT_EQ(early.emit().message(),
            "nest nest: operation 0 uses the reduced value, which is known only behind a reduction");

  Example room({16}, 0);
  room.operand(ElementType::F64, {16}, {{1}});
  room.nest.body = {bodyOp(Opcode::Exp, ElementType::F64, x0)};
  room.reduce(Opcode::ReduceAdd, ElementType::F64, {BodyValue::operation(0)});
  room.temporaryBytes = 4;
  EXPECT_EQ(room.emit().message(),
            "nest nest: temporaries of 4 bytes do not hold single elements of all values; distribute more of its "
            "iterators over cores, or give temporaries more room");

  Example deep({2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, 0);
  std::vector<std::vector<int64_t>> map(10, std::vector<int64_t>(10, 0));
  for (size_t d = 0; d < 10; ++d)
    map[d][9 - d] = 1;
  deep.operand(ElementType::U8, std::vector<int64_t>(10, 2), map);
  deep.reduce(Opcode::ReduceAdd, ElementType::U8, {x0});
  EXPECT_EQ(deep.emit().message(),
            "nest nest: reduce_add over 10 dimensions needs 6 loops beside its extents inside 0 others, limit is 4 in "
            "all; distribute more of its iterators over cores, or give temporaries more room");
}
