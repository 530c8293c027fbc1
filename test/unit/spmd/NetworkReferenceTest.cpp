// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference evaluator on cases small enough to compute by hand.
#include "test/support/NetworkReference.h"
#include "test/support/NetworkBuilder.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::test;
using format::ElementType;
using format::Opcode;
using spmd::BodyValue;
using spmd::Nest;
using spmd::Piece;
using spmd::Remap;

namespace {

std::vector<double> outputOf(const NetworkBuilder &net, const std::vector<std::vector<std::byte>> &inputs,
                             ElementType type = ElementType::F32, Arithmetic arithmetic = Arithmetic::Exact) {
  auto values = evaluate(net.network, inputs, {}, arithmetic);
  EXPECT_TRUE(values.ok()) << values.status();
  return values.ok() ? valuesOf(type, values->outputs[0]) : std::vector<double>{};
}

Remap remapTo(spmd::TensorId result, std::vector<Piece> pieces, double fill = 0) {
  Remap remap;
  remap.result = result;
  remap.pieces = std::move(pieces);
  remap.fill = fill;
  return remap;
}

} // namespace

TEST(NetworkReference, Contraction) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {2, 3}), y = net.value("y", ElementType::F32, {2, 2});
  auto w = net.constant("w", ElementType::F32, {3, 2}, {1, 2, 3, 4, 5, 6});
  Nest nest = nestOver({2, 2, 3}, 2, y);
  nest.operands = {read(x, {{1, 0, 0}, {0, 0, 1}}), read(w, {{0, 0, 1}, {0, 1, 0}})};
  nest.reduction = {Opcode::Fma, ElementType::F32, 0};
  nest.values = {BodyValue::operand(0), BodyValue::operand(1)};
  nest.resultValue = BodyValue::reduced();
  net.add(nest);
  net.output(y);
  EXPECT_EQ(outputOf(net, {elementsOf(ElementType::F32, {1, 0, 2, -1, 1, 0})}), (std::vector<double>{11, 14, 2, 2}));
}

TEST(NetworkReference, SumsGoUpwards) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {3}), sum = net.value("sum", ElementType::F32, {});
  Nest nest = nestOver({3}, 0, sum);
  nest.operands = {read(x, {{1}})};
  nest.values = {BodyValue::operand(0)};
  nest.reduction = {Opcode::ReduceAdd, ElementType::F32, 0};
  nest.resultValue = BodyValue::reduced();
  net.add(nest);
  net.output(sum);
  // (2^24 + 1) + 1 stays 2^24 in f32, (1 + 1) + 2^24 does not.
  EXPECT_EQ(outputOf(net, {elementsOf(ElementType::F32, {0x1p24, 1, 1})}), (std::vector<double>{0x1p24}));
  EXPECT_EQ(outputOf(net, {elementsOf(ElementType::F32, {1, 1, 0x1p24})}), (std::vector<double>{0x1p24 + 2}));
}

TEST(NetworkReference, MultiplyAddsRoundOnce) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {1}), y = net.value("y", ElementType::F32, {});
  Nest nest = nestOver({1}, 0, y);
  nest.operands = {read(x, {{1}})};
  nest.values = {BodyValue::operand(0), BodyValue::operand(0)};
  nest.reduction = {Opcode::Fma, ElementType::F32, -1};
  nest.resultValue = BodyValue::reduced();
  net.add(nest);
  net.output(y);
  // The square of 1 + 2^-12 has 25 bits; the last of them survives the subtraction of 1.
  EXPECT_EQ(outputOf(net, {elementsOf(ElementType::F32, {1 + 0x1p-12})}), (std::vector<double>{0x1p-11 + 0x1p-24}));
}

TEST(NetworkReference, DoubleArithmeticRoundsNothingOfF32) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {3}), sum = net.value("sum", ElementType::F32, {});
  Nest nest = nestOver({3}, 0, sum);
  nest.operands = {read(x, {{1}})};
  nest.values = {BodyValue::operand(0)};
  nest.reduction = {Opcode::ReduceAdd, ElementType::F32, 0};
  nest.resultValue = BodyValue::reduced();
  net.add(nest);
  net.output(sum);
  EXPECT_EQ(outputOf(net, {elementsOf(ElementType::F32, {0x1p24, 1, 1})}, ElementType::F64, Arithmetic::Double)[0],
            0x1p24 + 2);
  EXPECT_EQ(computedType(ElementType::I8, Arithmetic::Double), ElementType::I8);
}

