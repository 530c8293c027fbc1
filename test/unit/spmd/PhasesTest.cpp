// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small networks by hand on several rectangles: planned, generated, verified, executed, and compared with plain loops.
#include "compiler/spmd/network/Simplify.h"
#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/format/Verifier.h"
#include "test/support/NetworkBuilder.h"
#include "test/support/NetworkReference.h"
#include "test/support/PhasesProgram.h"
#include "test/support/RandomNest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace wsc;
using namespace wsc::spmd;
using namespace wsc::test;
using format::ElementType;
using format::Opcode;

namespace {

/// Generates a planned network, verifies and executes it, and compares it with `reference`; nothing if that fails.
std::optional<PhasesProgram> expectOutputs(const Network &network, std::vector<Views> &views,
                                           const target::Target &target, const NetworkPlan &plan,
                                           const std::vector<std::vector<std::byte>> &inputs,
                                           const NetworkValues &reference, double tolerance) {
  auto generated = generateWith({network}, views, target, {plan});
  if (!generated.ok()) {
    ADD_FAILURE() << generated.status();
    return std::nullopt;
  }
  auto program = inMemory(*std::move(generated));
  if (!program.ok()) {
    ADD_FAILURE() << program.status();
    return std::nullopt;
  }
  for (const auto &violation : format::findViolations(program->executable)) {
    ADD_FAILURE() << violation.rule << ": " << violation.message;
    return std::nullopt;
  }
  std::vector<emulator::HostTensor> hostInputs;
  for (const std::vector<std::byte> &input : inputs)
    hostInputs.push_back({input});
  auto engine = emulator::CoreEngine::create(program->executable, {.threads = 1});
  auto outputs = engine.ok() ? (*engine)->run(0, hostInputs) : engine.status();
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.status();
    return std::nullopt;
  }
  for (size_t o = 0; o < outputs->size(); ++o) {
    const ElementType type = network.tensors[size_t(network.outputs[o].tensor)].type;
    const std::vector<double> found = valuesOf(type, (*outputs)[o].bytes),
                              wanted = valuesOf(type, reference.outputs[o]);
    EXPECT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < std::min(found.size(), wanted.size()); ++i)
      if (std::abs(found[i] - wanted[i]) > tolerance * (1 + std::abs(wanted[i]))) {
        ADD_FAILURE() << network.outputs[o].name << " element " << i << ": " << found[i] << ", wanted " << wanted[i];
        return std::nullopt;
      }
  }
  return *std::move(program);
}

/// `configurations`: how many there may be at most.
void expectSame(const Network &network, double tolerance, size_t configurations = 100) {
  ASSERT_TRUE(network.check().ok()) << network.check();
  Draw draw(7);
  std::vector<std::vector<std::byte>> inputs;
  for (const NamedTensor &input : network.inputs) {
    const Tensor &tensor = network.tensors[size_t(input.tensor)];
    inputs.push_back(drawElements(draw, tensor.type, tensor.elements(), false));
  }
  auto reference = evaluate(network, inputs);
  ASSERT_TRUE(reference.ok()) << reference.status();
  for (auto [rows, cols] : {std::pair(1, 1), std::pair(3, 1), std::pair(1, 4), std::pair(2, 5), std::pair(4, 4),
                            std::pair(5, 7), std::pair(16, 16)}) {
    SCOPED_TRACE("mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
    if (rows < int(std::max(network.inputs.size(), network.outputs.size())))
      continue;
    auto target = target::loadTarget("mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
    ASSERT_TRUE(target.ok());
    const RolledNetwork rolled = rollLoops(network, 2);
    std::vector<Views> views;
    views.emplace_back(rolled.network);
    auto plan = planNetwork(rolled.network, views[0], *target, {0, 0, rows, cols}, rolled.loops);
    ASSERT_TRUE(plan.ok()) << plan.status();
    auto program = expectOutputs(rolled.network, views, *target, *plan, inputs, *reference, tolerance);
    ASSERT_TRUE(program);
    EXPECT_LE(program->executable.configurations.size(), configurations);
    auto cycles = emulator::runCycles(program->executable, 0);
    ASSERT_TRUE(cycles.ok()) << cycles.status();
    std::printf("  %dx%d: %zu phases, the first takes %lld cycles, all estimated %lld\n", rows, cols,
                program->executable.configurations.size(), (long long)cycles->endCycle,
                (long long)plan->estimatedCycles);
  }
}

std::vector<double> ramp(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(double(i % 17) / 8 - 1);
  return values;
}

TEST(Phases, Elementwise) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {6, 10}), y = net.input("y", ElementType::F32, {10});
  auto z = net.value("z", ElementType::F32, {6, 10});
  Nest nest = nestOver({6, 10}, 2, z);
  nest.operands = {read(x, {{1, 0}, {0, 1}}), read(y, {{0, 1}})};
  nest.body = {bodyOp(Opcode::Add, ElementType::F32, BodyValue::operand(0), BodyValue::operand(1))};
  nest.values = {BodyValue::operation(0)};
  nest.resultValue = BodyValue::operation(0);
  net.add(nest);
  net.output(z);
  expectSame(net.network, 0);
}

