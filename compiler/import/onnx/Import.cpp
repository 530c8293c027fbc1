// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The import itself: map, scan, index, check that every operator is known, then translate node by node in order.
#include "compiler/import/onnx/Import.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/import/onnx/Graph.h"
#include "compiler/import/onnx/InputTypes.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/WireScan.h"
#include "dialects/nn/Nn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace wsc::onnx;

namespace wsc::import {
namespace {

absl::Status at(const std::string &where, const absl::Status &status) {
  absl::Status result(status.code(), absl::StrCat(where, ": ", status.message()));
  if (auto payload = status.GetPayload(bindPayload))
    result.SetPayload(bindPayload, *payload);
  return result;
}

/// A model read and indexed; files stay mapped.
struct LoadedModel {
  FileStore files;
  ModelProto proto;
  Graph graph;
};

absl::Status load(const std::string &path, const ImportOptions &options, LoadedModel &model) {
  auto bytes = model.files.map(path);
  if (!bytes.ok())
    return bytes.status();
  auto proto = parseModel(*bytes);
  if (!proto.ok())
    return at(path, proto.status());
  model.proto = std::move(*proto);
  auto graph = indexGraph(model.proto, options);
  if (!graph.ok())
    return at(path, graph.status());
  model.graph = std::move(*graph);
  return absl::OkStatus();
}

/// Opset of the node's domain.
absl::StatusOr<int64_t> opsetOf(const Graph &graph, const NodeProto &node) {
  std::string domain = normalizedDomain(node.domain());
  auto found = graph.opsets.find(domain);
  if (found == graph.opsets.end())
    return absl::InvalidArgumentError(absl::StrCat("node '", nodeName(node), "' (", node.op_type(), ") is of domain '",
                                                   domain, "', for which the model imports no opset"));
  if (found->second < 1 || (domain.empty() && found->second > newestOpset))
    return absl::UnimplementedError(absl::StrCat("the model needs ONNX opset ", found->second, "; 1 to ", newestOpset,
                                                 " are known: convert the model"));
  return found->second;
}

absl::StatusOr<std::vector<UnsupportedOperator>> findUnsupported(const Graph &graph) {
  std::vector<UnsupportedOperator> list;
  for (int index : graph.order) {
    const NodeProto &node = graph.proto->node(index);
    auto opset = opsetOf(graph, node);
    if (!opset.ok())
      return opset.status();
    std::string domain = normalizedDomain(node.domain());
    if (findOperator(domain, node.op_type(), *opset))
      continue;
    auto same = [&](const UnsupportedOperator &u) { return u.domain == domain && u.type == node.op_type(); };
    auto found = std::find_if(list.begin(), list.end(), same);
    if (found == list.end())
      found = list.insert(list.end(), UnsupportedOperator{domain, node.op_type(), *opset, 0, nodeName(node)});
    ++found->count;
  }
  return list;
}

absl::Status unsupportedError(const std::string &path, const std::vector<UnsupportedOperator> &list) {
  std::string text =
      absl::StrCat(path, ": ", list.size(), list.size() == 1 ? " operator is" : " operators are", " not supported:");
  for (const UnsupportedOperator &u : list)
    absl::StrAppend(&text, "\n  ", u.type, " (domain '", u.domain.empty() ? "ai.onnx" : u.domain, "', opset ", u.opset,
                    "): ", u.count, u.count == 1 ? " node" : " nodes", ", first '", u.firstNode, "'");
  absl::StrAppend(&text, "\ncut the graph before them with --output, or behind them with --input");
  return absl::UnimplementedError(text);
}

/// Translates one graph into the body of a function.
class Translator {
public:
  Translator(MLIRContext &context, const std::string &path, LoadedModel &model)
      : builder_(&context), graph_(model.graph), reader_(context, model.files, path), layers_(builder_, model.files) {}

