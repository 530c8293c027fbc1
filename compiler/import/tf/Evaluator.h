// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes a graph symbolically, node by node as results are asked for: the layer builder evaluates what is known and
// makes layers of the rest. Functions are executed where they are called, loops turn by turn, so that both vanish;
// shape arithmetic, dead branches and everything the outputs do not need vanish with them.
#pragma once
#include "compiler/import/common/FileStore.h"
#include "compiler/import/common/Options.h"
#include "compiler/import/tf/Body.h"
#include "compiler/import/tf/Branches.h"
#include "compiler/import/tf/Load.h"
#include "compiler/import/tf/NodeContext.h"
#include "compiler/import/tf/Variables.h"

namespace wsc::import::tf {

/// Loops run at most this many turns.
inline constexpr int64_t mostTurns = 10000;

/// One execution of a body: the graph's, a function call's, or one turn of a loop inside of one.
struct Scope {
  const Body *body = nullptr;
  Scope *outer = nullptr; ///< of a turn: what is around the loop
  const FrameLoop *loop = nullptr;
  std::vector<Value> arguments; ///< of a function call
  std::map<Edge, Value> given;  ///< edges whose values come from outside
  std::unordered_map<int, std::vector<Value>> results;

  const Scope &root() const { return outer ? outer->root() : *this; }
};

class Evaluator : public Machine {
public:
  Evaluator(mlir::OpBuilder &builder, LoadedModel &model, Variables &variables, bool likeTensorFlowJs);

  /// Computes a node.
  absl::Status compute(Scope &scope, int node);
  /// Computes the node behind an edge and gives what the edge carries.
  absl::StatusOr<Value> evaluate(Scope &scope, Edge edge);
  LayerBuilder &layers() { return layers_; }
  /// Makes `status` the error that is told: the innermost node is what a reader looks for.
  absl::Status tell(absl::Status status) {
    failure_ = std::move(status);
    return failure_;
  }
  TensorReader &reader() { return reader_; }

  absl::StatusOr<std::vector<Value>> call(const wsc::tf::NameAttrList &function, std::vector<Value> arguments) override;
  Variables &variables() override { return variables_; }
  bool likeTensorFlowJs() const override { return likeTensorFlowJs_; }

private:
  /// The next node that has to be computed before one; -1: none.
  absl::StatusOr<int> nextNeeded(Scope &scope, int node, size_t &cursor);
  absl::StatusOr<int> nextOfMerge(Scope &scope, int node, size_t &cursor);
  /// What an edge carries, once its node is computed; null before.
  const Value *find(const Scope &scope, Edge edge) const;
  absl::StatusOr<std::vector<Value>> run(Scope &scope, int node);
  absl::StatusOr<std::vector<Value>> translate(const Node &node, std::vector<Value> inputs);
  absl::StatusOr<std::vector<Value>> runMerge(Scope &scope, int node);
  absl::StatusOr<std::vector<Value>> runEnter(Scope &scope, int node);
  /// Runs a loop to its end and gives its Exits their results.
  absl::Status runLoop(Scope &scope, const FrameLoop &loop);
  absl::StatusOr<const Body *> bodyFor(const wsc::tf::NameAttrList &function);
  absl::Status cycleError(const Body &body, const std::vector<std::pair<int, size_t>> &stack, int again) const;

  LoadedModel &model_;
  const bool likeTensorFlowJs_;
  Variables &variables_;
  TensorReader reader_;
  LayerBuilder layers_;
  std::map<std::string, std::unique_ptr<Body>> bodies_; ///< of functions, by name and attributes
  std::deque<wsc::tf::FunctionDef> specialised_;        ///< functions with attributes put in
  std::map<const Body *, Branches> branches_;
  std::vector<std::string> calls_; ///< functions being executed, the outermost first
  absl::Status failure_;           ///< with the innermost node's place
  int nesting_ = 0;                ///< of executions of loops and functions
};

} // namespace wsc::import::tf