// Narrow elements whose last block is not full enter and leave over ports.
TEST(Phases, NarrowElementsOnPorts) {
  for (int64_t count : {7, 9, 14, 33}) {
    NetworkBuilder net;
    auto x = net.input("x", ElementType::BF16, {count}), z = net.value("z", ElementType::BF16, {count});
    Nest nest = nestOver({count}, 1, z);
    nest.operands = {read(x, {{1}})};
    nest.body = {bodyOp(Opcode::Add, ElementType::BF16, BodyValue::operand(0), BodyValue::operand(0))};
    nest.values = {BodyValue::operation(0)};
    nest.resultValue = BodyValue::operation(0);
    net.add(nest);
    net.output(z);
    expectSame(net.network, 0);
  }
}

// The sign bit of a float, taken away by integer logic.
TEST(Phases, BitsOfFloats) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {6, 10});
  auto bits = net.value("bits", ElementType::U32, {6, 10}), z = net.value("z", ElementType::F32, {6, 10});
  const auto move = [](ElementType from, ElementType to, BodyValue a) {
    BodyOp op = bodyOp(Opcode::Move, to, a);
    op.sourceType = from;
    return op;
  };
  Nest taken = nestOver({6, 10}, 2, bits);
  taken.operands = {read(x, {{1, 0}, {0, 1}})};
  taken.body = {move(ElementType::F32, ElementType::U32, BodyValue::operand(0))};
  taken.values = {BodyValue::operation(0)};
  taken.resultValue = BodyValue::operation(0);
  net.add(taken);
  Nest given = nestOver({6, 10}, 2, z);
  given.operands = {read(bits, {{1, 0}, {0, 1}})};
  given.body = {bodyOp(Opcode::And, ElementType::U32, BodyValue::operand(0), BodyValue::constant(0x7fffffff)),
                move(ElementType::U32, ElementType::F32, BodyValue::operation(0))};
  given.values = {BodyValue::operation(1)};
  given.resultValue = BodyValue::operation(1);
  net.add(given);
  net.output(bits);
  net.output(z);
  expectSame(net.network, 0);
}

TEST(Phases, MatrixProductWithBias) {
  NetworkBuilder net;
  const int64_t m = 12, n = 20, k = 24;
  auto x = net.input("x", ElementType::F32, {m, k});
  auto w = net.constant("w", ElementType::F32, {k, n}, ramp(k * n)),
       b = net.constant("b", ElementType::F32, {n}, ramp(n));
  auto y = net.value("y", ElementType::F32, {m, n});
  Nest nest = nestOver({m, n, k}, 2, y);
  nest.operands = {read(x, {{1, 0, 0}, {0, 0, 1}}), read(w, {{0, 0, 1}, {0, 1, 0}}), read(b, {{0, 1, 0}})};
  nest.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
  nest.values = {BodyValue::operand(0), BodyValue::operand(1)};
  nest.finish = {bodyOp(Opcode::Add, ElementType::F32, BodyValue::reduced(), BodyValue::operand(2)),
                 bodyOp(Opcode::Max, ElementType::F32, BodyValue::operation(0), BodyValue::constant(0))};
  nest.resultValue = BodyValue::operation(1);
  net.add(nest);
  net.output(y);
  expectSame(net.network, 1e-5);
}

