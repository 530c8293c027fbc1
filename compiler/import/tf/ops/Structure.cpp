// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs, constants, and operators that pass on what they get.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/Types.h"
#include "compiler/import/tf/Variables.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {

static void constantOf(NodeContext &node) {
  const wsc::tf::AttrValue *value = node.find("value");
  if (!value || !value->has_tensor())
    return node.fail("has no value");
  auto constant = node.reader().read(value->tensor());
  if (!constant.ok())
    return node.layers.fail(constant.status());
  node.setResult(*constant);
}

static void placeholder(NodeContext &node) {
  node.fail("is an input that the graph's outputs need and that is not fed; give --input with its name");
}

/// The default, unless the input is fed by name.
static void placeholderWithDefault(NodeContext &node) {
  node.ignoreAttributes({"shape"});
  node.setResult(node.value(0));
}

/// A variable of TensorFlow 1 gives its value here.
static void identity(NodeContext &node) {
  const Value &value = node.value(0);
  if (value.isReference)
    return node.setResult(Value(node.input(0)));
  node.setResult(value);
}

static void identityN(NodeContext &node) {
  for (size_t i = 0; i < node.inputCount(); ++i)
    node.setResult(i, node.value(i));
}

static void nothing(NodeContext &node) {
  node.ignoreAttributes({"summarize", "T", "data", "message", "first_n", "output_stream", "end"});
}

static void checkNumerics(NodeContext &node) {
  node.ignoreAttributes({"message"});
  node.setResult(node.value(0));
}

/// The tensor, whatever is printed of it or told of it.
static void observed(NodeContext &node) {
  node.ignoreAttributes({"message", "first_n", "summarize", "output_stream", "end", "tensor_name", "debug_urls",
                         "device_name", "gated_grpc", "tfdbg_context_id", "op_name", "output_slot", "tensor_debug_mode",
                         "circular_buffer_size", "tfdbg_run_id"});
  identity(node);
}

static void ensureShape(NodeContext &node) {
  const wsc::tf::AttrValue *shape = node.find("shape");
  Tensor x = node.input(0);
  if (node.failed() || !shape)
    return node.setResult(Value(x));
  auto extents = extentsOf(shape->shape());
  bool fits = !extents || static_cast<int64_t>(extents->size()) == x.rank();
  for (size_t d = 0; fits && extents && d < extents->size(); ++d)
    fits = (*extents)[d] < 0 || (*extents)[d] == x.shape()[d];
  if (!fits)
    return node.fail(
        absl::StrCat("demands shape ", nn::formatShape(*extents), ", the tensor is ", nn::formatShape(x.shape())));
  node.setResult(Value(x));
}

static const Operator table[] = {
    {"Const", 0, 0, constantOf},
    {"_EagerConst", 1, 1, identity},
    {"Placeholder", 0, 0, placeholder},
    {"PlaceholderV2", 0, 0, placeholder},
    {"PlaceholderWithDefault", 1, 1, placeholderWithDefault},
    {"Identity", 1, 1, identity},
    {"IdentityN", 0, anyInputs, identityN},
    {"Snapshot", 1, 1, identity},
    {"StopGradient", 1, 1, identity},
    {"PreventGradient", 1, 1, checkNumerics},
    {"CheckNumerics", 1, 1, checkNumerics},
    {"EnsureShape", 1, 1, ensureShape},
    {"DeepCopy", 1, 1, identity},
    {"Real", 1, 1, identity},
    {"Conj", 1, 1, identity},
    {"Print", 1, anyInputs, observed},
    {"DebugGradientIdentity", 1, 1, observed},
    {"DebugIdentity", 1, 1, observed},
    {"DebugIdentityV2", 1, 1, observed},
    {"NoOp", 0, anyInputs, nothing},
    {"ControlTrigger", 0, 0, nothing},
    {"Assert", 0, anyInputs, nothing},
};
llvm::ArrayRef<Operator> structureOperators() { return table; }

} // namespace wsc::import::tf