TEST(NetworkReference, WindowsReadPadding) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::I8, {4}), y = net.value("y", ElementType::I8, {4});
  Nest nest = nestOver({4, 3}, 1, y);
  nest.operands = {read(x, {{1, 1}}, {-1})};
  nest.operands[0].padding = -128;
  nest.values = {BodyValue::operand(0)};
  nest.reduction = {Opcode::ReduceMax, ElementType::I8, -128};
  nest.resultValue = BodyValue::reduced();
  net.add(nest);
  net.output(y);
  EXPECT_EQ(outputOf(net, {elementsOf(ElementType::I8, {-5, -7, -9, -9})}, ElementType::I8),
            (std::vector<double>{-5, -5, -7, -9}));
}

TEST(NetworkReference, BodyAndFinish) {
  // y[m] = 10 - Σ_k |x[m, k]|, sums in i32, result in f16.
  NetworkBuilder net;
  auto x = net.input("x", ElementType::I8, {2, 3}), y = net.value("y", ElementType::F16, {2});
  Nest nest = nestOver({2, 3}, 1, y);
  nest.operands = {read(x, {{1, 0}, {0, 1}})};
  nest.body = {convertOp(ElementType::I8, ElementType::I32, BodyValue::operand(0)),
               bodyOp(Opcode::Abs, ElementType::I32, BodyValue::operation(0))};
  nest.values = {BodyValue::operation(1)};
  nest.reduction = {Opcode::ReduceAdd, ElementType::I32, 0};
  nest.finish = {bodyOp(Opcode::Sub, ElementType::I32, BodyValue::constant(10), BodyValue::reduced()),
                 convertOp(ElementType::I32, ElementType::F16, BodyValue::operation(2))};
  nest.resultValue = BodyValue::operation(3);
  net.add(nest);
  net.output(y);
  EXPECT_EQ(outputOf(net, {elementsOf(ElementType::I8, {1, -2, 3, 100, -100, 100})}, ElementType::F16),
            (std::vector<double>{4, -290}));
}

TEST(NetworkReference, SelectAndMultiplyAddOfABody) {
  // y = x < 0 ? -x : 2·x + 1
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {3}), y = net.value("y", ElementType::F32, {3});
  Nest nest = nestOver({3}, 1, y);
  nest.operands = {read(x, {{1}})};
  auto value = BodyValue::operand(0);
  nest.body = {bodyOp(Opcode::CompareLt, ElementType::F32, value, BodyValue::constant(0)),
               bodyOp(Opcode::Neg, ElementType::F32, value),
               bodyOp(Opcode::Fma, ElementType::F32, value, BodyValue::constant(2), BodyValue::constant(1)),
               bodyOp(Opcode::Select, ElementType::F32, BodyValue::operation(1), BodyValue::operation(2),
                      BodyValue::operation(0))};
  nest.values = {BodyValue::operation(3)};
  nest.resultValue = BodyValue::operation(3);
  net.add(nest);
  net.output(y);
  EXPECT_EQ(outputOf(net, {elementsOf(ElementType::F32, {-4, 0, 3})}), (std::vector<double>{4, 1, 7}));
}

TEST(NetworkReference, GatheredNumbersAreClamped) {
  NetworkBuilder net;
  auto numbers = net.input("numbers", ElementType::I32, {4}), y = net.value("y", ElementType::F32, {4, 2});
  auto table = net.constant("table", ElementType::F32, {3, 2}, {0, 1, 10, 11, 20, 21});
  Nest nest = nestOver({4, 2}, 2, y);
  nest.operands = {read(table, {{0, 0}, {0, 1}}), read(numbers, {{1, 0}})};
  nest.operands[0].gatherDim = 0;
  nest.operands[0].gatherIndices = 1;
  nest.values = {BodyValue::operand(0)};
  nest.resultValue = BodyValue::operand(0);
  net.add(nest);
  net.output(y);
  EXPECT_EQ(outputOf(net, {elementsOf(ElementType::I32, {1, -7, 2, 99})}),
            (std::vector<double>{10, 11, 0, 1, 20, 21, 20, 21}));
}

