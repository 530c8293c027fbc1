// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Node by node, in order. Tensors are found by name in scopes: the graph's, and one for each subgraph or function being
// translated in place; a subgraph sees what is around it, a function does not.
#include "compiler/import/onnx/Translate.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/FirstInput.h"
#include "compiler/import/onnx/InputTypes.h"
#include "compiler/import/onnx/LocalFunctions.h"
#include "compiler/import/onnx/Refusals.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Nn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace wsc::onnx;

namespace wsc::import {

absl::StatusOr<int64_t> opsetOf(const std::map<std::string, int64_t> &opsets, const NodeProto &node) {
  std::string domain = normalizedDomain(node.domain());
  auto found = opsets.find(domain);
  if (found == opsets.end())
    return absl::InvalidArgumentError(absl::StrCat("node '", nodeName(node), "' (", node.op_type(), ") is of domain '",
                                                   domain, "', for which the model imports no opset"));
  if (found->second < 1 || (domain.empty() && found->second > newestOpset))
    return absl::UnimplementedError(absl::StrCat("the model needs ONNX opset ", found->second, "; 1 to ", newestOpset,
                                                 " are known: convert the model"));
  return found->second;
}

namespace {

/// Functions may call functions, and subgraphs hold subgraphs, to this depth.
constexpr size_t maxScopes = 32;
/// Nodes that are translated, those of a function or loop's body each time. A chain of functions that call the next one
/// twice doubles them with each.
constexpr int64_t maxNodes = 250'000;

class Translator {
public:
  Translator(MLIRContext &context, const std::string &path, LoadedModel &model)
      : builder_(&context), model_(model.proto), graph_(model.graph), reader_(context, model.files, path),
        layers_(builder_, model.files) {
    scopes_.push_back({{}, graph_.opsets, false});
  }

  absl::StatusOr<OwningOpRef<ModuleOp>> run(const ImportOptions &options) {
    auto types = inferInputTypes(*builder_.getContext(), graph_, options);
    if (!types.ok())
      return types.status();
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder_.getUnknownLoc());
    SmallVector<Type> argumentTypes;
    std::vector<std::string> argumentNames;
    auto &tensors = scopes_.front().tensors;
    for (const GraphInput &input : *types) {
      if (auto binding = options.bindings.find(input.name); binding != options.bindings.end()) {
        auto constant = parseElements(input.type, binding->second);
        if (!constant.ok())
          return at(absl::StrCat("--bind ", input.name), constant.status());
        tensors[input.name] = layers_.fromLiteral(*constant);
        continue;
      }
      argumentTypes.push_back(input.type);
      argumentNames.push_back(input.name);
    }
    for (const auto &[name, value] : options.bindings)
      if (!tensors.count(name))
        return absl::NotFoundError(absl::StrCat("--bind ", name, "=", value, ": the model has no input of that name"));
    builder_.setInsertionPointToStart(module->getBody());
    auto function =
        func::FuncOp::create(builder_, builder_.getUnknownLoc(), "main", builder_.getFunctionType(argumentTypes, {}));
    Block *body = function.addEntryBlock();
    builder_.setInsertionPointToStart(body);
    for (auto [i, name] : llvm::enumerate(argumentNames)) {
      tensors[name] = layers_.fromValue(body->getArgument(i));
      function.setArgAttr(i, nn::NnDialect::getNameAttrName(), builder_.getStringAttr(name));
    }
    for (int index : graph_.order)
      if (absl::Status status = translate(graph_.proto->node(index), graph_.used); !status.ok())
        return status;
    return finish(std::move(module), function, argumentTypes);
  }

private:
  struct Scope {
    std::unordered_map<std::string, Tensor> tensors;
    Opsets opsets;
    bool seesOuter = false;
  };

  absl::StatusOr<Tensor> lookup(const std::string &name) {
    for (size_t s = scopes_.size(); s-- > 0;) {
      auto found = scopes_[s].tensors.find(name);
      if (found != scopes_[s].tensors.end())
        return found->second;
      if (s > 0 && !scopes_[s].seesOuter)
        return absl::InvalidArgumentError(absl::StrCat("tensor '", name, "' has no value inside the function"));
    }
    auto initializer = graph_.initializers.find(name);
    if (initializer == graph_.initializers.end())
      return absl::InvalidArgumentError(absl::StrCat("tensor '", name, "' has no value yet"));
    auto constant = reader_.read(*initializer->second);
    if (!constant.ok())
      return constant.status();
    return scopes_.front().tensors[name] = layers_.fromAttribute(*constant);
  }

