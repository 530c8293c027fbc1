// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantised models as exporters write them: weights of 8 bits with a scale per output channel, biases of 32 bits, and
// QuantizeLinear with DequantizeLinear around what stays in f32. A convolutional net with a residual, and one layer of
// an encoder. The result is dequantised from bytes of -8 to 8.
#include "test/support/RandomGraphParts.h"
#include <cmath>

namespace wsc::test {
namespace {

using wsc::onnx::TensorProto;

class QuantisedMaker : public GraphMaker {
public:
  explicit QuantisedMaker(uint64_t seed) : GraphMaker(seed) {}

  OnnxBuilder &model() { return graph.model; }
  std::string node(const std::string &type, const std::vector<std::string> &inputs,
                   const std::vector<Attribute> &attributes = {}) {
    graph.operators.push_back(type);
    return graph.model.node(type, inputs, attributes);
  }

  /// Through 8 bits with numbers up to `bound`, without a sign where they have none.
  std::string throughBytes(const std::string &x, double bound, bool hasSign) {
    const std::string suffix = std::to_string(next++);
    const auto scale = static_cast<float>(bound / (hasSign ? 127 : 255));
    model().floats("scale" + suffix, {}, {scale});
    if (hasSign)
      model().weights<int8_t>("zero" + suffix, {}, {0}, TensorProto::INT8);
    else
      model().weights<uint8_t>("zero" + suffix, {}, {0}, TensorProto::UINT8);
    const std::string q = node("QuantizeLinear", {x, "scale" + suffix, "zero" + suffix});
    return node("DequantizeLinear", {q, "scale" + suffix, "zero" + suffix});
  }

  /// int8 weights with a scale for each place of `axis`; values up to `bound`.
  std::string weight(const Shape &shape, int64_t axis, double bound) {
    const std::string suffix = std::to_string(next++);
    std::vector<int8_t> values;
    for (int64_t i = 0; i < count(shape); ++i)
      values.push_back(static_cast<int8_t>(between(-127, 127)));
    std::vector<float> scales;
    for (int64_t c = 0; c < shape[static_cast<size_t>(axis)]; ++c)
      scales.push_back(static_cast<float>(bound / 127 * (0.5 + static_cast<double>(between(0, 100)) / 200)));
    model().weights("weight" + suffix, shape, values, TensorProto::INT8);
    model().floats("scales" + suffix, {shape[static_cast<size_t>(axis)]}, scales);
    model().weights("zeros" + suffix, {shape[static_cast<size_t>(axis)]}, std::vector<int8_t>(scales.size(), 0),
                    TensorProto::INT8);
    return node("DequantizeLinear", {"weight" + suffix, "scales" + suffix, "zeros" + suffix},
                {Attribute::i("axis", axis)});
  }

  std::string bias(int64_t channels, float scale) {
    const std::string suffix = std::to_string(next++);
    std::vector<int32_t> values;
    for (int64_t i = 0; i < channels; ++i)
      values.push_back(static_cast<int32_t>(between(-2000, 2000)));
    model().weights("bias" + suffix, {channels}, values, TensorProto::INT32);
    model().floats("biasScale" + suffix, {}, {scale});
    return node("DequantizeLinear", {"bias" + suffix, "biasScale" + suffix});
  }

private:
  int next = 0;
};

std::string convolution(QuantisedMaker &m, const std::string &x, int64_t in, int64_t out, int64_t kernel,
                        int64_t stride) {
  const double bound = 2 / std::sqrt(static_cast<double>(in * kernel * kernel));
  const std::string w = m.weight({out, in, kernel, kernel}, 0, bound), b = m.bias(out, 1e-4f);
  return m.node("Conv", {x, w, b},
                {Attribute::ints("kernel_shape", {kernel, kernel}), Attribute::ints("strides", {stride, stride}),
                 Attribute::ints("pads", {kernel / 2, kernel / 2, kernel / 2, kernel / 2})});
}

void convolutionalNet(QuantisedMaker &m) {
  const int64_t channels = m.between(1, 3), width = 2 * m.between(2, 4), size = m.between(6, 12),
                classes = m.between(2, 10);
  std::string x = m.throughBytes(m.addInput({1, channels, size, size}).name, 4, true);
  x = m.throughBytes(m.node("Relu", {convolution(m, x, channels, width, 3, 1)}), 6, false);
  for (int64_t block = m.between(1, 2); block > 0; --block) {
    std::string y = m.throughBytes(m.node("Relu", {convolution(m, x, width, width, 3, 1)}), 6, false);
    y = m.throughBytes(convolution(m, y, width, width, 3, 1), 6, true);
    x = m.throughBytes(m.node("Relu", {m.node("Add", {y, x})}), 8, false);
  }
  x = m.throughBytes(m.node("GlobalAveragePool", {x}), 4, false);
  x = m.node("Flatten", {x});
  const std::string w = m.weight({classes, width}, 0, 1), b = m.bias(classes, 1e-4f);
  m.model().output(m.throughBytes(m.node("Gemm", {x, w, b}, {Attribute::i("transB", 1)}), 8, true));
}

void encoderLayer(QuantisedMaker &m) {
  const int64_t length = m.between(3, 8), width = 4 * m.between(2, 4);
  const double bound = 2 / std::sqrt(static_cast<double>(width));
  std::string x = m.throughBytes(m.addInput({length, width}).name, 4, true);
  auto projected = [&](const std::string &from, int64_t in, int64_t out) {
    std::string y = m.node("MatMul", {from, m.weight({in, out}, 1, bound)});
    return m.throughBytes(m.node("Add", {y, m.constant({out}, 0.25).name}), 6, true);
  };
  const std::string q = projected(x, width, width), k = projected(x, width, width), v = projected(x, width, width);
  const std::string keys = m.node("Transpose", {k}, {Attribute::ints("perm", {1, 0})});
  const std::string scores =
      m.node("Mul", {m.node("MatMul", {q, keys}), m.number(1 / std::sqrt(static_cast<double>(width))).name});
  const std::string weights = m.throughBytes(m.node("Softmax", {scores}), 1, false);
  std::string y = m.throughBytes(m.node("MatMul", {weights, v}), 6, true);
  y = m.node("LayerNormalization", {m.node("Add", {x, projected(y, width, width)}), m.constant({width}, 1).name,
                                    m.constant({width}, 1).name});
  y = m.throughBytes(y, 4, true);
  const std::string wide = m.throughBytes(m.node("Relu", {projected(y, width, 2 * width)}), 6, false);
  m.model().output(m.throughBytes(m.node("Add", {y, projected(wide, 2 * width, width)}), 8, true));
}

} // namespace

RandomGraph makeRandomQuantised(uint64_t seed) {
  QuantisedMaker maker(seed);
  if (maker.chance(2))
    convolutionalNet(maker);
  else
    encoderLayer(maker);
  return std::move(maker.graph);
}

} // namespace wsc::test
