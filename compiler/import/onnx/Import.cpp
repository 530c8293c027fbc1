// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The import itself: map, scan, index, check that every operator is known, then translate.
#include "compiler/import/onnx/Import.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/LocalFunctions.h"
#include "compiler/import/onnx/Refusals.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/Translate.h"
#include "compiler/import/onnx/WireScan.h"
#include "dialects/nn/Nn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace wsc::onnx;

namespace wsc::import {
namespace {

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

/// Collects what has no translation from nodes, the functions they call and the bodies of loops. The branches of an If
/// are left to the translation, which may need one of them only.
class UnsupportedFinder {
public:
  explicit UnsupportedFinder(const ModelProto &model) : model_(model) {}

  absl::Status visit(const NodeProto &node, const Opsets &opsets) {
    // The translation says which node is nested too deeply.
    if (depth_ > maxDepth)
      return absl::OkStatus();
    ++depth_;
    absl::Status status = visitOne(node, opsets);
    --depth_;
    return status;
  }

  std::vector<UnsupportedOperator> list;

private:
  static constexpr int maxDepth = 64;

  absl::Status visitOne(const NodeProto &node, const Opsets &opsets) {
    auto opset = opsetOf(opsets, node);
    if (!opset.ok())
      return opset.status();
    if (const FunctionProto *function = findFunction(model_, node)) {
      if (!seen_.insert(function).second)
        return absl::OkStatus();
      Opsets own = opsetsOf(function->opset_import());
      for (const NodeProto &inner : function->node())
        if (absl::Status status = visit(inner, own); !status.ok())
          return status;
      return absl::OkStatus();
    }
    std::string domain = normalizedDomain(node.domain());
    if (!findOperator(domain, node.op_type(), *opset))
      return add(node, domain, *opset), absl::OkStatus();
    for (const AttributeProto &attribute : node.attribute())
      if (attribute.has_g() && node.op_type() != "If")
        for (const NodeProto &inner : attribute.g().node())
          if (absl::Status status = visit(inner, opsets); !status.ok())
            return status;
    return absl::OkStatus();
  }

  void add(const NodeProto &node, const std::string &domain, int64_t opset) {
    auto same = [&](const UnsupportedOperator &u) { return u.domain == domain && u.type == node.op_type(); };
    auto found = std::find_if(list.begin(), list.end(), same);
    if (found == list.end())
      found = list.insert(list.end(), UnsupportedOperator{domain, node.op_type(), opset, 0, nodeName(node)});
    ++found->count;
  }

  const ModelProto &model_;
  std::set<const FunctionProto *> seen_;
  int depth_ = 0;
};

absl::StatusOr<std::vector<UnsupportedOperator>> findUnsupported(const LoadedModel &model) {
  UnsupportedFinder finder(model.proto);
  for (int index : model.graph.order)
    if (absl::Status status = finder.visit(model.graph.proto->node(index), model.graph.opsets); !status.ok())
      return status;
  return finder.list;
}

absl::Status unsupportedError(const std::string &path, const std::vector<UnsupportedOperator> &list) {
  std::string text =
      absl::StrCat(path, ": ", list.size(), list.size() == 1 ? " operator is" : " operators are", " not supported:");
  for (const UnsupportedOperator &u : list)
    absl::StrAppend(&text, "\n  ", u.type, " (domain '", u.domain.empty() ? "ai.onnx" : u.domain, "', opset ", u.opset,
                    "): ", u.count, u.count == 1 ? " node" : " nodes", ", first '", u.firstNode, "'",
                    whyRefused(u.domain, u.type));
  absl::StrAppend(&text, "\ncut the graph before them with --output, or behind them with --input");
  return absl::UnimplementedError(text);
}

} // namespace

absl::StatusOr<std::vector<UnsupportedOperator>> listUnsupportedOperators(const std::string &path,
                                                                          const ImportOptions &options) {
  LoadedModel model;
  if (absl::Status status = load(path, options, model); !status.ok())
    return status;
  auto list = findUnsupported(model);
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
  auto unsupported = findUnsupported(model);
  if (!unsupported.ok())
    return at(path, unsupported.status());
  if (!unsupported->empty())
    return unsupportedError(path, *unsupported);
  auto module = translate(context, path, model, options);
  if (!module.ok())
    return at(path, module.status());
  return module;
}

} // namespace wsc::import