TEST(Phases, TransposedPaddedView) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::I32, {6, 5});
  auto t = net.value("t", ElementType::I32, {7, 6}), y = net.value("y", ElementType::I32, {7, 6});
  Remap remap;
  remap.name = "transpose";
  remap.result = t;
  remap.fill = -3;
  remap.pieces = {{x, 0, 6, {{5, 1, 6}, {6, 5, 1}}}}; // rows 1 … 5 of the result
  net.add(remap);
  Nest nest = nestOver({7, 6}, 2, y);
  nest.operands = {read(t, {{1, 0}, {0, 1}})};
  nest.body = {bodyOp(Opcode::Mul, ElementType::I32, BodyValue::operand(0), BodyValue::constant(3))};
  nest.values = {BodyValue::operation(0)};
  nest.resultValue = BodyValue::operation(0);
  net.add(nest);
  net.output(y);
  net.output(t);
  expectSame(net.network, 0);
}

TEST(Phases, ConvolutionThenMaximum) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {2, 9, 9});
  auto w = net.constant("w", ElementType::F32, {4, 2, 3, 3}, ramp(72));
  auto c = net.value("c", ElementType::F32, {4, 9, 9}), p = net.value("p", ElementType::F32, {4, 4, 4});
  Nest conv = nestOver({4, 9, 9, 2, 3, 3}, 3, c);
  conv.operands = {read(x, {{0, 0, 0, 1, 0, 0}, {0, 1, 0, 0, 1, 0}, {0, 0, 1, 0, 0, 1}}, {0, -1, -1}),
                   read(w, {{1, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 1}})};
  conv.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
  conv.values = {BodyValue::operand(0), BodyValue::operand(1)};
  conv.resultValue = BodyValue::reduced();
  net.add(conv);
  Nest pool = nestOver({4, 4, 4, 2, 2}, 3, p);
  pool.operands = {read(c, {{1, 0, 0, 0, 0}, {0, 2, 0, 1, 0}, {0, 0, 2, 0, 1}})};
  pool.operands[0].padding = -INFINITY;
  pool.reduction = Reduction{Opcode::ReduceMax, ElementType::F32, -INFINITY};
  pool.values = {BodyValue::operand(0)};
  pool.resultValue = BodyValue::reduced();
  net.add(pool);
  net.output(p);
  expectSame(net.network, 1e-5);
}

// Beyond the last tap of a window lie other elements, so its taps are spread over lines only where they divide.
TEST(Phases, WideWindow) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::U8, {5, 5});
  auto y = net.value("y", ElementType::U8, {5, 5});
  Nest nest = nestOver({5, 5, 5, 5}, 2, y);
  nest.operands = {read(x, {{1, 0, 1, 0}, {0, 1, 0, 1}}, {-2, -2})};
  nest.reduction = Reduction{Opcode::ReduceMax, ElementType::U8, 0};
  nest.values = {BodyValue::operand(0)};
  nest.resultValue = BodyValue::reduced();
  net.add(nest);
  net.output(y);
  expectSame(net.network, 0);
}

// Beyond the end of one head lie the elements of the next.
TEST(Phases, ProductsOfHeads) {
  NetworkBuilder net;
  const int64_t heads = 2, tokens = 3, width = 9;
  auto q = net.input("q", ElementType::F32, {tokens, heads * width}),
       k = net.input("k", ElementType::F32, {tokens, heads * width});
  auto s = net.value("s", ElementType::F32, {heads, tokens, tokens});
  Nest nest = nestOver({heads, tokens, tokens, width}, 3, s);
  nest.operands = {read(q, {{0, 1, 0, 0}, {width, 0, 0, 1}}), read(k, {{0, 0, 1, 0}, {width, 0, 0, 1}})};
  nest.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
  nest.values = {BodyValue::operand(0), BodyValue::operand(1)};
  nest.resultValue = BodyValue::reduced();
  net.add(nest);
  net.output(s);
  expectSame(net.network, 1e-5);
}

