// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function's frame: arguments and constants for the inputs, the outputs' values, writes of variables. Variables
// that the graph itself writes are states from the start; of those that reach functions it shows only when something
// writes them, and what was read as a constant before is translated again.
#include "compiler/import/tf/Translate.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Evaluator.h"
#include "compiler/import/tf/RandomValues.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Nn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace wsc::tf;

namespace wsc::import::tf {
namespace {

class Translation {
public:
  Translation(MLIRContext &context, LoadedModel &model, const Body &body, const Interface &interface,
              const ImportOptions &options, std::set<std::string> states)
      : builder_(&context), module_(ModuleOp::create(builder_.getUnknownLoc())), model_(model), body_(body),
        interface_(interface), options_(options),
        variables_(builder_, *module_, std::move(states), options.keepVariables),
        evaluator_(builder_, model, variables_, options.likeTensorFlowJs) {}

  absl::Status run() {
    scope_.body = &body_;
    SmallVector<Type> argumentTypes;
    std::vector<const GraphInput *> arguments;
    std::set<std::string> bound;
    for (const GraphInput &input : interface_.inputs) {
      auto binding = options_.bindings.find(input.name);
      if (binding == options_.bindings.end()) {
        argumentTypes.push_back(input.type);
        arguments.push_back(&input);
        continue;
      }
      auto constant = parseElements(input.type, binding->second);
      if (!constant.ok())
        return at(absl::StrCat("--bind ", input.name), constant.status());
      scope_.given[input.edge] = evaluator_.layers().fromLiteral(*constant);
      bound.insert(input.name);
    }
    for (const auto &[name, value] : options_.bindings)
      if (!bound.count(name))
        return absl::NotFoundError(absl::StrCat("--bind ", name, "=", value, ": the model has no input of that name"));
    builder_.setInsertionPointToStart(module_->getBody());
    function_ =
        func::FuncOp::create(builder_, builder_.getUnknownLoc(), "main", builder_.getFunctionType(argumentTypes, {}));
    Block *entry = function_.addEntryBlock();
    builder_.setInsertionPointToStart(entry);
    for (auto [i, input] : llvm::enumerate(arguments)) {
      scope_.given[input->edge] = evaluator_.layers().fromValue(entry->getArgument(i));
      function_.setArgAttr(i, nn::NnDialect::getNameAttrName(), builder_.getStringAttr(input->name));
    }
    if (absl::Status status = restore(); !status.ok())
      return status;
    variables_.initialise = [this](const std::string &name) { return initialValue(name); };
    if (absl::Status status = evaluateOutputs(); !status.ok())
      return status;
    return misjudged().empty() ? finish(argumentTypes) : absl::OkStatus();
  }

  const std::set<std::string> &misjudged() const { return variables_.misjudged(); }
  OwningOpRef<ModuleOp> takeModule() { return std::move(module_); }

private:
  /// Runs the graph's own restore operator, its file being the model's checkpoint.
  absl::Status restore() {
    if (model_.checkpoint.empty())
      return absl::OkStatus();
    auto checkpoint = Checkpoint::open(model_.files, model_.checkpoint);
    if (!checkpoint.ok())
      return checkpoint.status();
    checkpoint_ = std::move(*checkpoint);
    variables_.checkpoint = &*checkpoint_;
    auto op = body_.byName.find(parseTensorName(model_.saver.restore_op_name()).node);
    if (op == body_.byName.end())
      return model_.saver.restore_op_name().empty()
                 ? absl::OkStatus()
                 : absl::InvalidArgumentError(absl::StrCat("the restore operator '", model_.saver.restore_op_name(),
                                                           "' is no node of the graph"));
    Scope scope;
    scope.body = &body_;
    TensorName file = parseTensorName(model_.saver.filename_tensor_name());
    if (auto node = body_.byName.find(file.node); node != body_.byName.end())
      scope.given[{node->second, file.output}] = Value(Strings{{model_.checkpoint}, {}});
    variables_.isInitialising = true;
    absl::Status status = evaluator_.compute(scope, op->second);
    for (int control : body_.nodes[op->second].controls)
      if (status.ok())
        status = evaluator_.compute(scope, control);
    variables_.isInitialising = false;
    return status.ok() ? status : at("restoring the variables", status);
  }

  /// Whether an Assign takes its value from a checkpoint.
  bool isRestored(const Node &assign) const {
    int from = assign.inputs[1].node;
    for (int steps = 0; steps < 8 && body_.def(from).op() == "Identity" && !body_.nodes[from].inputs.empty(); ++steps)
      from = body_.nodes[from].inputs[0].node;
    return body_.def(from).op() == "RestoreV2";
  }

