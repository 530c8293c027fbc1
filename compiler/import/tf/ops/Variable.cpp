// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables: references of TensorFlow 1, which an assignment passes on, and resources.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Scatter.h"
#include "compiler/import/tf/RandomValues.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/Types.h"
#include "compiler/import/tf/Variables.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

/// Shape and element type as far as the node says them.
void declare(NodeContext &node, int number) {
  const wsc::tf::AttrValue *shape = node.find("shape");
  auto extents = shape && shape->has_shape() ? extentsOf(shape->shape()) : std::nullopt;
  mlir::Type element = node.typeAttribute("dtype", wsc::tf::DT_FLOAT);
  if (node.failed() || !extents)
    return;
  for (int64_t extent : *extents)
    if (extent < 0)
      return;
  if (std::string problem = nn::shapeProblem(*extents); !problem.empty())
    return node.fail(absl::StrCat("shape ", nn::formatShape(*extents), " ", problem));
  node.machine.variables()[number].type = mlir::RankedTensorType::get(*extents, element);
}

void variableOf(NodeContext &node) {
  const int number = node.machine.variables().number(variableName(node.node()));
  declare(node, number);
  Value value = Value::ofResource(number);
  value.isReference = node.node().op() != "VarHandleOp";
  node.setResult(value);
}

void readOf(NodeContext &node) {
  const int number = node.resource(0);
  if (node.failed())
    return;
  auto value = node.machine.variables().read(number);
  if (!value.ok())
    return node.layers.fail(value.status());
  node.setResult(Value(*value));
}

/// Writes input 0's variable; a reference goes on as the result.
void assign(NodeContext &node, const Tensor &value) {
  const int number = node.resource(0);
  if (node.failed())
    return;
  if (absl::Status status = node.machine.variables().write(number, value); !status.ok())
    return node.layers.fail(status);
  if (node.value(0).isReference)
    node.setResult(node.value(0));
}

void assignOf(NodeContext &node) {
  if (node.value(1).random) {
    if (!node.machine.variables().isInitialising)
      return node.unsupported("the value assigned is random, which is not supported");
    auto drawn = drawnValues(*node.value(1).random);
    return drawn.ok() ? assign(node, *drawn) : node.layers.fail(drawn.status());
  }
  assign(node, node.input(1));
}
void assignAdd(NodeContext &node) { assign(node, node.in(0) + node.in(1)); }
void assignSub(NodeContext &node) { assign(node, node.in(0) - node.in(1)); }

/// Rows of the variable changed at indices.
void scatterRows(NodeContext &node, const char *reduction, bool negated = false) {
  Expression x = node.in(0), indices = node.in(1), updates = node.in(2);
  if (node.failed())
    return;
  llvm::SmallVector<int64_t> expected(indices.shape());
  if (x.rank() > 0)
    expected.append(x.shape().begin() + 1, x.shape().end());
  if (x.rank() < 1 || updates.shape() != llvm::ArrayRef<int64_t>(expected))
    return node.fail(absl::StrCat("indices ", nn::formatShape(indices.shape()), " and updates ",
                                  nn::formatShape(updates.shape()), " do not fit ", nn::formatShape(x.shape())));
  assign(node, scatterSlices(x, indices.unsqueeze(indices.rank()), negated ? -updates : updates, reduction));
}
void scatterAdd(NodeContext &node) { scatterRows(node, "add"); }
void scatterSub(NodeContext &node) { scatterRows(node, "add", true); }
void scatterUpdate(NodeContext &node) { scatterRows(node, "none"); }

void scatterMul(NodeContext &node) { scatterRows(node, "mul"); }
void scatterMin(NodeContext &node) { scatterRows(node, "min"); }
void scatterMax(NodeContext &node) { scatterRows(node, "max"); }

/// Slices of the variable changed: the last dimension of the indices holds numbers along the first dimensions.
void scatterPlaces(NodeContext &node, const char *reduction, bool negated = false) {
  node.ignoreAttributes({"bad_indices_policy"});
  Expression x = node.in(0), indices = node.in(1), updates = node.in(2);
  if (node.failed())
    return;
  const int64_t depth = indices.rank() > 0 ? indices.shape().back() : 0;
  llvm::SmallVector<int64_t> expected(indices.shape().drop_back(indices.rank() > 0));
  if (depth <= x.rank())
    expected.append(x.shape().begin() + depth, x.shape().end());
  if (indices.rank() < 1 || depth > x.rank() || updates.shape() != llvm::ArrayRef<int64_t>(expected))
    return node.fail(absl::StrCat("indices ", nn::formatShape(indices.shape()), " and updates ",
                                  nn::formatShape(updates.shape()), " do not fit ", nn::formatShape(x.shape())));
  assign(node, scatterSlices(x, indices, negated ? -updates : updates, reduction));
}
void scatterNdAdd(NodeContext &node) { scatterPlaces(node, "add"); }
void scatterNdSub(NodeContext &node) { scatterPlaces(node, "add", true); }
void scatterNdUpdate(NodeContext &node) { scatterPlaces(node, "none"); }

