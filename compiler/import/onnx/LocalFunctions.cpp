// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of a model; see LocalFunctions.h.
#include "compiler/import/onnx/LocalFunctions.h"
#include "compiler/import/onnx/Graph.h"
#include <functional>

using namespace wsc::onnx;

namespace wsc::import {

Opsets opsetsOf(const google::protobuf::RepeatedPtrField<OperatorSetIdProto> &imports) {
  Opsets opsets;
  for (const OperatorSetIdProto &opset : imports)
    opsets.emplace(normalizedDomain(opset.domain()), opset.version());
  return opsets;
}

const FunctionProto *findFunction(const ModelProto &model, const NodeProto &node) {
  for (const FunctionProto &function : model.functions())
    if (function.name() == node.op_type() && normalizedDomain(function.domain()) == normalizedDomain(node.domain()) &&
        function.overload() == node.overload())
      return &function;
  return nullptr;
}

using Values = std::map<std::string, const AttributeProto *>;

static void substitute(NodeProto &node, const Values &values);

static void substitute(GraphProto &graph, const Values &values) {
  for (NodeProto &node : *graph.mutable_node())
    substitute(node, values);
}

static void substitute(NodeProto &node, const Values &values) {
  for (int i = node.attribute_size(); i-- > 0;) {
    AttributeProto &attribute = *node.mutable_attribute(i);
    if (attribute.has_g())
      substitute(*attribute.mutable_g(), values);
    for (GraphProto &graph : *attribute.mutable_graphs())
      substitute(graph, values);
    if (attribute.ref_attr_name().empty())
      continue;
    auto value = values.find(attribute.ref_attr_name());
    if (value == values.end()) {
      node.mutable_attribute()->DeleteSubrange(i, 1);
      continue;
    }
    std::string name = attribute.name();
    attribute = *value->second;
    attribute.set_name(name);
  }
}

std::vector<NodeProto> bodyOf(const FunctionProto &function, const NodeProto &call) {
  Values values;
  for (const AttributeProto &attribute : function.attribute_proto())
    values[attribute.name()] = &attribute;
  for (const AttributeProto &attribute : call.attribute())
    values[attribute.name()] = &attribute;
  std::vector<NodeProto> nodes(function.node().begin(), function.node().end());
  for (NodeProto &node : nodes)
    substitute(node, values);
  return nodes;
}

} // namespace wsc::import