  /// The value that the graph's own Assign gives a variable at the start.
  absl::StatusOr<Tensor> initialValue(const std::string &name) {
    auto named = body_.byName.find(name + "/Assign");
    int assign = named == body_.byName.end() ? -1 : named->second;
    for (int n = 0; assign < 0 && n < static_cast<int>(body_.nodes.size()); ++n) {
      const Node &node = body_.nodes[n];
      if ((node.def->op() == "Assign" || node.def->op() == "AssignVariableOp") && node.inputs.size() == 2 &&
          variableName(body_.def(node.inputs[0].node)) == name && !interface_.reach.nodes.count(n) && !isRestored(node))
        assign = n;
    }
    if (assign < 0 || body_.nodes[assign].inputs.size() != 2)
      return Tensor();
    Scope scope;
    scope.body = &body_;
    const bool before = variables_.isInitialising;
    variables_.isInitialising = true;
    auto value = evaluator_.evaluate(scope, body_.nodes[assign].inputs[1]);
    variables_.isInitialising = before;
    if (!value.ok())
      return evaluator_.tell(at(absl::StrCat("the initial value of variable '", name, "'"), value.status()));
    if (value->random)
      return drawnValues(*value->random);
    if (!value->tensor.constant)
      return absl::UnimplementedError(absl::StrCat("the initial value of variable '", name, "' is not constant"));
    return value->tensor;
  }

  absl::Status evaluateOutputs() {
    for (const GraphOutput &output : interface_.outputs) {
      if (!scope_.given.count(output.edge))
        if (absl::Status status = evaluator_.compute(scope_, output.edge.node); !status.ok())
          return status;
      auto given = scope_.given.find(output.edge);
      std::vector<Value> values =
          given != scope_.given.end() ? std::vector<Value>{given->second} : scope_.results[output.edge.node];
      if (output.isAsked) {
        if (output.edge.output > 0 && static_cast<size_t>(output.edge.output) >= values.size())
          return absl::NotFoundError(
              absl::StrCat("--output ", output.name, ": the node has ", values.size(), " outputs"));
        if (given == scope_.given.end() && static_cast<size_t>(output.edge.output) < values.size())
          values = {values[output.edge.output]};
      }
      for (size_t i = 0; i < values.size() && (i == 0 || !output.isAsked); ++i)
        if (absl::Status status =
                add(i == 0 ? output.name : absl::StrCat(output.name, ":", i), values[i], output.isAsked);
            !status.ok())
          return status;
    }
    return absl::OkStatus();
  }

  absl::Status add(const std::string &name, const Value &value, bool isAsked) {
    if (value.tensor) {
      names_.push_back(name);
      results_.push_back(value.tensor);
    } else if (value.resource >= 0 && value.isReference) {
      auto read = variables_.read(value.resource);
      if (!read.ok())
        return read.status();
      names_.push_back(name);
      results_.push_back(*read);
    } else if (value && isAsked) {
      return absl::UnimplementedError(absl::StrCat("--output ", name, ": it is ", value.kind(), ", no tensor"));
    }
    return absl::OkStatus();
  }

  absl::Status finish(ArrayRef<Type> argumentTypes) {
    LayerBuilder &layers = evaluator_.layers();
    layers.setLocation(builder_.getUnknownLoc());
    SmallVector<mlir::Value> results;
    SmallVector<Type> resultTypes;
    for (const Tensor &tensor : results_) {
      results.push_back(layers.materialize(tensor));
      resultTypes.push_back(tensor.type);
    }
    variables_.finish(layers);
    if (layers.failed())
      return layers.status();
    func::ReturnOp::create(builder_, builder_.getUnknownLoc(), results);
    function_.setType(builder_.getFunctionType(argumentTypes, resultTypes));
    for (auto [i, name] : llvm::enumerate(names_))
      function_.setResultAttr(i, nn::NnDialect::getNameAttrName(), builder_.getStringAttr(name));
    std::string message;
    ScopedDiagnosticHandler handler(builder_.getContext(), [&](Diagnostic &diagnostic) {
      absl::StrAppend(&message, message.empty() ? "" : "\n", diagnostic.str());
      return success();
    });
    if (mlir::failed(mlir::verify(*module_)))
      return absl::InternalError(absl::StrCat("the imported module does not verify: ", message));
    return absl::OkStatus();
  }

  OpBuilder builder_;
  OwningOpRef<ModuleOp> module_;
  LoadedModel &model_;
  const Body &body_;
  const Interface &interface_;
  const ImportOptions &options_;
  std::optional<Checkpoint> checkpoint_;
  Variables variables_;
  Evaluator evaluator_;
  Scope scope_;
  func::FuncOp function_;
  std::vector<std::string> names_;
  std::vector<Tensor> results_;
};

} // namespace

absl::StatusOr<OwningOpRef<ModuleOp>> translate(MLIRContext &context, LoadedModel &model, const Body &body,
                                                const Interface &interface, const ImportOptions &options) {
  std::set<std::string> states;
  for (int n : interface.reach.nodes)
    if (const Operator *op = body.nodes[n].op; op && op->writes)
      for (const Edge &edge : body.nodes[n].inputs) {
        const Operator *from = body.nodes[edge.node].op;
        if (from && from->isVariable)
          states.insert(variableName(body.def(edge.node)));
      }
  for (;;) {
    Translation translation(context, model, body, interface, options, states);
    if (absl::Status status = translation.run(); !status.ok())
      return status;
    if (translation.misjudged().empty())
      return translation.takeModule();
    states.insert(translation.misjudged().begin(), translation.misjudged().end());
  }
}

} // namespace wsc::import::tf
