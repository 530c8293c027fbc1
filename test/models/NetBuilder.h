// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small networks for end-to-end tests: layers with seeded weights on top of OnnxBuilder, with the shape of every
// tensor at hand, so that a test (or a random generator) can say what it wants in a line per layer.
#pragma once

#include "test/support/OnnxBuilder.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace wsc::test {

/// A tensor of the network: [1, C, H, W] or [B, F].
struct NetValue {
  std::string name;
  std::vector<int64_t> shape;
  int64_t channels() const { return shape[1]; }
  int64_t height() const { return shape[2]; }
  int64_t width() const { return shape[3]; }
};

/// Geometry of a convolution or pool; pads are top, left, bottom, right as in ONNX.
struct Window2d {
  std::array<int64_t, 2> kernel{3, 3}, strides{1, 1}, dilations{1, 1};
  std::array<int64_t, 4> pads{0, 0, 0, 0};
  int64_t extent(int d, int64_t size) const {
    return (size + pads[d] + pads[d + 2] - ((kernel[d] - 1) * dilations[d] + 1)) / strides[d] + 1;
  }
};

class NetBuilder {
public:
  explicit NetBuilder(uint64_t seed) : random(seed) {}

  OnnxBuilder onnx;
  SeededUniform random;

  NetValue input(const std::string &name, const std::vector<int64_t> &shape) {
    onnx.input(name, {shape.begin(), shape.end()});
    return {name, shape};
  }
  void output(const NetValue &value) { onnx.output(value.name); }

