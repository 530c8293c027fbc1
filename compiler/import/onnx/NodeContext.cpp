// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access to inputs and attributes of a node; see NodeContext.h.
#include "compiler/import/onnx/NodeContext.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Options.h"
#include <cmath>

using wsc::onnx::AttributeProto;

namespace wsc::import {

std::optional<Literal> NodeContext::known(size_t i, const char *what) {
  if (failed())
    return std::nullopt;
  if (auto literal = layers.literal(input(i)))
    return literal;
  if (failed())
    return std::nullopt;
  failUnknown(absl::StrCat(what, " (input ", i, ")"), input(i));
  return std::nullopt;
}

void NodeContext::failUnknown(const std::string &what, const Tensor &tensor) {
  if (failed() || !tensor)
    return;
  if (!tensor.value)
    return unsupported(absl::StrCat(what, " must be known while importing; it has ", tensor.type.getNumElements(),
                                    " elements, at most ", maxLiteralElements, " are read"));
  layers.fail(unknownValue(what, tensor.value));
}

std::vector<int64_t> NodeContext::constantInts(size_t i, const char *what) {
  auto literal = known(i, what);
  if (!literal)
    return {};
  if (literal->isFloat() || literal->type.getRank() > 1) {
    fail(absl::StrCat(what, " (input ", i, ") must be an integer tensor of at most one dimension"));
    return {};
  }
  return literal->ints;
}

double NodeContext::constantScalar(size_t i, const char *what) {
  auto literal = known(i, what);
  if (!literal)
    return 0;
  if (literal->size() != 1) {
    fail(absl::StrCat(what, " (input ", i, ") must be one number, found ", literal->size()));
    return 0;
  }
  return literal->isFloat() ? literal->floats[0] : static_cast<double>(literal->ints[0]);
}

int64_t NodeContext::constantInt(size_t i, const char *what) {
  auto literal = known(i, what);
  if (!literal)
    return 0;
  if (literal->size() == 1 && !literal->isFloat())
    return literal->ints[0];
  double value = literal->size() == 1 ? literal->floats[0] : 0.5;
  if (std::trunc(value) == value && std::fabs(value) < 0x1p62)
    return static_cast<int64_t>(value);
  fail(absl::StrCat(what, " (input ", i, ") must be one whole number"));
  return 0;
}

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

int64_t NodeContext::normalizedAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  fail(absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, ")"));
  return 0;
}

std::vector<int64_t> NodeContext::normalizedAxes(std::vector<int64_t> axes, int64_t rank) {
  std::set<int64_t> seen;
  for (int64_t &axis : axes) {
    axis = normalizedAxis(axis, rank);
    if (!failed() && !seen.insert(axis).second)
      fail(absl::StrCat("axis ", axis, " is given twice"));
  }
  return failed() ? std::vector<int64_t>() : axes;
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
