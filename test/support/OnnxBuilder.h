// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds ONNX models in memory for tests, over wsc's own schema: inputs, weights, nodes, outputs, then bytes or a file.
// buildResNet50 makes a model of ResNet-50's shape with seeded weights and batch normalisation already folded into its
// convolutions.
#pragma once
#include "compiler/import/onnx/onnx.pb.h"
#include <cmath>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

namespace wsc::test {

/// An attribute of a node, by type.
struct Attribute {
  wsc::onnx::AttributeProto proto;

  static Attribute make(const std::string &name, wsc::onnx::AttributeProto::AttributeType type) {
    Attribute attribute;
    attribute.proto.set_name(name);
    attribute.proto.set_type(type);
    return attribute;
  }
  static Attribute i(const std::string &name, int64_t value) {
    Attribute attribute = make(name, wsc::onnx::AttributeProto::INT);
    attribute.proto.set_i(value);
    return attribute;
  }
  static Attribute f(const std::string &name, float value) {
    Attribute attribute = make(name, wsc::onnx::AttributeProto::FLOAT);
    attribute.proto.set_f(value);
    return attribute;
  }
  static Attribute s(const std::string &name, const std::string &value) {
    Attribute attribute = make(name, wsc::onnx::AttributeProto::STRING);
    attribute.proto.set_s(value);
    return attribute;
  }
  static Attribute ints(const std::string &name, const std::vector<int64_t> &values) {
    Attribute attribute = make(name, wsc::onnx::AttributeProto::INTS);
    attribute.proto.mutable_ints()->Add(values.begin(), values.end());
    return attribute;
  }
  static Attribute floats(const std::string &name, const std::vector<float> &values) {
    Attribute attribute = make(name, wsc::onnx::AttributeProto::FLOATS);
    attribute.proto.mutable_floats()->Add(values.begin(), values.end());
    return attribute;
  }
  static Attribute strings(const std::string &name, const std::vector<std::string> &values) {
    Attribute attribute = make(name, wsc::onnx::AttributeProto::STRINGS);
    for (const std::string &value : values)
      attribute.proto.add_strings(value);
    return attribute;
  }
};

/// One dimension of an input: an extent, a name, or neither ("").
struct Dim {
  int64_t value = -1;
  std::string name;
  Dim(int64_t value) : value(value) {}
  Dim(int value) : value(value) {}
  Dim(const char *name) : name(name) {}
};

class OnnxBuilder {
public:
  using Type = wsc::onnx::TensorProto::DataType;

  explicit OnnxBuilder(int64_t opset = 17, int64_t irVersion = 8) {
    model_.set_ir_version(irVersion);
    wsc::onnx::OperatorSetIdProto *import = model_.add_opset_import();
    import->set_domain("");
    import->set_version(opset);
    model_.mutable_graph()->set_name("test");
  }

  /// For what the functions below do not cover, damage included.
  wsc::onnx::ModelProto &model() { return model_; }
  wsc::onnx::GraphProto &graph() { return *model_.mutable_graph(); }

  std::string input(const std::string &name, const std::vector<Dim> &shape, Type type = wsc::onnx::TensorProto::FLOAT) {
    describe(*graph().add_input(), name, shape, type);
    return name;
  }

  std::string output(const std::string &name) {
    graph().add_output()->set_name(name);
    return name;
  }

  /// An initializer with raw elements.
  template <typename Element>
  std::string weights(const std::string &name, const std::vector<int64_t> &shape, const std::vector<Element> &values,
                      Type type) {
    wsc::onnx::TensorProto *tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->mutable_dims()->Add(shape.begin(), shape.end());
    tensor->set_data_type(type);
    tensor->set_raw_data(values.data(), values.size() * sizeof(Element));
    return name;
  }
  std::string floats(const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &values) {
    return weights(name, shape, values, wsc::onnx::TensorProto::FLOAT);
  }
  std::string ints(const std::string &name, const std::vector<int64_t> &values) {
    return weights(name, {static_cast<int64_t>(values.size())}, values, wsc::onnx::TensorProto::INT64);
  }

  /// A node with one output; gives the output's name, which is the node's too.
  std::string node(const std::string &type, const std::vector<std::string> &inputs,
                   const std::vector<Attribute> &attributes = {}, const std::string &name = "") {
    std::string output = name.empty() ? "t" + std::to_string(graph().node_size()) : name;
    nodeWithOutputs(type, inputs, {output}, attributes);
    return output;
  }
  wsc::onnx::NodeProto &nodeWithOutputs(const std::string &type, const std::vector<std::string> &inputs,
                                        const std::vector<std::string> &outputs,
                                        const std::vector<Attribute> &attributes = {}) {
    wsc::onnx::NodeProto &node = *graph().add_node();
    node.set_op_type(type);
    node.set_name(outputs.empty() ? "" : outputs.front());
    for (const std::string &input : inputs)
      node.add_input(input);
    for (const std::string &output : outputs)
      node.add_output(output);
    for (const Attribute &attribute : attributes)
      *node.add_attribute() = attribute.proto;
    return node;
  }