  absl::Status translate(const NodeProto &node, const std::set<std::string> &used) {
    std::string where = absl::StrCat("node '", nodeName(node), "' (", node.op_type(), ")");
    if (++translated_ > maxNodes)
      return absl::ResourceExhaustedError(absl::StrCat(where, ": functions and loops come to more than ", maxNodes,
                                                       " nodes; make the model smaller or cut it"));
    if (absl::Status status = checkAttributes(node); !status.ok())
      return at(where, status);
    auto opset = opsetOf(scopes_.back().opsets, node);
    if (!opset.ok())
      return opset.status();
    std::vector<Tensor> inputs;
    for (const std::string &name : node.input()) {
      auto tensor = name.empty() ? absl::StatusOr<Tensor>(Tensor()) : lookup(name);
      if (!tensor.ok())
        return at(where, tensor.status());
      inputs.push_back(*tensor);
    }
    std::vector<Tensor> results;
    const Operator *op = findOperator(normalizedDomain(node.domain()), node.op_type(), *opset);
    const FunctionProto *function = findFunction(model_, node);
    absl::Status status =
        function ? call(*function, node, inputs, results)
        : op     ? apply(*op, node, *opset, used, inputs, results)
                 : absl::UnimplementedError(absl::StrCat("the operator is not supported at opset ", *opset,
                                                         whyRefused(normalizedDomain(node.domain()), node.op_type())));
    if (!status.ok())
      return at(where, status);
    results.resize(node.output_size());
    for (int i = 0; i < node.output_size(); ++i)
      if (!node.output(i).empty() && !(scopes_.size() == 1 && graph_.cuts.count(node.output(i))))
        scopes_.back().tensors[node.output(i)] = results[i];
    return absl::OkStatus();
  }

  static absl::Status checkAttributes(const NodeProto &node) {
    std::set<std::string> names;
    for (const AttributeProto &attribute : node.attribute())
      if (!names.insert(attribute.name()).second)
        return absl::InvalidArgumentError(absl::StrCat("attribute '", attribute.name(), "' is given twice"));
    return absl::OkStatus();
  }

  absl::Status apply(const Operator &op, const NodeProto &node, int64_t opset, const std::set<std::string> &used,
                     const std::vector<Tensor> &inputs, std::vector<Tensor> &results) {
    for (int i = 0; i < op.minInputs; ++i)
      if (i >= node.input_size() || !inputs[i])
        return absl::InvalidArgumentError(
            absl::StrCat("input ", i, " is missing; at least ", op.minInputs, " are needed"));
    if (node.input_size() > op.maxInputs)
      return absl::InvalidArgumentError(
          absl::StrCat("has ", node.input_size(), " inputs, at most ", op.maxInputs, " are taken at opset ", opset));
    if (!inputs.empty())
      if (absl::Status status = checkFirstInput(op, inputs[0]); !status.ok())
        return status;
    layers_.setLocation(NameLoc::get(builder_.getStringAttr(nodeName(node))));
    NodeContext context(node, opset, layers_, reader_, used, inputs,
                        [this](const GraphProto &graph, std::vector<Tensor> arguments) {
                          return inlineGraph(graph, std::move(arguments));
                        });
    op.handler(context);
    context.checkComplete();
    if (layers_.failed())
      return layers_.status();
    results = context.results();
    return absl::OkStatus();
  }