  absl::StatusOr<OwningOpRef<ModuleOp>> run(const ImportOptions &options) {
    auto types = inferInputTypes(*builder_.getContext(), graph_, options);
    if (!types.ok())
      return types.status();
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder_.getUnknownLoc());
    SmallVector<Type> argumentTypes;
    std::vector<std::string> argumentNames;
    for (const GraphInput &input : *types) {
      if (auto binding = options.bindings.find(input.name); binding != options.bindings.end()) {
        auto constant = parseElements(input.type, binding->second);
        if (!constant.ok())
          return at(absl::StrCat("--bind ", input.name), constant.status());
        tensors_[input.name] = layers_.fromLiteral(*constant);
        continue;
      }
      argumentTypes.push_back(input.type);
      argumentNames.push_back(input.name);
    }
    for (const auto &[name, value] : options.bindings)
      if (!tensors_.count(name))
        return absl::NotFoundError(absl::StrCat("--bind ", name, "=", value, ": the model has no input of that name"));
    builder_.setInsertionPointToStart(module->getBody());
    auto function =
        func::FuncOp::create(builder_, builder_.getUnknownLoc(), "main", builder_.getFunctionType(argumentTypes, {}));
    Block *body = function.addEntryBlock();
    builder_.setInsertionPointToStart(body);
    for (auto [i, name] : llvm::enumerate(argumentNames)) {
      tensors_[name] = layers_.fromValue(body->getArgument(i));
      function.setArgAttr(i, nn::NnDialect::getNameAttrName(), builder_.getStringAttr(name));
    }
    for (int index : graph_.order)
      if (absl::Status status = translate(graph_.proto->node(index)); !status.ok())
        return status;
    return finish(std::move(module), function, argumentTypes);
  }

private:
  absl::StatusOr<Tensor> lookup(const std::string &name) {
    auto found = tensors_.find(name);
    if (found != tensors_.end())
      return found->second;
    auto initializer = graph_.initializers.find(name);
    if (initializer == graph_.initializers.end())
      return absl::InternalError(absl::StrCat("tensor '", name, "' has no value yet"));
    auto constant = reader_.read(*initializer->second);
    if (!constant.ok())
      return constant.status();
    return tensors_[name] = layers_.fromAttribute(*constant);
  }

  absl::Status translate(const NodeProto &node) {
    std::string where = absl::StrCat("node '", nodeName(node), "' (", node.op_type(), ")");
    auto opset = opsetOf(graph_, node);
    if (!opset.ok())
      return opset.status();
    const Operator *op = findOperator(normalizedDomain(node.domain()), node.op_type(), *opset);
    std::vector<Tensor> inputs;
    for (const std::string &name : node.input()) {
      auto tensor = name.empty() ? absl::StatusOr<Tensor>(Tensor()) : lookup(name);
      if (!tensor.ok())
        return at(where, tensor.status());
      inputs.push_back(*tensor);
    }
    for (int i = 0; i < op->minInputs; ++i)
      if (i >= node.input_size() || !inputs[i])
        return absl::InvalidArgumentError(
            absl::StrCat(where, ": input ", i, " is missing; at least ", op->minInputs, " are needed"));
    if (node.input_size() > op->maxInputs)
      return absl::InvalidArgumentError(absl::StrCat(where, ": has ", node.input_size(), " inputs, at most ",
                                                     op->maxInputs, " are taken at opset ", *opset));
    layers_.setLocation(NameLoc::get(builder_.getStringAttr(nodeName(node))));
    NodeContext context(node, *opset, layers_, reader_, graph_.used, std::move(inputs));
    op->handler(context);
    context.checkComplete();
    if (layers_.failed())
      return at(where, layers_.status());
    for (int i = 0; i < node.output_size(); ++i)
      if (!node.output(i).empty() && !graph_.cuts.count(node.output(i)))
        tensors_[node.output(i)] = context.results()[i];
    return absl::OkStatus();
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
  const Graph &graph_;
  TensorReader reader_;
  LayerBuilder layers_;
  std::unordered_map<std::string, Tensor> tensors_;
};

} // namespace

std::vector<std::string> inputsToBind(const absl::Status &status) {
  auto payload = status.GetPayload(bindPayload);
  if (!payload)
    return {};
  return absl::StrSplit(std::string(*payload), '\0');
}

absl::StatusOr<std::vector<UnsupportedOperator>> listUnsupportedOperators(const std::string &path,
                                                                          const ImportOptions &options) {
  LoadedModel model;
  if (absl::Status status = load(path, options, model); !status.ok())
    return status;
  auto list = findUnsupported(model.graph);
  if (!list.ok())
    return at(path, list.status());
  return list;
}

absl::StatusOr<OwningOpRef<ModuleOp>> importOnnx(MLIRContext &context, const std::string &path,
                                                 const ImportOptions &options) {
  context.loadDialect<nn::NnDialect, func::FuncDialect>();
  LoadedModel model;
  if (absl::Status status = load(path, options, model); !status.ok())
    return status;
  auto unsupported = findUnsupported(model.graph);
  if (!unsupported.ok())
    return at(path, unsupported.status());
  if (!unsupported->empty())
    return unsupportedError(path, *unsupported);
  auto module = Translator(context, path, model).run(options);
  if (!module.ok())
    return at(path, module.status());
  return module;
}

} // namespace wsc::import
