// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables; see Variables.h.
#include "compiler/import/tf/Variables.h"
#include "absl/strings/str_cat.h"
#include "dialects/nn/Shape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace wsc::import::tf {

std::string variableName(const wsc::tf::NodeDef &node) {
  if (node.op() == "VarHandleOp")
    for (const auto &entry : node.attr())
      if (entry.key() == "shared_name" && !entry.value().s().empty())
        return entry.value().s();
  return node.name();
}

int Variables::number(const std::string &name) {
  auto [found, isNew] = byName_.emplace(name, static_cast<int>(variables_.size()));
  if (isNew) {
    variables_.emplace_back();
    variables_.back().name = name;
  }
  return found->second;
}

static std::string text(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static absl::Status checkType(const Variable &variable, const Tensor &value) {
  if (!variable.type || value.type == variable.type)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("variable '", variable.name, "' is ", text(variable.type), ", the value for it ", text(value.type)));
}

absl::Status Variables::findInitial(Variable &variable) {
  const std::string name = variable.name;
  if (!variable.initial && initialise && searching_.insert(name).second) {
    auto value = initialise(name); // may add variables
    searching_.erase(name);
    if (!value.ok())
      return value.status();
    Variable &again = variables_[number(name)];
    if (*value && !again.initial)
      again.initial = *value;
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Variables::read(int number) {
  if (variables_[number].current)
    return variables_[number].current;
  if (absl::Status status = findInitial(variables_[number]); !status.ok())
    return status;
  Variable &variable = variables_[number];
  if (!variable.initial)
    return absl::NotFoundError(
        absl::StrCat("variable '", variable.name,
                     "' has no value: there is no checkpoint that holds it and the graph gives no "
                     "constant initial value; give a SavedModel with its variables, or freeze the graph"));
  if (absl::Status status = checkType(variable, variable.initial); !status.ok())
    return status;
  if (isInitialising)
    return variable.initial;
  if (!isState(variable))
    return variable.current = variable.initial;
  return declare(variable);
}

absl::StatusOr<Tensor> Variables::declare(Variable &variable) {
  OpBuilder::InsertionGuard guard(builder_);
  auto function = *module_.getOps<func::FuncOp>().begin();
  builder_.setInsertionPoint(function);
  auto type = variable.initial.type;
  nn::VariableOp::create(builder_, builder_.getUnknownLoc(), variable.name, type, variable.initial.constant);
  builder_.setInsertionPointToStart(&function.getBody().front());
  auto read = nn::ReadOp::create(builder_, builder_.getUnknownLoc(), type, variable.name);
  Tensor tensor{type, {}, read.getResult()};
  return variable.current = tensor;
}

absl::Status Variables::write(int number, const Tensor &value) {
  if (isInitialising) {
    Variable &variable = variables_[number];
    if (!value.constant)
      return absl::UnimplementedError(
          absl::StrCat("the initial value of variable '", variable.name, "' is not constant"));
    if (absl::Status status = checkType(variable, value); !status.ok())
      return status;
    variable.initial = value;
    return absl::OkStatus();
  }
  if (auto before = read(number); !before.ok())
    return before.status();
  Variable &variable = variables_[number];
  if (!isState(variable))
    misjudged_.insert(variable.name);
  if (value.type != variable.current.type)
    return absl::InvalidArgumentError(absl::StrCat("variable '", variable.name, "' is ", text(variable.current.type),
                                                   ", the value written to it ", text(value.type)));
  variable.current = value;
  variable.isWritten = true;
  return absl::OkStatus();
}

std::vector<Tensor> Variables::values() const {
  std::vector<Tensor> values;
  for (const Variable &variable : variables_)
    values.push_back(variable.current);
  return values;
}

void Variables::setValues(const std::vector<Tensor> &values) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i])
      variables_[i].current = values[i];
}

void Variables::choose(LayerBuilder &layers, const Tensor &condition, const std::vector<Tensor> &whenTrue,
                       const std::vector<Tensor> &whenFalse) {
  for (size_t i = 0; i < whenTrue.size() && i < whenFalse.size(); ++i)
    if (whenTrue[i] && whenFalse[i] &&
        (whenTrue[i].value != whenFalse[i].value || whenTrue[i].constant != whenFalse[i].constant))
      variables_[i].current = layers.select(condition, whenTrue[i], whenFalse[i]);
}

void Variables::finish(LayerBuilder &layers) {
  for (Variable &variable : variables_)
    if (variable.isWritten && !layers.failed()) {
      mlir::Value value = layers.materialize(variable.current);
      nn::WriteOp::create(builder_, builder_.getUnknownLoc(), variable.name, value);
    }
}

} // namespace wsc::import::tf
