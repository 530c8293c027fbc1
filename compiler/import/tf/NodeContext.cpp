// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access to inputs and attributes of a node; see NodeContext.h.
#include "compiler/import/tf/NodeContext.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Types.h"
#include "compiler/import/tf/Variables.h"
#include <cmath>

using namespace wsc::tf;

namespace wsc::import::tf {

Tensor NodeContext::input(size_t i) {
  if (failed() || i >= inputs_.size())
    return {};
  const Value &value = inputs_[i];
  if (value.tensor)
    return value.tensor;
  if (value.resource >= 0) {
    auto read = machine.variables().read(value.resource);
    if (read.ok())
      return *read;
    layers.fail(read.status());
    return {};
  }
  if (value.random)
    unsupported(absl::StrCat("input ", i, " is random (in [", value.random->low(), ", ", value.random->high(),
                             ")), and random numbers are not supported; export the graph for inference, or bind what "
                             "switches dropout off with --bind NAME=VALUE"));
  else
    fail(absl::StrCat("input ", i, " is ", value.kind(), ", a tensor is needed"));
  return {};
}

const List *NodeContext::list(size_t i) {
  if (!failed() && i < inputs_.size() && inputs_[i].list)
    return inputs_[i].list.get();
  fail(absl::StrCat("input ", i, " is ", i < inputs_.size() ? inputs_[i].kind() : "missing",
                    ", a list of tensors is needed"));
  return nullptr;
}

const Strings *NodeContext::strings(size_t i) {
  if (!failed() && i < inputs_.size() && inputs_[i].strings)
    return inputs_[i].strings.get();
  fail(absl::StrCat("input ", i, " is ", i < inputs_.size() ? inputs_[i].kind() : "missing",
                    ", constant strings are needed"));
  return nullptr;
}

int NodeContext::resource(size_t i) {
  if (!failed() && i < inputs_.size() && inputs_[i].resource >= 0)
    return inputs_[i].resource;
  fail(absl::StrCat("input ", i, " is ", i < inputs_.size() ? inputs_[i].kind() : "missing", ", a variable is needed"));
  return -1;
}

const AttrValue *NodeContext::find(const char *name) {
  asked_.insert(name);
  for (const AttrEntry &entry : node_.attr())
    if (entry.key() == name)
      return &entry.value();
  return nullptr;
}

const AttrValue *NodeContext::findOf(const char *name, AttrValue::ValueCase kind, const char *kindName) {
  const AttrValue *value = find(name);
  if (!value || value->value_case() == kind || value->value_case() == AttrValue::VALUE_NOT_SET)
    return value && value->value_case() == kind ? value : nullptr;
  if (value->value_case() == AttrValue::kPlaceholder)
    fail(absl::StrCat("attribute '", name, "' stands for the function's '", value->placeholder(),
                      "', which the call does not give"));
  else
    fail(absl::StrCat("attribute '", name, "' must be ", kindName));
  return nullptr;
}

int64_t NodeContext::intAttribute(const char *name, int64_t otherwise) {
  const AttrValue *value = findOf(name, AttrValue::kI, "an integer");
  return value ? value->i() : otherwise;
}

double NodeContext::floatAttribute(const char *name, double otherwise) {
  const AttrValue *value = findOf(name, AttrValue::kF, "a float");
  return value ? value->f() : otherwise;
}

bool NodeContext::boolAttribute(const char *name, bool otherwise) {
  const AttrValue *value = findOf(name, AttrValue::kB, "a bool");
  return value ? value->b() : otherwise;
}

std::string NodeContext::stringAttribute(const char *name, const char *otherwise) {
  const AttrValue *value = findOf(name, AttrValue::kS, "a string");
  return value ? value->s() : otherwise;
}

std::vector<int64_t> NodeContext::intsAttribute(const char *name) {
  const AttrValue *value = findOf(name, AttrValue::kList, "a list of integers");
  return value ? std::vector<int64_t>(value->list().i().begin(), value->list().i().end()) : std::vector<int64_t>();
}

std::vector<double> NodeContext::floatsAttribute(const char *name) {
  const AttrValue *value = findOf(name, AttrValue::kList, "a list of floats");
  return value ? std::vector<double>(value->list().f().begin(), value->list().f().end()) : std::vector<double>();
}

std::vector<std::string> NodeContext::stringsAttribute(const char *name) {
  const AttrValue *value = findOf(name, AttrValue::kList, "a list of strings");
  return value ? std::vector<std::string>(value->list().s().begin(), value->list().s().end())
               : std::vector<std::string>();
}

mlir::Type NodeContext::typeAttribute(const char *name, DataType otherwise) {
  const AttrValue *value = findOf(name, AttrValue::kType, "an element type");
  auto element = elementType(*layers.builder().getContext(), value ? value->type() : otherwise);
  if (element.ok())
    return *element;
  layers.fail(
      absl::Status(element.status().code(), absl::StrCat("attribute '", name, "': ", element.status().message())));
  return {};
}

const NameAttrList *NodeContext::functionAttribute(const char *name) {
  const AttrValue *value = findOf(name, AttrValue::kFunc, "a function");
  if (!value)
    fail(absl::StrCat("needs the attribute '", name, "'"));
  return value ? &value->func() : nullptr;
}

/// Whether an attribute only says types or speaks to TensorFlow's runtime.
static bool isHint(const AttrEntry &entry) {
  static const std::set<std::string> hints{"use_cudnn_on_gpu",
                                           "cudnn_on_gpu",
                                           "container",
                                           "shared_name",
                                           "use_locking",
                                           "validate_shape",
                                           "N",
                                           "config",
                                           "config_proto",
                                           "executor_type",
                                           "parallel_iterations",
                                           "is_stateless",
                                           "output_shapes",
                                           "lower_using_switch_merge",
                                           "swap_memory",
                                           "debug_name",
                                           "allowed_devices",
                                           "read_only_resources",
                                           "Nsplit",
                                           "message",
                                           "element_shape_hint",
                                           "grad_a",
                                           "grad_b",
                                           "grad_x",
                                           "grad_y",
                                           "index_type",
                                           "bad_indices_policy"};
  const AttrValue &value = entry.value();
  return entry.key().empty() || entry.key()[0] == '_' || value.has_type() ||
         value.value_case() == AttrValue::VALUE_NOT_SET || (value.has_list() && value.list().type_size() > 0) ||
         hints.count(entry.key()) > 0;
}

void NodeContext::checkComplete() {
  if (failed())
    return;
  for (const AttrEntry &entry : node_.attr())
    if (!asked_.count(entry.key()) && !isHint(entry) &&
        !(entry.value().has_list() && entry.value().list().ByteSizeLong() == 0))
      return unsupported(absl::StrCat("attribute '", entry.key(), "' is not known"));
}

} // namespace wsc::import::tf
