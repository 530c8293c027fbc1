// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables of a graph. One that nothing writes is a constant, the value being the checkpoint's or the graph's own
// initial one; one that is written, or all of them on request, is an nn.variable, read at the start of the function and
// written at its end.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/tf/Checkpoint.h"
#include "compiler/import/tf/Value.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <set>
#include <unordered_map>

namespace wsc::import::tf {

/// The name by which a node that makes a variable knows it.
std::string variableName(const wsc::tf::NodeDef &node);

struct Variable {
  std::string name;
  mlir::RankedTensorType type; ///< null where the graph does not say it
  Tensor initial;              ///< a constant; null: none was asked for yet, or there is none
  Tensor current;              ///< what a read gives; null before the first one
  bool isWritten = false;
};

class Variables {
public:
  /// `states` names variables that are states for another reason than being written.
  Variables(mlir::OpBuilder &builder, mlir::ModuleOp module, std::set<std::string> states, bool allAreStates)
      : builder_(builder), module_(module), states_(std::move(states)), allAreStates_(allAreStates) {}

  /// The number of a variable, a new one on first use.
  int number(const std::string &name);
  Variable &operator[](int number) { return variables_[number]; }

  /// The variable's value. Errors: it has none, or one of another type.
  absl::StatusOr<Tensor> read(int number);
  /// InvalidArgument for another type than the variable's.
  absl::Status write(int number, const Tensor &value);

  /// Values before a branch that may not be taken, and after it.
  std::vector<Tensor> values() const;
  void setValues(const std::vector<Tensor> &values);
  /// Both branches' values, chosen by `condition`.
  void choose(LayerBuilder &layers, const Tensor &condition, const std::vector<Tensor> &whenTrue,
              const std::vector<Tensor> &whenFalse);

  /// While a graph restores or initialises its variables, writes give initial values.
  bool isInitialising = false;
  /// Gives the initial value of a variable without one; null where there is none.
  std::function<absl::StatusOr<Tensor>(const std::string &name)> initialise;

  Checkpoint *checkpoint = nullptr;

  /// Variables that were read as constants and then written: the translation is to be done again with them as states.
  const std::set<std::string> &misjudged() const { return misjudged_; }
  /// nn.write for each variable that was written.
  void finish(LayerBuilder &layers);

private:
  bool isState(const Variable &variable) const { return allAreStates_ || states_.count(variable.name) > 0; }
  absl::Status findInitial(Variable &variable);
  absl::StatusOr<Tensor> declare(Variable &variable);

  mlir::OpBuilder &builder_;
  mlir::ModuleOp module_;
  std::set<std::string> states_, misjudged_, searching_;
  bool allAreStates_;
  std::vector<Variable> variables_;
  std::unordered_map<std::string, int> byName_;
};

} // namespace wsc::import::tf
