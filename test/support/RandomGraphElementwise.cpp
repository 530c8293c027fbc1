// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operators, comparisons, logic and integer arithmetic of random graphs.
#include "test/support/RandomGraphParts.h"
#include <algorithm>
#include <cmath>

namespace wsc::test {
namespace {

using wsc::onnx::TensorProto;

Value inexact(Value like, double bound) {
  like.exact = false;
  like.bound = bound;
  return like;
}

/// Functions that take every number and do not grow faster than their argument.
void unary(GraphMaker &m) {
  static constexpr const char *names[] = {"Sigmoid",  "Tanh",        "Erf",  "Sin",       "Cos",  "Softplus",
                                          "Softsign", "Elu",         "Selu", "HardSwish", "Gelu", "Mish",
                                          "Celu",     "HardSigmoid", "Atan", "Asinh"};
  Value x;
  if (m.pick(x, 0, 4))
    m.emit(names[m.between(0, std::size(names) - 1)], {x.name}, inexact(x, std::max(2.0, x.bound * 1.8)));
}

void exactUnary(GraphMaker &m) {
  static constexpr const char *names[] = {"Relu", "Neg", "Abs", "Identity"};
  Value x;
  if (m.pick(x, 0, 4))
    m.emit(names[m.between(0, 3)], {x.name}, x);
}

void steps(GraphMaker &m) {
  static constexpr const char *names[] = {"Floor", "Ceil", "Round", "Sign"};
  Value x;
  if (m.pick(x, 0, 4, /*exact=*/true))
    m.emit(names[m.between(0, 3)], {x.name}, x);
}

void withAttributes(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 0, 4))
    return;
  switch (m.between(0, 3)) {
  case 0:
    return void(m.emit("LeakyRelu", {x.name}, inexact(x, x.bound), {Attribute::f("alpha", 0.1f)}));
  case 1:
    return void(m.emit("ThresholdedRelu", {m.tamed(x).name}, inexact(x, x.bound), {Attribute::f("alpha", -1e3f)}));
  case 2:
    return void(m.emit("Shrink", {m.tamed(x).name}, inexact(x, x.bound + 1),
                       {Attribute::f("lambd", -1e3f), Attribute::f("bias", 0.5f)}));
  default:
    Value low = m.constant({}, 1), high = m.constant({}, 1);
    x.bound = std::max(x.bound, 2.0);
    m.emit("Clip", {x.name, low.name, high.name}, x);
  }
}

/// Functions with a domain: of |x| plus something.
void ofPositive(GraphMaker &m) {
  static constexpr const char *names[] = {"Sqrt", "Log", "Reciprocal"};
  Value x;
  if (!m.pick(x, 0, 4))
    return;
  Value positive = m.emit("Abs", {x.name}, inexact(x, x.bound));
  positive = m.emit("Add", {positive.name, m.number(0.5).name}, inexact(x, x.bound + 0.5));
  m.emit(names[m.between(0, 2)], {positive.name}, inexact(positive, std::max(3.0, x.bound)));
}

void exponential(GraphMaker &m) {
  Value x;
  if (m.pick(x, 0, 4)) {
    x = m.tamed(x, 2);
    m.emit("Exp", {x.name}, inexact(x, 8));
  }
}

/// A second operand that broadcasts to x: its shape without leading dimensions and with some extents 1.
Value partner(GraphMaker &m, const Value &x) {
  Shape shape(x.shape.begin() + static_cast<int64_t>(m.between(0, static_cast<int64_t>(x.shape.size()))),
              x.shape.end());
  for (int64_t &extent : shape)
    if (m.chance(3))
      extent = 1;
  return m.constant(shape, 2);
}

void binary(GraphMaker &m) {
  static constexpr const char *names[] = {"Add", "Sub", "Mul", "Min", "Max"};
  Value x, y;
  if (!m.pick(x, 0, 4))
    return;
  bool found = false;
  for (int attempt = 0; attempt < 4 && !found; ++attempt)
    found = m.pick(y, 0, 4) && y.shape == x.shape;
  if (!found)
    y = partner(m, x);
  const int64_t kind = m.between(0, 4);
  if (kind == 2) {
    x = m.tamed(x, 4);
    y = m.tamed(y, 4);
  }
  Value result = inexact(x, kind == 2 ? x.bound * y.bound : x.bound + y.bound);
  result.exact = kind > 2 && x.exact && y.exact;
  if (m.chance(2))
    std::swap(x, y);
  m.emit(names[kind], {x.name, y.name}, result);
}

void divide(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 0, 4))
    return;
  m.emit("Div", {x.name, m.number(3).name}, inexact(x, x.bound));
}

void severalOperands(GraphMaker &m) {
  static constexpr const char *names[] = {"Sum", "Mean", "Max", "Min"};
  Value x;
  if (!m.pick(x, 0, 3))
    return;
  Value y = partner(m, x), z = partner(m, x);
  m.emit(names[m.between(0, 3)], {x.name, y.name, z.name}, inexact(x, x.bound + 4));
}

