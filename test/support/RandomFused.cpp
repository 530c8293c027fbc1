// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random models of one operator of com.microsoft. Quantised operands come from f32 inputs.
#include "test/support/RandomGraphParts.h"
#include <cmath>

namespace wsc::test {
namespace {

using wsc::onnx::TensorProto;
using Attributes = std::vector<Attribute>;
constexpr const char *domain = "com.microsoft";

class FusedMaker : public GraphMaker {
public:
  explicit FusedMaker(uint64_t seed) : GraphMaker(seed) {
    auto *import = graph.model.model().add_opset_import();
    import->set_domain(domain);
    import->set_version(1);
  }

  std::string input(const Shape &shape) { return addInput(shape).name; }
  std::string floats(const Shape &shape) { return constant(shape, 1).name; }
  void finishWith(const std::string &type, const std::vector<std::string> &inputs, const Attributes &attributes = {},
                  int outputs = 1, int shown = 1) {
    std::vector<std::string> names;
    for (int i = 0; i < outputs; ++i)
      names.push_back("y" + std::to_string(i));
    graph.model.nodeWithOutputs(type, inputs, names, attributes).set_domain(domain);
    for (int i = 0; i < shown; ++i)
      graph.model.output(names[static_cast<size_t>(i)]);
    graph.operators.push_back(type);
  }