TEST(NetworkReference, Remaps) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::U8, {2, 3});
  auto transposed = net.value("transposed", ElementType::U8, {3, 2});
  auto padded = net.value("padded", ElementType::U8, {4});
  auto reversed = net.value("reversed", ElementType::U8, {6});
  net.add(remapTo(transposed, {{x, 0, 0, {{2, 3, 1}, {3, 1, 2}}}}));
  net.add(remapTo(padded, {{x, 1, 1, {{2, 1, 1}}}}, 300)); // the fill is rounded to u8
  net.add(remapTo(reversed, {{x, 5, 0, {{6, -1, 1}}}}));
  for (auto result : {transposed, padded, reversed})
    net.output(result);
  auto values = evaluate(net.network, {elementsOf(ElementType::U8, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->outputs[0], elementsOf(ElementType::U8, {1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values->outputs[1], elementsOf(ElementType::U8, {255, 2, 3, 255}));
  EXPECT_EQ(values->outputs[2], elementsOf(ElementType::U8, {6, 5, 4, 3, 2, 1}));
}

TEST(NetworkReference, StatesPassFromSampleToSample) {
  NetworkBuilder net;
  auto before = net.value("before", ElementType::I32, {2}), after = net.value("after", ElementType::I32, {2});
  Nest nest = nestOver({2}, 1, after);
  nest.operands = {read(before, {{1}})};
  nest.body = {bodyOp(Opcode::Add, ElementType::I32, BodyValue::operand(0), BodyValue::constant(3))};
  nest.values = {BodyValue::operation(0)};
  nest.resultValue = BodyValue::operation(0);
  net.add(nest);
  net.network.states = {{"count", ElementType::I32, {2}, {}, before, after}};
  auto first = evaluate(net.network, {});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->states[0], elementsOf(ElementType::I32, {3, 3}));
  auto second = evaluate(net.network, {}, first->states);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->states[0], elementsOf(ElementType::I32, {6, 6}));
}

TEST(NetworkReference, NothingToReduceLeavesTheInitialValue) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {2, 0}), y = net.value("y", ElementType::F32, {2});
  Nest nest = nestOver({2, 0}, 1, y);
  nest.operands = {read(x, {{1, 0}, {0, 1}})};
  nest.values = {BodyValue::operand(0)};
  nest.reduction = {Opcode::ReduceMul, ElementType::F32, 1};
  nest.resultValue = BodyValue::reduced();
  net.add(nest);
  net.output(y);
  EXPECT_EQ(outputOf(net, {{}}), (std::vector<double>{1, 1}));
}

TEST(NetworkReference, ConstantsOfFiles) {
  std::string path = ::testing::TempDir() + "network-reference-constant.bin";
  std::vector<std::byte> bytes = elementsOf(ElementType::F32, {7, 8, 9});
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(bytes.data()), int64_t(bytes.size()));
  NetworkBuilder net;
  auto w = net.constant("w", ElementType::F32, {2}, std::vector<double>{});
  net.network.tensors[size_t(w)].source = {path, 4, 8, nullptr};
  net.output(w);
  EXPECT_EQ(outputOf(net, {}), (std::vector<double>{8, 9}));
  net.network.tensors[size_t(w)].source = {path, 8, 8, nullptr};
  auto beyond = evaluate(net.network, {});
  EXPECT_NE(beyond.status().message().find("constant w: file " + path + " has no 8 bytes at offset 8"),
            std::string::npos)
      << beyond.status();
  std::remove(path.c_str());
}

TEST(NetworkReference, Errors) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {2});
  net.output(x);
  auto message = [&](const std::vector<std::vector<std::byte>> &inputs) {
    return std::string(evaluate(net.network, inputs).status().message());
  };
  EXPECT_EQ(message({}), "0 inputs are given, the network has 1");
  EXPECT_EQ(message({elementsOf(ElementType::F32, {1})}), "input x has 4 bytes, its shape needs 8 of f32");
}
