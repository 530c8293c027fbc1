// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an operator's handler sees of a node: its inputs as tensors, its attributes by name and type, the layer builder,
// and a place for results. Errors stick to the layer builder; getters return the default after one. An attribute nobody
// asked for is an error once the handler is done, so that nothing in a model is passed over in silence.
#pragma once
#include "compiler/import/common/NodeInputs.h"
#include "compiler/import/onnx/TensorData.h"
#include "compiler/import/onnx/onnx.pb.h"
#include <functional>
#include <set>
#include <vector>

namespace wsc::import {

/// Translates a subgraph in place, its inputs being the tensors given; gives its outputs.
using InlineGraph =
    std::function<absl::StatusOr<std::vector<Tensor>>(const wsc::onnx::GraphProto &graph, std::vector<Tensor> inputs)>;

class NodeContext : public NodeInputs {
public:
  NodeContext(const wsc::onnx::NodeProto &node, int64_t opset, LayerBuilder &layers, TensorReader &reader,
              const std::set<std::string> &used, std::vector<Tensor> inputs, InlineGraph inlineGraph)
      : NodeInputs(layers), node_(node), opset_(opset), reader_(reader), used_(used), inputs_(std::move(inputs)),
        inlineGraph_(std::move(inlineGraph)), results_(node.output_size()) {}

  const wsc::onnx::NodeProto &node() const { return node_; }
  int64_t opset() const { return opset_; }

  // Inputs. An input left out is a null tensor.
  size_t inputCount() const { return inputs_.size(); }
  bool hasInput(size_t i) const { return i < inputs_.size() && inputs_[i]; }
  Tensor input(size_t i) override { return i < inputs_.size() ? inputs_[i] : Tensor(); }

  // Attributes.
  bool hasAttribute(const char *name) const;
  int64_t intAttribute(const char *name, int64_t otherwise);
  double floatAttribute(const char *name, double otherwise);
  std::string stringAttribute(const char *name, const char *otherwise);
  std::vector<int64_t> intsAttribute(const char *name);
  std::vector<double> floatsAttribute(const char *name);
  std::vector<std::string> stringsAttribute(const char *name);
  Tensor tensorAttribute(const char *name);
  /// The subgraph that an attribute holds, or null.
  const wsc::onnx::GraphProto *graphAttribute(const char *name);
  /// What a subgraph makes of `inputs`; nothing after an error.
  std::vector<Tensor> callGraph(const wsc::onnx::GraphProto &graph, std::vector<Tensor> inputs);
  /// Attributes without influence on inference.
  void ignoreAttributes(std::initializer_list<const char *> names);

  // Results. An output that nobody reads, or beyond the node's, is dropped.
  size_t outputCount() const { return results_.size(); }
  bool wantsOutput(size_t i) const { return i < results_.size() && used_.count(node_.output(static_cast<int>(i))) > 0; }
  void setResult(size_t i, Tensor tensor) {
    if (i < results_.size())
      results_[i] = std::move(tensor);
  }
  void setResult(Tensor tensor) { setResult(0, std::move(tensor)); }
  const std::vector<Tensor> &results() const { return results_; }

  /// Fails on attributes that were never asked for, and on wanted results never set.
  void checkComplete();

private:
  const wsc::onnx::AttributeProto *find(const char *name, wsc::onnx::AttributeProto::AttributeType type);

  const wsc::onnx::NodeProto &node_;
  int64_t opset_;
  TensorReader &reader_;
  const std::set<std::string> &used_;
  std::vector<Tensor> inputs_;
  InlineGraph inlineGraph_;
  std::vector<Tensor> results_;
  std::set<std::string> asked_;
};

} // namespace wsc::import