TEST(Phases, EqualLayersAreOneConfiguration) {
  NetworkBuilder net;
  const int64_t m = 6, n = 12;
  TensorId x = net.input("x", ElementType::F32, {m, n});
  for (int layer = 0; layer < 4; ++layer) {
    std::vector<double> weights = ramp(n * n), bias = ramp(n);
    for (double &weight : weights)
      weight = weight / 4 + layer * 0.01;
    bias[0] = layer;
    auto w = net.constant("w", ElementType::F32, {n, n}, weights), b = net.constant("b", ElementType::F32, {n}, bias);
    auto h = net.value("h", ElementType::F32, {m, n}), y = net.value("y", ElementType::F32, {m, n});
    Nest product = nestOver({m, n, n}, 2, h);
    product.operands = {read(x, {{1, 0, 0}, {0, 0, 1}}), read(w, {{0, 0, 1}, {0, 1, 0}})};
    product.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
    product.values = {BodyValue::operand(0), BodyValue::operand(1)};
    product.resultValue = BodyValue::reduced();
    net.add(product);
    Nest sum = nestOver({m, n}, 2, y); // a skip connection
    sum.operands = {read(h, {{1, 0}, {0, 1}}), read(x, {{1, 0}, {0, 1}}), read(b, {{0, 1}})};
    sum.body = {bodyOp(Opcode::Add, ElementType::F32, BodyValue::operand(0), BodyValue::operand(1)),
                bodyOp(Opcode::Add, ElementType::F32, BodyValue::operation(0), BodyValue::operand(2))};
    sum.values = {BodyValue::operation(1)};
    sum.resultValue = BodyValue::operation(1);
    net.add(sum);
    x = y;
  }
  net.output(x);
  const RolledNetwork rolled = rollLoops(net.network, 2);
  ASSERT_EQ(rolled.loops.size(), 1u);
  EXPECT_EQ(rolled.loops[0].count, 4);
  EXPECT_EQ(rolled.loops[0].end - rolled.loops[0].begin, 2u);
  expectSame(net.network, 1e-4, 3);
}

// Values that are rearranged alike are no loop: there is no code to share, and a loop would leave as many remaps
// behind.
TEST(Phases, RemapsAloneAreNoLoop) {
  NetworkBuilder net;
  auto sum = net.value("sum", ElementType::F32, {3, 2});
  Nest all = nestOver({3, 2}, 2, sum);
  for (int i = 0; i < 6; ++i) {
    const std::string number = std::to_string(i);
    Remap remap;
    remap.name = "transposed" + number;
    remap.result = net.value("t" + number, ElementType::F32, {3, 2});
    Piece piece;
    piece.source = net.input("x" + number, ElementType::F32, {2, 3});
    piece.digits = {{3, 1, 2}, {2, 3, 1}};
    remap.pieces = {piece};
    net.add(remap);
    all.operands.push_back(read(remap.result, {{1, 0}, {0, 1}}));
    if (i > 0)
      all.body.push_back(bodyOp(Opcode::Add, ElementType::F32,
                                i == 1 ? BodyValue::operand(0) : BodyValue::operation(i - 2), BodyValue::operand(i)));
  }
  all.values = {BodyValue::operation(4)};
  all.resultValue = BodyValue::operation(4);
  net.add(all);
  net.output(sum);
  EXPECT_TRUE(rollLoops(net.network, 2).loops.empty());
}

/// h = tanh(x[t] + w · h) · g[t] for `steps` steps, back and forth; y = all h, and z = the last h + 1. w is one matrix,
/// g one number a step.
Network recurrence(int64_t steps, int64_t hidden, bool backwards = false) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {steps, hidden}), start = net.input("start", ElementType::F32, {hidden});
  std::vector<double> weights = ramp(hidden * hidden);
  for (double &weight : weights)
    weight /= double(hidden);
  auto w = net.constant("w", ElementType::F32, {hidden, hidden}, weights);
  TensorId h = start;
  Remap all;
  all.name = "all";
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t t = backwards ? steps - 1 - i : i;
    auto sum = net.value("sum", ElementType::F32, {hidden}), next = net.value("next", ElementType::F32, {hidden});
    Nest product = nestOver({hidden, hidden}, 1, sum);
    product.operands = {read(w, {{1, 0}, {0, 1}}), read(h, {{0, 1}}), read(x, {{0, 0}, {1, 0}}, {t, 0})};
    product.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
    product.values = {BodyValue::operand(0), BodyValue::operand(1)};
    product.finish = {bodyOp(Opcode::Add, ElementType::F32, BodyValue::reduced(), BodyValue::operand(2))};
    product.resultValue = BodyValue::operation(0);
    net.add(product);
    Nest cell = nestOver({hidden}, 1, next);
    auto g = net.constant("g", ElementType::F32, {}, {1 + 0.1 * double(i)});
    cell.operands = {read(sum, {{1}}), read(g, {})};
    cell.body = {bodyOp(Opcode::Tanh, ElementType::F32, BodyValue::operand(0)),
                 bodyOp(Opcode::Mul, ElementType::F32, BodyValue::operation(0), BodyValue::operand(1))};
    cell.values = {BodyValue::operation(1)};
    cell.resultValue = BodyValue::operation(1);
    net.add(cell);
    h = next;
    Piece piece;
    piece.source = h;
    piece.resultOffset = t * hidden;
    piece.digits = {{hidden, 1, 1}};
    all.pieces.push_back(piece);
  }
  all.result = net.value("y", ElementType::F32, {steps, hidden});
  net.add(all);
  auto z = net.value("z", ElementType::F32, {hidden});
  Nest last = nestOver({hidden}, 1, z);
  last.operands = {read(h, {{1}})};
  last.body = {bodyOp(Opcode::Add, ElementType::F32, BodyValue::operand(0), BodyValue::constant(1))};
  last.values = {BodyValue::operation(0)};
  last.resultValue = BodyValue::operation(0);
  net.add(last);
  net.output(all.result);
  net.output(z);
  return net.network;
}