  std::string bytes() const { return model_.SerializeAsString(); }
  /// False when the file cannot be written.
  bool write(const std::string &path) const {
    std::ofstream file(path, std::ios::binary);
    return model_.SerializeToOstream(&file) && file.flush().good();
  }

private:
  static void describe(wsc::onnx::ValueInfoProto &info, const std::string &name, const std::vector<Dim> &shape,
                       Type type) {
    info.set_name(name);
    auto *tensor = info.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (const Dim &dim : shape) {
      auto *to = tensor->mutable_shape()->add_dim();
      if (dim.value >= 0)
        to->set_dim_value(dim.value);
      else if (!dim.name.empty())
        to->set_dim_param(dim.name);
    }
  }

  wsc::onnx::ModelProto model_;
};

/// Seeded uniform numbers, the same on every platform (splitmix64).
class SeededUniform {
public:
  explicit SeededUniform(uint64_t seed) : state_(seed) {}
  /// In [-limit, limit).
  float next(float limit) {
    state_ += 0x9e3779b97f4a7c15ull;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return (static_cast<float>(z >> 40) * 0x1p-23f - 1.0f) * limit;
  }
  std::vector<float> vector(int64_t count, float limit) {
    std::vector<float> values(count);
    for (float &value : values)
      value = next(limit);
    return values;
  }

private:
  uint64_t state_;
};

/// ResNet-50 (stride in the 3x3 convolution) with batch normalisation folded: input "input" [1, 3, imageSize,
/// imageSize], output "output" [1, 1000]. `width` is the first stage's channels: 64 is ResNet-50 itself (102 MB),
/// smaller ones keep its graph.
inline OnnxBuilder buildResNet50(uint64_t seed, int64_t imageSize = 224, int64_t width = 64, int64_t classes = 1000) {
  OnnxBuilder b;
  SeededUniform random(seed);
  auto conv = [&](const std::string &x, const std::string &name, int64_t in, int64_t out, int64_t kernel,
                  int64_t stride, float gain) {
    // He's variance for uniform numbers: limit = sqrt(6 / fan-in).
    float limit = gain * std::sqrt(6.0f / static_cast<float>(in * kernel * kernel));
    std::string weight =
        b.floats(name + ".weight", {out, in, kernel, kernel}, random.vector(out * in * kernel * kernel, limit));
    std::string bias = b.floats(name + ".bias", {out}, random.vector(out, 0.05f));
    int64_t pad = kernel / 2;
    return b.node("Conv", {x, weight, bias},
                  {Attribute::ints("kernel_shape", {kernel, kernel}), Attribute::ints("strides", {stride, stride}),
                   Attribute::ints("pads", {pad, pad, pad, pad}), Attribute::ints("dilations", {1, 1}),
                   Attribute::i("group", 1)},
                  name);
  };
  std::string x = b.input("input", {1, 3, imageSize, imageSize});
  x = b.node("Relu", {conv(x, "stem", 3, width, 7, 2, 1.0f)});
  x = b.node("MaxPool", {x},
             {Attribute::ints("kernel_shape", {3, 3}), Attribute::ints("strides", {2, 2}),
              Attribute::ints("pads", {1, 1, 1, 1})});
  const int64_t blocks[] = {3, 4, 6, 3};
  int64_t in = width;
  for (int stage = 0; stage < 4; ++stage) {
    int64_t middle = width << stage, out = middle * 4;
    for (int64_t block = 0; block < blocks[stage]; ++block) {
      int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      std::string name = "stage" + std::to_string(stage + 1) + ".block" + std::to_string(block);
      std::string y = b.node("Relu", {conv(x, name + ".reduce", in, middle, 1, 1, 1.0f)});
      y = b.node("Relu", {conv(y, name + ".middle", middle, middle, 3, stride, 1.0f)});
      // A damped residual branch keeps the activations of sixteen blocks near one magnitude.
      y = conv(y, name + ".expand", middle, out, 1, 1, 0.5f);
      std::string shortcut = block == 0 ? conv(x, name + ".shortcut", in, out, 1, stride, 0.7f) : x;
      x = b.node("Relu", {b.node("Add", {y, shortcut})});
      in = out;
    }
  }
  x = b.node("Flatten", {b.node("GlobalAveragePool", {x})}, {Attribute::i("axis", 1)});
  std::string weight = b.floats("classifier.weight", {classes, in},
                                random.vector(classes * in, std::sqrt(3.0f / static_cast<float>(in))));
  std::string bias = b.floats("classifier.bias", {classes}, random.vector(classes, 0.05f));
  b.output(b.node("Gemm", {x, weight, bias},
                  {Attribute::f("alpha", 1), Attribute::f("beta", 1), Attribute::i("transB", 1)}, "output"));
  return b;
}

} // namespace wsc::test