  struct Quantised {
    std::string tensor, scale, zeroPoint;
  };
  Quantised parameters(bool isSigned, float scale) {
    const std::string suffix = std::to_string(next++);
    graph.model.floats("s" + suffix, {}, {scale});
    if (isSigned)
      graph.model.weights<int8_t>("z" + suffix, {}, {static_cast<int8_t>(between(-5, 5))}, TensorProto::INT8);
    else
      graph.model.weights<uint8_t>("z" + suffix, {}, {static_cast<uint8_t>(between(120, 135))}, TensorProto::UINT8);
    return {"", "s" + suffix, "z" + suffix};
  }
  Quantised quantised(const Shape &shape, bool isSigned) {
    Quantised q = parameters(isSigned, 0.0625f);
    q.tensor = graph.model.node("QuantizeLinear", {input(shape), q.scale, q.zeroPoint});
    return q;
  }

private:
  int next = 0;
};

void fusedConv(FusedMaker &m) {
  const int64_t channels = m.between(1, 4), outputs = m.between(1, 4), size = m.between(3, 7), kernel = m.between(1, 3);
  static constexpr const char *names[] = {"Relu", "Tanh", "Sigmoid", "LeakyRelu"};
  const int64_t kind = m.between(0, 3);
  Attributes attributes{Attribute::ints("kernel_shape", {kernel, kernel}), Attribute::s("activation", names[kind])};
  if (kind == 3)
    attributes.push_back(Attribute::floats("activation_params", {0.25f}));
  std::vector<std::string> inputs{m.input({2, channels, size, size}), m.floats({outputs, channels, kernel, kernel}),
                                  m.floats({outputs})};
  const int64_t result = size - kernel + 1;
  if (kind == 0 && m.chance(2))
    inputs.push_back(m.floats({2, outputs, result, result}));
  m.finishWith("FusedConv", inputs, attributes);
}

void fusedMatMul(FusedMaker &m) {
  const int64_t rows = m.between(1, 5), inner = m.between(1, 6), columns = m.between(1, 5);
  const bool a = m.chance(2), b = m.chance(2);
  m.finishWith("FusedMatMul",
               {m.input(a ? Shape{2, inner, rows} : Shape{2, rows, inner}),
                m.floats(b ? Shape{columns, inner} : Shape{inner, columns})},
               {Attribute::i("transA", a), Attribute::i("transB", b), Attribute::f("alpha", 0.5f)});
}

void rotary(FusedMaker &m) {
  const int64_t heads = m.between(1, 3), half = m.between(1, 3), length = m.between(1, 4), batch = m.between(1, 2);
  std::vector<int64_t> positions{m.between(0, 3)};
  Shape shape{1};
  if (m.chance(2)) {
    shape = {batch, length};
    positions.clear();
    for (int64_t i = 0; i < batch * length; ++i)
      positions.push_back(m.between(0, 7));
  }
  m.graph.model.weights("positions", shape, positions, TensorProto::INT64);
  m.finishWith("RotaryEmbedding",
               {m.input({batch, length, heads * 2 * half}), "positions", m.floats({8, half}), m.floats({8, half})},
               {Attribute::i("interleaved", m.between(0, 1))});
}

void groupQuery(FusedMaker &m) {
  const int64_t keyHeads = m.between(1, 2), heads = keyHeads * m.between(1, 3), size = 16 * m.between(1, 2),
                batch = m.between(1, 2);
  const int64_t past = m.between(0, 4), length = past > 0 ? 1 : m.between(1, 5), total = past + length;
  // Through an input times 0, so that lengths are known at run time only.
  std::vector<float> lengths;
  for (int64_t b = 0; b < batch; ++b)
    lengths.push_back(static_cast<float>(past > 0 && m.chance(2) ? m.between(0, total - 1) : total - 1));
  m.graph.model.floats("lengths", {batch}, lengths);
  const std::string zero = m.graph.model.node("Mul", {m.input({1}), m.number(0).name});
  const std::string sum = m.graph.model.node("Add", {"lengths", zero});
  const std::string valid = m.graph.model.node("Cast", {sum}, {Attribute::i("to", TensorProto::INT32)});
  m.graph.model.weights<int32_t>("total", {1}, {static_cast<int32_t>(total)}, TensorProto::INT32);
  std::vector<std::string> inputs{m.input({batch, length, heads * size}), m.floats({batch, length, keyHeads * size}),
                                  m.floats({batch, length, keyHeads * size})};
  const Shape cache{batch, keyHeads, past, size};
  inputs.push_back(past > 0 ? m.floats(cache) : "");
  inputs.push_back(past > 0 ? m.floats(cache) : "");
  inputs.push_back(valid);
  inputs.push_back("total");
  const bool rotates = m.chance(2);
  if (rotates) {
    inputs.push_back(m.floats({16, size / 2}));
    inputs.push_back(m.floats({16, size / 2}));
  }
  Attributes attributes{Attribute::i("num_heads", heads), Attribute::i("kv_num_heads", keyHeads),
                        Attribute::i("do_rotary", rotates), Attribute::i("rotary_interleaved", m.between(0, 1))};
  if (m.chance(3))
    attributes.push_back(Attribute::i("local_window_size", m.between(1, 3)));
  if (m.chance(3))
    attributes.push_back(Attribute::f("softcap", 2));
  m.finishWith("GroupQueryAttention", inputs, attributes, 3, 1);
}

void attention(FusedMaker &m) {
  const int64_t heads = m.between(1, 3), size = m.between(1, 4), hidden = heads * size, length = m.between(1, 5),
                width = m.between(1, 5);
  std::vector<std::string> inputs{m.input({2, length, width}), m.floats({width, 3 * hidden}), m.floats({3 * hidden})};
  if (m.chance(2)) {
    std::vector<int32_t> mask;
    for (int64_t i = 0; i < 2 * length; ++i)
      mask.push_back(i % length == 0 || m.chance(2) ? 1 : 0);
    m.graph.model.weights("mask", {2, length}, mask, TensorProto::INT32);
    inputs.push_back("mask");
  }
  m.finishWith("Attention", inputs,
               {Attribute::i("num_heads", heads), Attribute::i("unidirectional", m.between(0, 1))});
}

void skipNorm(FusedMaker &m) {
  const int64_t hidden = m.between(2, 8);
  const Shape shape{2, m.between(1, 4), hidden};
  if (m.chance(2))
    return m.finishWith("SkipSimplifiedLayerNormalization", {m.input(shape), m.floats(shape), m.floats({hidden})},
                        {Attribute::f("epsilon", 0.1f)});
  m.finishWith("SkipLayerNormalization",
               {m.input(shape), m.floats(shape), m.floats({hidden}), m.floats({hidden}), m.floats({hidden})},
               {Attribute::f("epsilon", 0.1f)});
}

void qLinearBinary(FusedMaker &m) {
  const bool isSigned = m.chance(2);
  const Shape shape{m.between(1, 4), m.between(1, 6)};
  auto a = m.quantised(shape, isSigned), b = m.quantised(m.chance(2) ? shape : Shape{shape[1]}, isSigned),
       c = m.parameters(isSigned, 0.125f);
  m.finishWith(m.chance(2) ? "QLinearAdd" : "QLinearMul",
               {a.tensor, a.scale, a.zeroPoint, b.tensor, b.scale, b.zeroPoint, c.scale, c.zeroPoint});
}

void qLinearUnary(FusedMaker &m) {
  static constexpr const char *names[] = {"QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax",
                                          "QLinearGlobalAveragePool", "QLinearAveragePool"};
  const int64_t kind = m.between(0, 4);
  const bool isSigned = kind < 2 && m.chance(2);
  auto x = m.quantised({m.between(1, 3), m.between(1, 4), 4, 5}, isSigned),
       y = m.parameters(isSigned, kind == 1 ? 0.0625f : 0.00390625f * (kind > 2 ? 8 : 1));
  Attributes attributes;
  if (kind == 1)
    attributes.push_back(Attribute::f("alpha", 0.25f));
  if (kind == 2)
    attributes = {Attribute::i("axis", -1), Attribute::i("opset", 13)};
  if (kind == 3)
    attributes = {Attribute::i("channels_last", m.between(0, 1))};
  if (kind == 4)
    attributes = {Attribute::ints("kernel_shape", {2, 2}), Attribute::ints("strides", {1, 2}),
                  Attribute::i("count_include_pad", 0)};
  m.finishWith(names[kind], {x.tensor, x.scale, x.zeroPoint, y.scale, y.zeroPoint}, attributes);
}

void qLinearConcat(FusedMaker &m) {
  auto a = m.quantised({2, 3}, false), b = m.quantised({2, 2}, false), y = m.parameters(false, 0.125f);
  m.finishWith("QLinearConcat", {y.scale, y.zeroPoint, a.tensor, a.scale, a.zeroPoint, b.tensor, b.scale, b.zeroPoint},
               {Attribute::i("axis", 1)});
}

void qGemm(FusedMaker &m) {
  const int64_t rows = m.between(1, 4), inner = m.between(1, 5), columns = m.between(1, 4);
  const bool b = m.chance(2);
  auto x = m.quantised({rows, inner}, false), w = m.quantised(b ? Shape{columns, inner} : Shape{inner, columns}, true);
  std::vector<std::string> inputs{x.tensor, x.scale, x.zeroPoint, w.tensor, w.scale, w.zeroPoint};
  if (m.chance(3))
    return m.finishWith("MatMulIntegerToFloat",
                        {x.tensor, m.quantised({inner, columns}, true).tensor, x.scale, w.scale, x.zeroPoint});
  if (m.chance(2)) {
    m.graph.model.weights<int32_t>("bias", {1}, {static_cast<int32_t>(m.between(-20, 20))}, TensorProto::INT32);
    auto y = m.parameters(false, 0.25f);
    inputs.insert(inputs.end(), {"bias", y.scale, y.zeroPoint});
  }
  m.finishWith("QGemm", inputs, {Attribute::i("transB", b)});
}

} // namespace

RandomGraph makeRandomFused(uint64_t seed) {
  static constexpr void (*kinds[])(FusedMaker &) = {fusedConv,    fusedMatMul,   rotary,   groupQuery,
                                                    groupQuery,   attention,     skipNorm, qLinearBinary,
                                                    qLinearUnary, qLinearConcat, qGemm};
  FusedMaker maker(seed);
  kinds[maker.between(0, std::size(kinds) - 1)](maker);
  return std::move(maker.graph);
}

} // namespace wsc::test
