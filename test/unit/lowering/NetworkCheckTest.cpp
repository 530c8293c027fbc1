// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Network::check, rule by rule: a sound network in which one thing is made wrong, and the message that refuses it.
#include "test/support/NetworkBuilder.h"

#include <gtest/gtest.h>

#include <functional>

namespace {

using namespace wsc::spmd;
using wsc::format::ElementType;
using wsc::format::Opcode;
using wsc::test::NetworkBuilder;

/// y[m, n] = relu(Σk x[m, k]·w[k, n]); z = y transposed; variable h is read as `old` and becomes z.
struct Sound : NetworkBuilder {
  TensorId x, w, old, y, z;
  Sound() {
    x = input("x", ElementType::F32, {2, 3});
    w = constant("w", ElementType::F32, {3, 4}, std::vector<double>(12, 0.5));
    old = value("old", ElementType::F32, {4, 2});
    y = value("y", ElementType::F32, {2, 4});
    z = value("z", ElementType::F32, {4, 2});
    Nest nest = wsc::test::nestOver({2, 4, 3}, 2, y);
    nest.name = "fc";
    nest.operands = {wsc::test::read(x, {{1, 0, 0}, {0, 0, 1}}), wsc::test::read(w, {{0, 0, 1}, {0, 1, 0}})};
    nest.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
    nest.values = {BodyValue::operand(0), BodyValue::operand(1)};
    nest.finish = {wsc::test::bodyOp(Opcode::Max, ElementType::F32, BodyValue::reduced(), BodyValue::constant(0))};
    nest.resultValue = BodyValue::operation(0);
    add(nest);
    Remap remap;
    remap.name = "turn";
    remap.result = z;
    Piece piece;
    piece.source = y;
    piece.digits = {{4, 1, 2}, {2, 4, 1}};
    remap.pieces = {piece};
    add(remap);
    output(z);
    State state;
    state.name = "h";
    state.shape = {4, 2};
    state.read = old;
    state.written = z;
    network.states.push_back(state);
  }
  Nest &nest() { return std::get<Nest>(network.nodes[0]); }
  Remap &remap() { return std::get<Remap>(network.nodes[1]); }
};

void expectRefused(const std::function<void(Sound &)> &change, const std::string &message) {
  Sound net;
  change(net);
  const absl::Status status = net.network.check();
  EXPECT_FALSE(status.ok()) << message;
  EXPECT_NE(std::string(status.message()).find(message), std::string::npos) << status << "\nexpected: " << message;
}

TEST(NetworkCheck, TakesWhatIsSound) { EXPECT_TRUE(Sound().network.check().ok()) << Sound().network.check(); }

TEST(NetworkCheck, Tensors) {
  expectRefused([](Sound &net) { net.network.tensors[1].shape = {3, -4}; },
                "tensor 1 (w): shape [3, -4] has a negative");
  expectRefused([](Sound &net) { net.network.tensors[1].shape = {3, 5}; },
                "tensor 1 (w): has 48 bytes in memory, its type and shape need 60");
  expectRefused([](Sound &net) { net.network.tensors[1].source = {}; }, "tensor 1 (w): has no elements");
  expectRefused([](Sound &net) { net.network.tensors[1].source = {"m.onnx", 0, 40, nullptr}; },
                "tensor 1 (w): takes 40 bytes of m.onnx from 0, its type and shape need 48");
  expectRefused([](Sound &net) { net.network.tensors[0].input = 1; }, "tensor 0 (x): is said to be input 1");
}

TEST(NetworkCheck, OrderOfNodes) {
  expectRefused([](Sound &net) { std::swap(net.network.nodes[0], net.network.nodes[1]); },
                "remap turn: reads tensor 3, which does not exist or is computed later");
  expectRefused([](Sound &net) { net.remap().result = net.y; },
                "remap turn: computes tensor 3, which does not exist or has another origin");
  expectRefused([](Sound &net) { net.nest().operands[0].tensor = 9; }, "nest fc: reads tensor 9");
  expectRefused([](Sound &net) { net.network.nodes.pop_back(); }, "output z: tensor 4 is not computed");
}

TEST(NetworkCheck, States) {
  expectRefused([](Sound &net) { net.network.states[0].shape = {2, 4}; },
                "state h: of type f32[2, 4] is read as tensor 2 (old) of type f32[4, 2]");
  expectRefused([](Sound &net) { net.network.states[0].read = net.x; },
                "state h: of type f32[4, 2] is read as tensor 0");
  expectRefused([](Sound &net) { net.network.states[0].initial = {"m.onnx", 0, 8, nullptr}; },
                "state h: takes 8 bytes of m.onnx from 0, its type and shape need 32");
}

TEST(NetworkCheck, Accesses) {
  expectRefused([](Sound &net) { net.nest().operands[0].map.pop_back(); },
                "nest fc: operand 0 (x) has 1 indices, its shape is [2, 3]");
  expectRefused([](Sound &net) { net.nest().operands[0].map[0].perIterator.pop_back(); },
                "nest fc: operand 0 (x) has an index over 2 iterators, the nest has 3");
  expectRefused([](Sound &net) { net.nest().operands[0].gatherDim = 0; },
                "nest fc: operand 0 (x) needs both a gathered dimension and its indices");
  expectRefused(
      [](Sound &net) {
        net.nest().operands[0].gatherDim = 0;
        net.nest().operands[0].gatherIndices = 1;
      },
      "nest fc: operand 0 (x) takes its indices from operand 1, which must be an operand of type i32");
}

TEST(NetworkCheck, Bodies) {
  expectRefused([](Sound &net) { net.nest().finish[0].opcode = Opcode::Gather; },
                "nest fc: operation 0 (gather) is not allowed in a body");
  expectRefused([](Sound &net) { net.nest().finish[0].type = ElementType::F16; },
                "nest fc: operation 0 (max) needs f16, got f32");
  expectRefused(
      [](Sound &net) {
        net.nest().finish[0].opcode = Opcode::Move;
        net.nest().finish[0].type = ElementType::I64;
      },
      "nest fc: operation 0 (move) takes the bits of f32 as i64, which has another form in memory");
  expectRefused(
      [](Sound &net) {
        net.nest().finish[0] = wsc::test::bodyOp(Opcode::Move, ElementType::I32, BodyValue::constant(1));
        net.nest().finish[0].sourceType = ElementType::F32;
      },
      "nest fc: operation 0 (move) takes the bits of an immediate; give the number that they are");
  expectRefused([](Sound &net) { net.nest().finish[0].b = BodyValue::operand(0); },
                "nest fc: uses operand 0 behind the reduction, but its place depends on a reduced iterator");
  expectRefused([](Sound &net) { net.nest().finish[0].b = BodyValue::operation(0); },
                "nest fc: uses the result of operation 0 where 0 are done");
  expectRefused([](Sound &net) { net.nest().values[0] = BodyValue::reduced(); },
                "nest fc: uses the reduced value outside of `finish`");
  expectRefused([](Sound &net) { net.nest().values.pop_back(); }, "nest fc: has 1 values for fma");
  expectRefused([](Sound &net) { net.nest().reduction->opcode = Opcode::Sub; }, "nest fc: cannot be reduced by sub");
  expectRefused(
      [](Sound &net) {
        net.nest().reduction.reset();
        net.nest().finish.clear();
        net.nest().resultValue = BodyValue::operand(0);
      },
      "nest fc: has no reduction, so it has only parallel");
  expectRefused([](Sound &net) { net.nest().extents[1] = 5; },
                "nest fc: has parallel iterators [2, 5], its result y is [2, 4]");
}

TEST(NetworkCheck, Pieces) {
  expectRefused([](Sound &net) { net.remap().pieces[0].sourceOffset = 1; },
                "remap turn: piece 0 reads elements from 1 to 8, there are 8");
  expectRefused([](Sound &net) { net.remap().pieces[0].digits[0].resultStride = -2; },
                "remap turn: piece 0 writes elements from -6 to 1, there are 8");
  expectRefused([](Sound &net) { net.remap().pieces[0].digits[0].extent = -1; }, "remap turn: piece 0 has extent -1");
  expectRefused([](Sound &net) { net.remap().pieces.push_back(net.remap().pieces[0]); },
                "remap turn: the pieces place 16 elements, the result has 8");
  expectRefused([](Sound &net) { net.remap().pieces[0].digits = {{2, 1, 1}, {2, 1, 1}}; },
                "remap turn: piece 0 writes an element of the result that it or a piece before it has written");
  expectRefused(
      [](Sound &net) {
        net.network.tensors[size_t(net.z)].type = ElementType::F16;
        net.network.states.clear();
      },
      "remap turn: piece 0 is of type f32, the result f16");
}

} // namespace