  /// `groups` = channels makes it depthwise; `out` is a multiple of them.
  NetValue conv(const NetValue &x, int64_t out, const Window2d &w, int64_t groups = 1, bool bias = true) {
    int64_t depth = x.channels() / groups, fan = depth * w.kernel[0] * w.kernel[1];
    std::vector<std::string> inputs{x.name,
                                    weights({out, depth, w.kernel[0], w.kernel[1]}, 1.7f / std::sqrt(float(fan)))};
    if (bias)
      inputs.push_back(weights({out}, 0.3f));
    std::vector<Attribute> attributes = windowAttributes(w);
    attributes.push_back(Attribute::i("group", groups));
    return {onnx.node("Conv", inputs, attributes), {1, out, w.extent(0, x.height()), w.extent(1, x.width())}};
  }
  NetValue maxPool(const NetValue &x, const Window2d &w) {
    return {onnx.node("MaxPool", {x.name}, windowAttributes(w)), pooled(x, w)};
  }
  NetValue averagePool(const NetValue &x, const Window2d &w, bool countPadding) {
    std::vector<Attribute> attributes = windowAttributes(w, false);
    attributes.push_back(Attribute::i("count_include_pad", countPadding));
    return {onnx.node("AveragePool", {x.name}, attributes), pooled(x, w)};
  }
  NetValue globalAverage(const NetValue &x) {
    return {onnx.node("GlobalAveragePool", {x.name}), {1, x.channels(), 1, 1}};
  }
  NetValue batchNorm(const NetValue &x) {
    std::vector<float> variance(x.channels());
    for (float &v : variance)
      v = 1.0f + 0.5f * random.next(1);
    std::string v = onnx.floats(fresh("var"), {x.channels()}, variance);
    return {onnx.node("BatchNormalization", {x.name, weights({x.channels()}, 1), weights({x.channels()}, 0.5f),
                                             weights({x.channels()}, 0.5f), v}),
            x.shape};
  }
  /// Relu, Sigmoid, Tanh, …
  NetValue unary(const std::string &type, const NetValue &x) { return {onnx.node(type, {x.name}), x.shape}; }
  NetValue clip(const NetValue &x, float low, float high) {
    return {onnx.node("Clip", {x.name, onnx.floats(fresh("low"), {}, {low}), onnx.floats(fresh("high"), {}, {high})}),
            x.shape};
  }
  /// `type` (Add, Mul, …) with a constant of `shape`, broadcast; elements in [0.5, 1.5), fit for division.
  NetValue withConstant(const std::string &type, const NetValue &x, const std::vector<int64_t> &shape,
                        bool constantFirst = false) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    std::vector<float> values = random.vector(count, 0.5f);
    for (float &value : values)
      value += 1;
    std::string c = onnx.floats(fresh("c"), shape, values);
    return {constantFirst ? onnx.node(type, {c, x.name}) : onnx.node(type, {x.name, c}), x.shape};
  }
  NetValue binary(const std::string &type, const NetValue &a, const NetValue &b) {
    return {onnx.node(type, {a.name, b.name}), a.shape};
  }
  /// Along channels.
  NetValue concat(const std::vector<NetValue> &parts) {
    NetValue result{"", parts[0].shape};
    std::vector<std::string> names;
    result.shape[1] = 0;
    for (const NetValue &part : parts) {
      names.push_back(part.name);
      result.shape[1] += part.channels();
    }
    result.name = onnx.node("Concat", names, {Attribute::i("axis", 1)});
    return result;
  }
  /// Elements starts[d], starts[d] + steps[d], … before ends[d] along dimension d.
  NetValue slice(const NetValue &x, const std::vector<int64_t> &starts, const std::vector<int64_t> &ends,
                 const std::vector<int64_t> &steps) {
    std::vector<int64_t> axes;
    NetValue result{"", {}};
    for (size_t d = 0; d < starts.size(); ++d) {
      axes.push_back(int64_t(d));
      result.shape.push_back((ends[d] - starts[d] + steps[d] - 1) / steps[d]);
    }
    result.name = onnx.node("Slice", {x.name, onnx.ints(fresh("starts"), starts), onnx.ints(fresh("ends"), ends),
                                      onnx.ints(fresh("axes"), axes), onnx.ints(fresh("steps"), steps)});
    return result;
  }
  /// `value` around an image: above, left, below, right.
  NetValue pad(const NetValue &x, const std::array<int64_t, 4> &pads, float value = 0) {
    return {onnx.node("Pad", {x.name, onnx.ints(fresh("pads"), {0, 0, pads[0], pads[1], 0, 0, pads[2], pads[3]}),
                              onnx.floats(fresh("value"), {}, {value})}),
            {1, x.channels(), x.height() + pads[0] + pads[2], x.width() + pads[1] + pads[3]}};
  }
  /// ReduceSum, ReduceMean, ReduceMax, … over `axes`, which stay with extent 1.
  NetValue reduce(const std::string &type, const NetValue &x, const std::vector<int64_t> &axes) {
    NetValue result{"", x.shape};
    for (int64_t axis : axes)
      result.shape[size_t(axis)] = 1;
    result.name = type == "ReduceSum" // its axes are an input since opset 13
                      ? onnx.node(type, {x.name, onnx.ints(fresh("axes"), axes)})
                      : onnx.node(type, {x.name}, {Attribute::ints("axes", axes)});
    return result;
  }
  NetValue flatten(const NetValue &x) {
    return {onnx.node("Flatten", {x.name}, {Attribute::i("axis", 1)}), {1, x.channels() * x.height() * x.width()}};
  }
  NetValue gemm(const NetValue &x, int64_t out, bool transposed = true) {
    int64_t in = x.shape[1];
    std::string w =
        transposed ? weights({out, in}, 1.7f / std::sqrt(float(in))) : weights({in, out}, 1.7f / std::sqrt(float(in)));
    return {onnx.node("Gemm", {x.name, w, weights({out}, 0.3f)}, {Attribute::i("transB", transposed)}),
            {x.shape[0], out}};
  }
  NetValue softmax(const NetValue &x, bool logarithm = false) {
    return {onnx.node(logarithm ? "LogSoftmax" : "Softmax", {x.name}, {Attribute::i("axis", 1)}), x.shape};
  }
  NetValue reshape(const NetValue &x, const std::vector<int64_t> &shape) {
    return {onnx.node("Reshape", {x.name, onnx.ints(fresh("shape"), shape)}), shape};
  }
  NetValue transpose(const NetValue &x, const std::vector<int64_t> &permutation) {
    NetValue result{onnx.node("Transpose", {x.name}, {Attribute::ints("perm", permutation)}), {}};
    for (int64_t d : permutation)
      result.shape.push_back(x.shape[d]);
    return result;
  }
  NetValue depthToSpace(const NetValue &x, int64_t block, const std::string &mode) {
    return {onnx.node("DepthToSpace", {x.name}, {Attribute::i("blocksize", block), Attribute::s("mode", mode)}),
            {1, x.channels() / (block * block), x.height() * block, x.width() * block}};
  }

  std::string weights(const std::vector<int64_t> &shape, float limit) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return onnx.floats(fresh("w"), shape, random.vector(count, limit));
  }
  std::string fresh(const std::string &prefix) { return prefix + std::to_string(counter++); }

private:
  static std::vector<Attribute> windowAttributes(const Window2d &w, bool dilated = true) {
    std::vector<Attribute> attributes{Attribute::ints("kernel_shape", {w.kernel.begin(), w.kernel.end()}),
                                      Attribute::ints("strides", {w.strides.begin(), w.strides.end()}),
                                      Attribute::ints("pads", {w.pads.begin(), w.pads.end()})};
    if (dilated)
      attributes.push_back(Attribute::ints("dilations", {w.dilations.begin(), w.dilations.end()}));
    return attributes;
  }
  static std::vector<int64_t> pooled(const NetValue &x, const Window2d &w) {
    return {1, x.channels(), w.extent(0, x.height()), w.extent(1, x.width())};
  }
  int counter = 0;
};

} // namespace wsc::test
