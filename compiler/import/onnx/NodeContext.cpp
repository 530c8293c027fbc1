// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access to inputs and attributes of a node; see NodeContext.h.
#include "compiler/import/onnx/NodeContext.h"
#include "absl/strings/str_cat.h"

using wsc::onnx::AttributeProto;

namespace wsc::import {

/// Older files leave the type field out; then the field that is set tells it.
static AttributeProto::AttributeType typeOf(const AttributeProto &attribute) {
  if (attribute.has_type() && attribute.type() != AttributeProto::UNDEFINED)
    return attribute.type();
  if (attribute.has_f())
    return AttributeProto::FLOAT;
  if (attribute.has_i())
    return AttributeProto::INT;
  if (attribute.has_s())
    return AttributeProto::STRING;
  if (attribute.has_t())
    return AttributeProto::TENSOR;
  if (attribute.has_g())
    return AttributeProto::GRAPH;
  if (attribute.floats_size())
    return AttributeProto::FLOATS;
  if (attribute.ints_size())
    return AttributeProto::INTS;
  if (attribute.strings_size())
    return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

const AttributeProto *NodeContext::find(const char *name, AttributeProto::AttributeType type) {
  asked_.insert(name);
  for (const AttributeProto &attribute : node_.attribute()) {
    if (attribute.name() != name)
      continue;
    AttributeProto::AttributeType found = typeOf(attribute);
    if (found == type)
      return &attribute;
    fail(absl::StrCat("attribute '", name, "' must be of type ", AttributeProto::AttributeType_Name(type), ", found ",
                      AttributeProto::AttributeType_Name(found)));
    return nullptr;
  }
  return nullptr;
}

bool NodeContext::hasAttribute(const char *name) const {
  for (const AttributeProto &attribute : node_.attribute())
    if (attribute.name() == name)
      return true;
  return false;
}

int64_t NodeContext::intAttribute(const char *name, int64_t otherwise) {
  const AttributeProto *attribute = find(name, AttributeProto::INT);
  return attribute ? attribute->i() : otherwise;
}

double NodeContext::floatAttribute(const char *name, double otherwise) {
  const AttributeProto *attribute = find(name, AttributeProto::FLOAT);
  return attribute ? attribute->f() : otherwise;
}

std::string NodeContext::stringAttribute(const char *name, const char *otherwise) {
  const AttributeProto *attribute = find(name, AttributeProto::STRING);
  return attribute ? attribute->s() : otherwise;
}

std::vector<int64_t> NodeContext::intsAttribute(const char *name) {
  const AttributeProto *attribute = find(name, AttributeProto::INTS);
  return attribute ? std::vector<int64_t>(attribute->ints().begin(), attribute->ints().end()) : std::vector<int64_t>();
}

std::vector<double> NodeContext::floatsAttribute(const char *name) {
  const AttributeProto *attribute = find(name, AttributeProto::FLOATS);
  return attribute ? std::vector<double>(attribute->floats().begin(), attribute->floats().end())
                   : std::vector<double>();
}

std::vector<std::string> NodeContext::stringsAttribute(const char *name) {
  const AttributeProto *attribute = find(name, AttributeProto::STRINGS);
  return attribute ? std::vector<std::string>(attribute->strings().begin(), attribute->strings().end())
                   : std::vector<std::string>();
}

Tensor NodeContext::tensorAttribute(const char *name) {
  const AttributeProto *attribute = find(name, AttributeProto::TENSOR);
  if (!attribute)
    return {};
  auto constant = reader_.read(attribute->t());
  if (!constant.ok()) {
    layers.fail(constant.status());
    return {};
  }
  return layers.fromAttribute(*constant);
}

const wsc::onnx::GraphProto *NodeContext::graphAttribute(const char *name) {
  const AttributeProto *attribute = find(name, AttributeProto::GRAPH);
  return attribute ? &attribute->g() : nullptr;
}

std::vector<Tensor> NodeContext::callGraph(const wsc::onnx::GraphProto &graph, std::vector<Tensor> inputs) {
  if (failed())
    return {};
  mlir::Location location = layers.location();
  auto outputs = inlineGraph_(graph, std::move(inputs));
  layers.setLocation(location);
  if (outputs.ok())
    return *std::move(outputs);
  layers.fail(outputs.status());
  return {};
}

void NodeContext::ignoreAttributes(std::initializer_list<const char *> names) {
  asked_.insert(names.begin(), names.end());
}

void NodeContext::checkComplete() {
  if (failed())
    return;
  for (const AttributeProto &attribute : node_.attribute())
    if (!asked_.count(attribute.name()))
      return unsupported(absl::StrCat("attribute '", attribute.name(), "' is not known for opset ", opset_));
  for (size_t i = 0; i < results_.size(); ++i)
    if (wantsOutput(i) && !results_[i])
      return unsupported(absl::StrCat("output ", i, " ('", node_.output(static_cast<int>(i)), "') is not supported"));
}

} // namespace wsc::import