TEST(Phases, StepsOfARecurrenceAreALoop) {
  for (bool backwards : {false, true}) {
    const Network network = recurrence(7, 12, backwards);
    const RolledNetwork rolled = rollLoops(network, 2);
    ASSERT_EQ(rolled.loops.size(), 1u);
    EXPECT_EQ(rolled.loops[0].count, 7);
    EXPECT_EQ(rolled.loops[0].end - rolled.loops[0].begin, 2u);
    EXPECT_EQ(rolled.loops[0].carried.size(), 1u);
    EXPECT_EQ(rolled.loops[0].slices.size(), 1u);
    EXPECT_EQ(rolled.loops[0].collected.size(), 1u);
    EXPECT_EQ(rolled.loops[0].constants.size(), 1u);
    expectSame(network, 1e-5, 4); // before, the loop, behind; an output may leave in two
  }
}

/// y[t, d] = table[i[t], d] · 2, for a table of 150 lines.
NetworkBuilder scaledGather(ElementType type) {
  NetworkBuilder net;
  auto table = net.input("table", type, {150, 12}), i = net.input("i", ElementType::I32, {9});
  auto y = net.value("y", type, {9, 12});
  Nest gather = nestOver({9, 12}, 2, y);
  gather.operands = {read(table, {{0, 0}, {0, 1}}), read(i, {{1, 0}})};
  gather.operands[0].gatherDim = 0;
  gather.operands[0].gatherIndices = 1;
  gather.body = {bodyOp(Opcode::Add, type, BodyValue::operand(0), BodyValue::operand(0))};
  gather.values = {BodyValue::operation(0)};
  gather.resultValue = gather.values[0];
  net.add(gather);
  net.output(y);
  return net;
}

// A table that no core can hold whole is read in windows.
TEST(Phases, GatherFromWindows) {
  for (ElementType type : {ElementType::F32, ElementType::I32, ElementType::F16, ElementType::U8}) {
    SCOPED_TRACE(format::elementBytes(type));
    const Network whole = scaledGather(type).network;
    Network split = whole;
    splitGathers(split, 64 * format::elementBytes(type), 16);
    ASSERT_EQ(split.nodes.size(), 3u);
    std::vector<std::vector<std::byte>> inputs;
    Draw draw(11);
    for (const NamedTensor &input : whole.inputs) {
      const Tensor &tensor = whole.tensors[size_t(input.tensor)];
      inputs.push_back(drawElements(draw, tensor.type, tensor.elements(), false));
    }
    // Numbers below, within and beyond the table.
    const std::vector<int32_t> numbers{-5, 0, 37, 38, 75, 113, 149, 150, 4000};
    std::memcpy(inputs[1].data(), numbers.data(), inputs[1].size());
    const auto wanted = evaluate(whole, inputs), found = evaluate(split, inputs);
    ASSERT_TRUE(wanted.ok() && found.ok()) << wanted.status() << found.status();
    EXPECT_EQ(wanted->outputs[0], found->outputs[0]);
    expectSame(split, 0);
  }
}