void compare(GraphMaker &m) {
  static constexpr const char *names[] = {"Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"};
  Value x;
  if (!m.pick(x, 0, 4, /*exact=*/true))
    return;
  x.type = TensorProto::BOOL;
  m.emit(names[m.between(0, 4)], {x.name, partner(m, x).name}, x);
}

void logic(GraphMaker &m) {
  static constexpr const char *names[] = {"And", "Or", "Xor"};
  Value x;
  if (!m.pick(x, 0, 4, true, TensorProto::BOOL))
    return;
  Value y = m.emit("Not", {x.name}, x), z;
  if (m.pick(z, 0, 4, true, TensorProto::BOOL) && z.shape == x.shape)
    y = z;
  m.emit(names[m.between(0, 2)], {x.name, y.name}, x);
}

void where(GraphMaker &m) {
  Value condition, x;
  if (!m.pick(condition, 0, 4, true, TensorProto::BOOL))
    return;
  bool found = false;
  for (int attempt = 0; attempt < 4 && !found; ++attempt)
    found = m.pick(x, 0, 4) && x.shape == condition.shape;
  if (!found)
    x = m.constant(condition.shape, 2);
  Value y = partner(m, x);
  x.bound = std::max(x.bound, y.bound);
  m.emit("Where", {condition.name, x.name, y.name}, x);
}

void casts(GraphMaker &m) {
  Value x;
  const int from = m.chance(2) ? TensorProto::FLOAT : m.chance(2) ? TensorProto::INT32 : TensorProto::BOOL;
  if (!m.pick(x, 0, 4, true, from) || x.bound > 100)
    return;
  const int to = from == TensorProto::FLOAT ? TensorProto::INT32 : TensorProto::FLOAT;
  x.type = to;
  x.bound = std::max(x.bound, 1.0);
  m.emit("Cast", {x.name}, x, {Attribute::i("to", to)});
}

void integerArithmetic(GraphMaker &m) {
  static constexpr const char *names[] = {"Add", "Sub", "Mul", "Min", "Max", "Div", "Mod"};
  Value x;
  if (!m.pick(x, 0, 4, true, TensorProto::INT32) || x.bound > 1000)
    return;
  const int64_t kind = m.between(0, 6);
  Shape shape = x.shape;
  std::vector<int32_t> numbers;
  for (int64_t i = 0; i < GraphMaker::count(shape); ++i)
    numbers.push_back(static_cast<int32_t>(m.between(1, 5)) * (kind < 5 && m.chance(2) ? -1 : 1));
  std::string name = "i" + std::to_string(m.graph.model.graph().node_size());
  m.graph.model.weights(name, shape, numbers, TensorProto::INT32);
  x.bound = kind == 2 ? x.bound * 5 : x.bound + 5;
  m.emit(names[kind], {x.name, name}, x);
}

void quantise(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 0, 4, /*exact=*/true))
    return;
  const bool isSigned = m.chance(2);
  // Powers of two as scales keep quotients exact; halves go to even everywhere.
  std::string suffix = std::to_string(m.graph.model.graph().node_size());
  m.graph.model.floats("s" + suffix, {}, {0.25f});
  if (isSigned)
    m.graph.model.weights<int8_t>("z" + suffix, {}, {static_cast<int8_t>(m.between(-9, 9))}, TensorProto::INT8);
  else
    m.graph.model.weights<uint8_t>("z" + suffix, {}, {static_cast<uint8_t>(m.between(100, 140))}, TensorProto::UINT8);
  Value q = x;
  q.type = isSigned ? TensorProto::INT8 : TensorProto::UINT8;
  q = m.emit("QuantizeLinear", {x.name, "s" + suffix, "z" + suffix}, q);
  x.bound = std::max(x.bound, 36.0);
  m.emit("DequantizeLinear", {q.name, "s" + suffix, "z" + suffix}, x);
}

void contribActivation(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  x = m.tamed(x);
  Value y = inexact(x, x.bound + 2);
  switch (m.between(0, 2)) {
  case 0:
    return void(m.emit("QuickGelu", {x.name}, y, {Attribute::f("alpha", 1.702f)}, "com.microsoft"));
  case 1:
    return void(m.emit("FastGelu", {x.name, m.constant({x.shape.back()}, 1).name}, y, {}, "com.microsoft"));
  default:
    m.emit("BiasGelu", {x.name, m.constant({x.shape.back()}, 1).name}, y, {}, "com.microsoft");
  }
}

} // namespace

std::vector<Kind> elementwiseKinds() {
  return {unary,
          exactUnary,
          steps,
          withAttributes,
          ofPositive,
          exponential,
          binary,
          binary,
          divide,
          severalOperands,
          compare,
          logic,
          where,
          casts,
          integerArithmetic,
          quantise,
          contribActivation};
}

} // namespace wsc::test