void isInitialised(NodeContext &node) {
  node.setResult(Value(node.layers.scalar(node.layers.builder().getI1Type(), 1)));
}

void shapeOf(NodeContext &node) {
  Tensor x = node.input(0);
  mlir::Type element = node.typeAttribute("out_type", wsc::tf::DT_INT32);
  if (!node.failed())
    node.setResult(node.integers(x.shape(), element));
}

void nothing(NodeContext &node) { node.ignoreAttributes({"ignore_lookup_error"}); }

/// Tensors of the checkpoint by their names.
void restore(NodeContext &node) {
  node.strings(0); // the prefix: the checkpoint is open
  const Strings *names = node.strings(1), *slices = node.strings(2);
  if (node.failed())
    return;
  Checkpoint *checkpoint = node.machine.variables().checkpoint;
  if (!checkpoint)
    return node.unsupported("there is no checkpoint to restore from");
  for (size_t i = 0; i < names->values.size(); ++i) {
    if (i < slices->values.size() && !slices->values[i].empty())
      return node.unsupported(absl::StrCat("slice '", slices->values[i], "' of tensor '", names->values[i],
                                           "' is not supported; save variables as whole tensors"));
    auto value = checkpoint->find(*node.layers.builder().getContext(), names->values[i]);
    if (!value.ok())
      return node.layers.fail(value.status());
    node.setResult(i, *value);
  }
}

} // namespace

static const Operator table[] = {
    {"VariableV2", 0, 0, variableOf, "", false, false, true},
    {"Variable", 0, 0, variableOf, "", false, false, true},
    {"TemporaryVariable", 0, 0, variableOf, "", false, false, true},
    {"VarHandleOp", 0, 0, variableOf, "", false, false, true},
    {"ReadVariableOp", 1, 1, readOf, "", false, true},
    {"AssignVariableOp", 2, 2, assignOf, "", true},
    {"AssignAddVariableOp", 2, 2, assignAdd, "", true},
    {"AssignSubVariableOp", 2, 2, assignSub, "", true},
    {"Assign", 2, 2, assignOf, "", true},
    {"AssignAdd", 2, 2, assignAdd, "", true},
    {"AssignSub", 2, 2, assignSub, "", true},
    {"ScatterAdd", 3, 3, scatterAdd, "", true},
    {"ScatterSub", 3, 3, scatterSub, "", true},
    {"ScatterUpdate", 3, 3, scatterUpdate, "", true},
    {"ResourceScatterAdd", 3, 3, scatterAdd, "", true},
    {"ResourceScatterSub", 3, 3, scatterSub, "", true},
    {"ResourceScatterUpdate", 3, 3, scatterUpdate, "", true},
    {"ScatterMul", 3, 3, scatterMul, "", true},
    {"ScatterMin", 3, 3, scatterMin, "", true},
    {"ScatterMax", 3, 3, scatterMax, "", true},
    {"ResourceScatterMul", 3, 3, scatterMul, "", true},
    {"ResourceScatterMin", 3, 3, scatterMin, "", true},
    {"ResourceScatterMax", 3, 3, scatterMax, "", true},
    {"ScatterNdAdd", 3, 3, scatterNdAdd, "", true},
    {"ScatterNdSub", 3, 3, scatterNdSub, "", true},
    {"ScatterNdUpdate", 3, 3, scatterNdUpdate, "", true},
    {"ResourceScatterNdAdd", 3, 3, scatterNdAdd, "", true},
    {"ResourceScatterNdSub", 3, 3, scatterNdSub, "", true},
    {"ResourceScatterNdUpdate", 3, 3, scatterNdUpdate, "", true},
    {"IsVariableInitialized", 1, 1, isInitialised},
    {"VarIsInitializedOp", 1, 1, isInitialised},
    {"VariableShape", 1, 1, shapeOf},
    {"DestroyResourceOp", 1, 1, nothing},
    {"RestoreV2", 3, 3, restore},
};
llvm::ArrayRef<Operator> variableOperators() { return table; }

} // namespace wsc::import::tf