TEST(Phases, SoftmaxAndGather) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {5, 12}), i = net.input("i", ElementType::I32, {5});
  auto m = net.value("m", ElementType::F32, {5}), e = net.value("e", ElementType::F32, {5, 12}),
       s = net.value("s", ElementType::F32, {5}), y = net.value("y", ElementType::F32, {5, 12}),
       g = net.value("g", ElementType::F32, {5, 12});
  auto reduce = [&](TensorId from, TensorId to, Opcode opcode, double initial) {
    Nest nest = nestOver({5, 12}, 1, to);
    nest.operands = {read(from, {{1, 0}, {0, 1}})};
    nest.reduction = Reduction{opcode, ElementType::F32, initial};
    nest.values = {BodyValue::operand(0)};
    nest.resultValue = BodyValue::reduced();
    net.add(nest);
  };
  auto combine = [&](TensorId a, TensorId b, TensorId to, std::vector<BodyOp> body) {
    Nest nest = nestOver({5, 12}, 2, to);
    nest.operands = {read(a, {{1, 0}, {0, 1}}), read(b, {{1, 0}})};
    nest.body = body;
    nest.values = {BodyValue::operation(int32_t(body.size()) - 1)};
    nest.resultValue = nest.values[0];
    net.add(nest);
  };
  reduce(x, m, Opcode::ReduceMax, -INFINITY);
  combine(x, m, e,
          {bodyOp(Opcode::Sub, ElementType::F32, BodyValue::operand(0), BodyValue::operand(1)),
           bodyOp(Opcode::Exp, ElementType::F32, BodyValue::operation(0))});
  reduce(e, s, Opcode::ReduceAdd, 0);
  combine(e, s, y, {bodyOp(Opcode::Div, ElementType::F32, BodyValue::operand(0), BodyValue::operand(1))});
  Nest gather = nestOver({5, 12}, 2, g);
  gather.operands = {read(y, {{0, 0}, {0, 1}}), read(i, {{1, 0}})};
  gather.operands[0].gatherDim = 0;
  gather.operands[0].gatherIndices = 1;
  gather.values = {BodyValue::operand(0)};
  gather.resultValue = BodyValue::operand(0);
  net.add(gather);
  net.output(g);
  expectSame(net.network, 1e-5);
}

// y = sums of 5 by 3 over x with 2 mirrored rows and columns around it.
TEST(Phases, WindowsOverMirroredBorders) {
  NetworkBuilder net;
  const int64_t rows = 21, cols = 17;
  auto x = net.input("x", ElementType::F32, {rows, cols});
  auto padded = net.value("padded", ElementType::F32, {rows + 4, cols + 4}),
       y = net.value("y", ElementType::F32, {7, 19});
  // Before, within, behind: the first element read, how many, the step; where they go.
  struct Part {
    int64_t from, count, step, to;
  };
  auto parts = [](int64_t extent) {
    return std::vector<Part>{{2, 2, -1, 0}, {0, extent, 1, 2}, {extent - 2, 2, -1, extent + 2}};
  };
  Remap pad{"pad", padded, {}, 0};
  for (const Part &r : parts(rows))
    for (const Part &c : parts(cols))
      pad.pieces.push_back({x,
                            r.from * cols + c.from,
                            r.to * (cols + 4) + c.to,
                            {{r.count, r.step * cols, cols + 4}, {c.count, c.step, 1}}});
  net.add(pad);
  Nest sum = sumOver({7, 19, 5, 3}, 2, ElementType::F32, y);
  sum.operands = {read(padded, {{3, 0, 1, 0}, {0, 1, 0, 1}})};
  net.add(sum);
  net.output(y);
  expectSame(net.network, 1e-6);
}

