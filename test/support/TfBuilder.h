// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds TensorFlow graphs in memory for tests, over wsc's own schema: placeholders, constants, nodes, functions; then
// bytes, text or a file.
#pragma once
#include "compiler/import/tf/tf.pb.h"
#include "google/protobuf/text_format.h"
#include <cstdint>
#include <string>
#include <vector>

namespace wsc::test {

/// An attribute of a node, by type.
struct TfAttr {
  std::string name;
  wsc::tf::AttrValue value;

  static TfAttr i(const std::string &name, int64_t value) {
    TfAttr attr{name, {}};
    attr.value.set_i(value);
    return attr;
  }
  static TfAttr f(const std::string &name, float value) {
    TfAttr attr{name, {}};
    attr.value.set_f(value);
    return attr;
  }
  static TfAttr b(const std::string &name, bool value) {
    TfAttr attr{name, {}};
    attr.value.set_b(value);
    return attr;
  }
  static TfAttr s(const std::string &name, const std::string &value) {
    TfAttr attr{name, {}};
    attr.value.set_s(value);
    return attr;
  }
  static TfAttr type(const std::string &name, wsc::tf::DataType value) {
    TfAttr attr{name, {}};
    attr.value.set_type(value);
    return attr;
  }
  static TfAttr ints(const std::string &name, const std::vector<int64_t> &values) {
    TfAttr attr{name, {}};
    attr.value.mutable_list()->mutable_i()->Add(values.begin(), values.end());
    return attr;
  }
  static TfAttr shape(const std::string &name, const std::vector<int64_t> &extents) {
    TfAttr attr{name, {}};
    for (int64_t extent : extents)
      attr.value.mutable_shape()->add_dim()->set_size(extent);
    if (extents.empty())
      attr.value.mutable_shape();
    return attr;
  }
  static TfAttr function(const std::string &name, const std::string &value) {
    TfAttr attr{name, {}};
    attr.value.mutable_func()->set_name(value);
    return attr;
  }
};

inline wsc::tf::NodeDef tfNode(const std::string &op, const std::string &name, const std::vector<std::string> &inputs,
                               const std::vector<TfAttr> &attributes = {}) {
  wsc::tf::NodeDef node;
  node.set_op(op);
  node.set_name(name);
  for (const std::string &input : inputs)
    node.add_input(input);
  for (const TfAttr &attribute : attributes) {
    wsc::tf::AttrEntry &entry = *node.add_attr();
    entry.set_key(attribute.name);
    *entry.mutable_value() = attribute.value;
  }
  return node;
}

inline wsc::tf::TensorProto tfTensor(wsc::tf::DataType type, const std::vector<int64_t> &shape) {
  wsc::tf::TensorProto tensor;
  tensor.set_dtype(type);
  for (int64_t extent : shape)
    tensor.mutable_tensor_shape()->add_dim()->set_size(extent);
  if (shape.empty())
    tensor.mutable_tensor_shape();
  return tensor;
}

inline TfAttr tfValue(const wsc::tf::TensorProto &tensor) {
  TfAttr attr{"value", {}};
  *attr.value.mutable_tensor() = tensor;
  return attr;
}

/// A Const node of floats, their bytes as content.
inline wsc::tf::NodeDef tfFloats(const std::string &name, const std::vector<int64_t> &shape,
                                 const std::vector<float> &values) {
  wsc::tf::TensorProto tensor = tfTensor(wsc::tf::DT_FLOAT, shape);
  tensor.set_tensor_content(std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)));
  return tfNode("Const", name, {}, {TfAttr::type("dtype", wsc::tf::DT_FLOAT), tfValue(tensor)});
}

/// A Const node of 32-bit integers as typed values.
inline wsc::tf::NodeDef tfInts(const std::string &name, const std::vector<int64_t> &shape,
                               const std::vector<int32_t> &values) {
  wsc::tf::TensorProto tensor = tfTensor(wsc::tf::DT_INT32, shape);
  tensor.mutable_int_val()->Add(values.begin(), values.end());
  return tfNode("Const", name, {}, {TfAttr::type("dtype", wsc::tf::DT_INT32), tfValue(tensor)});
}

class TfBuilder {
public:
  wsc::tf::GraphDef graph;

  wsc::tf::NodeDef &add(const wsc::tf::NodeDef &node) { return *graph.add_node() = node; }
  std::string node(const std::string &op, const std::string &name, const std::vector<std::string> &inputs,
                   const std::vector<TfAttr> &attributes = {}) {
    add(tfNode(op, name, inputs, attributes));
    return name;
  }
  std::string input(const std::string &name, const std::vector<int64_t> &shape,
                    wsc::tf::DataType type = wsc::tf::DT_FLOAT) {
    return node("Placeholder", name, {}, {TfAttr::type("dtype", type), TfAttr::shape("shape", shape)});
  }
  std::string floats(const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &values) {
    add(tfFloats(name, shape, values));
    return name;
  }
  std::string number(const std::string &name, float value) { return floats(name, {}, {value}); }
  std::string ints(const std::string &name, const std::vector<int32_t> &values) {
    add(tfInts(name, {static_cast<int64_t>(values.size())}, values));
    return name;
  }
  std::string integer(const std::string &name, int32_t value) {
    add(tfInts(name, {}, {value}));
    return name;
  }

  /// A function: its inputs and results (name and type), nodes, and where each result comes from.
  using Argument = std::pair<std::string, wsc::tf::DataType>;
  void function(const std::string &name, const std::vector<Argument> &inputs, const std::vector<Argument> &outputs,
                const std::vector<wsc::tf::NodeDef> &nodes, const std::vector<std::string> &returned) {
    wsc::tf::FunctionDef &function = *graph.mutable_library()->add_function();
    function.mutable_signature()->set_name(name);
    for (const Argument &input : inputs) {
      auto &argument = *function.mutable_signature()->add_input_arg();
      argument.set_name(input.first);
      argument.set_type(input.second);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      auto &argument = *function.mutable_signature()->add_output_arg();
      argument.set_name(outputs[i].first);
      argument.set_type(outputs[i].second);
      wsc::tf::StringEntry &entry = *function.add_ret();
      entry.set_key(outputs[i].first);
      entry.set_value(returned[i]);
    }
    for (const wsc::tf::NodeDef &node : nodes)
      *function.add_node_def() = node;
  }

  std::string bytes() const { return graph.SerializeAsString(); }
  std::string text() const {
    std::string text;
    google::protobuf::TextFormat::PrintToString(graph, &text);
    return text;
  }
};

} // namespace wsc::test