  absl::Status call(const FunctionProto &function, const NodeProto &node, const std::vector<Tensor> &inputs,
                    std::vector<Tensor> &results) {
    if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
      return absl::InvalidArgumentError(absl::StrCat("the model's function takes ", function.input_size(),
                                                     " inputs and gives ", function.output_size(), " outputs"));
    Scope scope{{}, opsetsOf(function.opset_import()), false};
    for (int i = 0; i < function.input_size(); ++i)
      scope.tensors[function.input(i)] = i < node.input_size() ? inputs[i] : Tensor();
    std::vector<NodeProto> nodes = bodyOf(function, node);
    std::vector<std::string> outputs(function.output().begin(), function.output().begin() + node.output_size());
    auto values = inlineNodes(std::move(scope), nodes, outputs);
    if (!values.ok())
      return values.status();
    results = *std::move(values);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Tensor>> inlineGraph(const GraphProto &graph, std::vector<Tensor> inputs) {
    if (static_cast<int>(inputs.size()) != graph.input_size())
      return absl::InvalidArgumentError(
          absl::StrCat("the subgraph takes ", graph.input_size(), " inputs, it is given ", inputs.size()));
    Scope scope{{}, scopes_.back().opsets, true};
    for (const TensorProto &initializer : graph.initializer()) {
      auto constant = reader_.read(initializer);
      if (!constant.ok())
        return constant.status();
      scope.tensors[initializer.name()] = layers_.fromAttribute(*constant);
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      scope.tensors[graph.input(static_cast<int>(i)).name()] = inputs[i];
    std::vector<std::string> outputs;
    for (const ValueInfoProto &output : graph.output())
      outputs.push_back(output.name());
    return inlineNodes(std::move(scope), {graph.node().begin(), graph.node().end()}, outputs);
  }

  /// Translates those of the nodes, which come in order, that the outputs need.
  absl::StatusOr<std::vector<Tensor>> inlineNodes(Scope scope, const std::vector<NodeProto> &nodes,
                                                  const std::vector<std::string> &outputs) {
    if (scopes_.size() >= maxScopes)
      return absl::InvalidArgumentError(
          absl::StrCat("subgraphs and functions are nested more than ", maxScopes, " deep"));
    std::set<std::string> produced;
    for (const auto &[name, tensor] : scope.tensors)
      produced.insert(name);
    for (const NodeProto &node : nodes)
      for (const std::string &name : node.output())
        if (!name.empty() && !produced.insert(name).second)
          return absl::InvalidArgumentError(
              absl::StrCat("tensor '", name, "' is an input or initializer or produced before, and again by node '",
                           nodeName(node), "'"));
    std::set<std::string> used(outputs.begin(), outputs.end());
    std::vector<const NodeProto *> needed;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      if (!std::any_of(node->output().begin(), node->output().end(),
                       [&](const std::string &name) { return used.count(name) > 0; }))
        continue;
      needed.push_back(&*node);
      for (const std::string &name : namesRead(*node))
        used.insert(name);
    }
    scopes_.push_back(std::move(scope));
    absl::Status status;
    for (auto node = needed.rbegin(); node != needed.rend() && status.ok(); ++node)
      status = translate(**node, used);
    std::vector<Tensor> results;
    for (const std::string &name : outputs) {
      auto tensor = status.ok() ? lookup(name) : absl::StatusOr<Tensor>(status);
      if (!tensor.ok()) {
        status = tensor.status();
        break;
      }
      results.push_back(*tensor);
    }
    scopes_.pop_back();
    return status.ok() ? absl::StatusOr<std::vector<Tensor>>(results) : absl::StatusOr<std::vector<Tensor>>(status);
  }

  absl::StatusOr<OwningOpRef<ModuleOp>> finish(OwningOpRef<ModuleOp> module, func::FuncOp function,
                                               ArrayRef<Type> argumentTypes) {
    SmallVector<Value> results;
    SmallVector<Type> resultTypes;
    for (const std::string &name : graph_.outputs) {
      auto tensor = lookup(name);
      if (!tensor.ok())
        return tensor.status();
      layers_.setLocation(builder_.getUnknownLoc());
      results.push_back(layers_.materialize(*tensor));
      resultTypes.push_back(tensor->type);
    }
    if (layers_.failed())
      return layers_.status();
    func::ReturnOp::create(builder_, builder_.getUnknownLoc(), results);
    function.setType(builder_.getFunctionType(argumentTypes, resultTypes));
    for (auto [i, name] : llvm::enumerate(graph_.outputs))
      function.setResultAttr(i, nn::NnDialect::getNameAttrName(), builder_.getStringAttr(name));
    std::string message;
    ScopedDiagnosticHandler handler(builder_.getContext(), [&](Diagnostic &diagnostic) {
      absl::StrAppend(&message, message.empty() ? "" : "\n", diagnostic.str());
      return success();
    });
    if (mlir::failed(mlir::verify(*module)))
      return absl::InternalError(absl::StrCat("the imported module does not verify: ", message));
    return module;
  }

  OpBuilder builder_;
  const ModelProto &model_;
  const Graph &graph_;
  TensorReader reader_;
  LayerBuilder layers_;
  std::vector<Scope> scopes_;
  int64_t translated_ = 0;
};

} // namespace

absl::StatusOr<OwningOpRef<ModuleOp>> translate(MLIRContext &context, const std::string &path, LoadedModel &model,
                                                const ImportOptions &options) {
  return Translator(context, path, model).run(options);
}

} // namespace wsc::import