// Layers one after another: on two of the meshes a repetition is quicker from another place than the input reaches.
// Both plans are right, and the quicker one is taken.
TEST(Phases, LoopsBeginWhereRepetitionsAreQuick) {
  const int64_t tokens = 12, width = 40, layers = 6;
  NetworkBuilder net;
  TensorId h = net.input("x", ElementType::F32, {tokens, width});
  auto product = [&](TensorId from, const std::string &name, int64_t rows, int64_t columns) {
    auto w = net.constant("w" + name, ElementType::F32, {rows, columns}, ramp(rows * columns));
    auto y = net.value(name, ElementType::F32, {tokens, columns});
    Nest nest = nestOver({tokens, columns, rows}, 2, y);
    nest.operands = {read(from, {{1, 0, 0}, {0, 0, 1}}), read(w, {{0, 0, 1}, {0, 1, 0}})};
    nest.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
    nest.values = {BodyValue::operand(0), BodyValue::operand(1)};
    nest.finish = {
        BodyOp{Opcode::Mul, ElementType::F32, ElementType::F32, BodyValue::reduced(), BodyValue::constant(0.125)}};
    nest.resultValue = BodyValue::operation(0);
    net.add(nest);
    return y;
  };
  for (int64_t l = 0; l < layers; ++l)
    h = product(product(h, "up" + std::to_string(l), width, 4 * width), "down" + std::to_string(l), 4 * width, width);
  net.output(h);
  Draw draw(7);
  const std::vector<std::vector<std::byte>> inputs{drawElements(draw, ElementType::F32, tokens * width, false)};
  const auto reference = evaluate(net.network, inputs);
  ASSERT_TRUE(reference.ok());
  const RolledNetwork rolled = rollLoops(net.network, 2);
  ASSERT_EQ(rolled.loops.size(), 1u);
  bool gains = false;
  for (const auto &[rows, cols] : {std::pair(8, 8), std::pair(12, 40), std::pair(40, 12)}) {
    auto target = target::loadTarget("mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
    ASSERT_TRUE(target.ok());
    std::map<LoopStarts, int64_t> cycles;
    for (LoopStarts starts : {LoopStarts::AsReached, LoopStarts::Chosen, LoopStarts::Both}) {
      std::vector<Views> views;
      views.emplace_back(rolled.network);
      const auto plan =
          planNetwork(rolled.network, views[0], *target, {0, 0, rows, cols}, rolled.loops, {.starts = starts});
      ASSERT_TRUE(plan.ok()) << plan.status();
      cycles[starts] = plan->estimatedCycles;
      expectOutputs(rolled.network, views, *target, *plan, inputs, *reference, 1e-4);
    }
    std::printf("  %dx%d: as reached %lld cycles, chosen %lld\n", rows, cols, (long long)cycles[LoopStarts::AsReached],
                (long long)cycles[LoopStarts::Chosen]);
    EXPECT_EQ(cycles[LoopStarts::Both], std::min(cycles[LoopStarts::AsReached], cycles[LoopStarts::Chosen]));
    gains |= cycles[LoopStarts::Chosen] < cycles[LoopStarts::AsReached];
  }
  EXPECT_TRUE(gains);
}

// Where the first product leaves its result best, no way to the second one fits; the plan begins anew without that kind
// of place.
TEST(Phases, PlansBeginAnew) {
  const int64_t b = 8, t = 32, k = 16, n = 120, m = 80;
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {b, t, k});
  auto v = net.constant("v", ElementType::F32, {k, n}, ramp(k * n)),
       w = net.constant("w", ElementType::F32, {n, m}, ramp(n * m));
  auto h = net.value("h", ElementType::F32, {b, t, n}), y = net.value("y", ElementType::F32, {b, t, m});
  auto product = [&](TensorId from, TensorId weight, TensorId to, int64_t reduced, int64_t columns) {
    Nest nest = nestOver({b, t, columns, reduced}, 3, to);
    nest.operands = {read(from, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}}),
                     read(weight, {{0, 0, 0, 1}, {0, 0, 1, 0}})};
    nest.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
    nest.values = {BodyValue::operand(0), BodyValue::operand(1)};
    nest.resultValue = BodyValue::reduced();
    net.add(nest);
  };
  product(x, v, h, k, n);
  product(h, w, y, n, m);
  net.output(y);
  auto target = target::loadTarget("mesh-8x8");
  ASSERT_TRUE(target.ok());
  std::vector<Views> views;
  views.emplace_back(net.network);
  PlanPolicy policy;
  policy.marginBytes = 6000; // of what a core has for tensors
  const auto once = planNetwork(net.network, views[0], *target, {0, 0, 8, 8}, {}, policy);
  EXPECT_FALSE(once.ok());
  policy.mostRetries = 12;
  const auto plan = planNetwork(net.network, views[0], *target, {0, 0, 8, 8}, {}, policy);
  ASSERT_TRUE(plan.ok()) << plan.status();
  Draw draw(7);
  const std::vector<std::vector<std::byte>> inputs{drawElements(draw, ElementType::F32, b * t * k, false)};
  const auto reference = evaluate(net.network, inputs);
  ASSERT_TRUE(reference.ok());
  expectOutputs(net.network, views, *target, *plan, inputs, *reference, 1e-4);
}

} // namespace
