// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs and outputs; see Interface.h. NAME in --input and --output is a signature's key, a node, or NODE:OUTPUT. Since
// both a shape and an output follow a colon, NODE:0 is an output, NODE:N of a placeholder a shape, and NODE:N of any
// other node an output.
#include "compiler/import/tf/Interface.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/import/tf/TensorData.h"
#include "compiler/import/tf/Types.h"
#include "dialects/nn/Shape.h"
#include <algorithm>

using namespace wsc::tf;

namespace wsc::import::tf {
namespace {

const AttrValue *attribute(const NodeDef &def, const char *name) {
  for (const AttrEntry &entry : def.attr())
    if (entry.key() == name)
      return &entry.value();
  return nullptr;
}

bool isPlaceholder(const NodeDef &def) { return def.op() == "Placeholder" || def.op() == "PlaceholderV2"; }

/// An input before its type is known.
struct Draft {
  InputOption option;
  Edge edge;
  const TensorInfo *info = nullptr;
};

class Finder {
public:
  Finder(mlir::MLIRContext &context, const Body &body, const LoadedModel &model, const ImportOptions &options)
      : context_(context), body_(body), model_(model), options_(options) {}

  absl::StatusOr<Interface> run(bool typed) {
    if (!options_.dims.empty())
      return absl::NotFoundError(absl::StrCat("--dim ", options_.dims.begin()->first, "=",
                                              options_.dims.begin()->second,
                                              ": dimensions of TensorFlow graphs have no names; give the whole shape "
                                              "with --input NAME:SHAPE"));
    for (auto step : {&Finder::findOutputs, &Finder::findNamedInputs})
      if (absl::Status status = (this->*step)(); !status.ok())
        return status;
    std::set<Edge> cuts;
    for (const Draft &draft : drafts_)
      cuts.insert(draft.edge);
    std::vector<int> roots;
    for (const GraphOutput &output : interface_.outputs)
      if (!cuts.count(output.edge))
        roots.push_back(output.edge.node);
    auto reach = reachOf(body_, model_.graph.library(), roots, cuts);
    if (!reach.ok())
      return reach.status();
    interface_.reach = std::move(*reach);
    addPlaceholders();
    for (const Draft &draft : drafts_) {
      GraphInput input{draft.option.name, draft.edge, {}};
      if (typed)
        if (absl::Status status = addType(draft, input); !status.ok())
          return status;
      interface_.inputs.push_back(std::move(input));
    }
    if (!unresolved_.empty())
      return absl::InvalidArgumentError(unresolved_);
    return std::move(interface_);
  }

private:
  /// The edge of "NODE" or "NODE:OUTPUT"; false where there is no such node.
  bool findEdge(const std::string &name, Edge &edge) const {
    auto whole = body_.byName.find(name);
    if (whole != body_.byName.end()) {
      edge = {whole->second, 0};
      return true;
    }
    TensorName parsed = parseTensorName(name);
    auto node = body_.byName.find(parsed.node);
    if (node == body_.byName.end() || parsed.isControl || parsed.node == name)
      return false;
    edge = {node->second, parsed.output};
    return true;
  }

  static const TensorInfo *entryOf(const google::protobuf::RepeatedPtrField<TensorInfoEntry> &entries,
                                   const std::string &key) {
    for (const TensorInfoEntry &entry : entries)
      if (entry.key() == key)
        return &entry.value();
    return nullptr;
  }

  absl::Status signatureError(const char *what, const std::string &key, const std::string &tensor) const {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " '", key, "' of the signature is tensor '", tensor, "', which the graph does not have"));
  }

  absl::Status findOutputs() {
    const SignatureDef *signature = model_.signature ? &*model_.signature : nullptr;
    for (const std::string &name : options_.outputs) {
      GraphOutput output{name, {}, true};
      const TensorInfo *info = signature ? entryOf(signature->outputs(), name) : nullptr;
      if (!findEdge(info ? info->name() : name, output.edge))
        return absl::NotFoundError(absl::StrCat("--output ", name, ": the graph has no tensor of that name"));
      interface_.outputs.push_back(output);
    }
    if (options_.outputs.empty() && signature) {
      for (const TensorInfoEntry &entry : signature->outputs()) {
        GraphOutput output{entry.key(), {}, true};
        if (!findEdge(entry.value().name(), output.edge))
          return signatureError("output", entry.key(), entry.value().name());
        interface_.outputs.push_back(output);
      }
      std::sort(interface_.outputs.begin(), interface_.outputs.end(),
                [](const GraphOutput &a, const GraphOutput &b) { return a.name < b.name; });
    } else if (options_.outputs.empty()) {
      findEnds();
    }
    for (size_t i = 0; i < interface_.outputs.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        if (interface_.outputs[k].name == interface_.outputs[i].name)
          return absl::InvalidArgumentError(absl::StrCat("output '", interface_.outputs[i].name, "' is named twice"));
    if (interface_.outputs.empty())
      return absl::InvalidArgumentError("the graph has no outputs; name some with --output");
    return absl::OkStatus();
  }

  /// Nodes whose results nobody reads; constants only where nothing else is left.
  void findEnds() {
    static const std::set<std::string> others{"NoOp",
                                              "Assert",
                                              "Placeholder",
                                              "PlaceholderV2",
                                              "PlaceholderWithDefault",
                                              "VariableV2",
                                              "Variable",
                                              "VarHandleOp",
                                              "Assign",
                                              "AssignVariableOp",
                                              "SaveV2",
                                              "RestoreV2",
                                              "MergeV2Checkpoints",
                                              "ScalarSummary",
                                              "HistogramSummary",
                                              "MergeSummary",
                                              "ImageSummary",
                                              "StringJoin",
                                              "IsVariableInitialized",
                                              "VarIsInitializedOp",
                                              "Print",
                                              "PrintV2",
                                              "NextIteration",
                                              "LoopCond",
                                              "Switch",
                                              "Enter",
                                              "TensorArrayCloseV3",
                                              "ControlTrigger"};
    std::set<int> read;
    for (const Node &node : body_.nodes)
      for (const Edge &edge : node.inputs)
        read.insert(edge.node);
    for (bool constants : {false, true}) {
      if (!interface_.outputs.empty())
        break;
      for (int n = 0; n < static_cast<int>(body_.nodes.size()); ++n)
        if (!read.count(n) && !others.count(body_.def(n).op()) && (body_.def(n).op() == "Const") == constants)
          interface_.outputs.push_back({body_.def(n).name(), {n, 0}, false});
    }
  }

  absl::Status findNamedInputs() {
    const SignatureDef *signature = model_.signature ? &*model_.signature : nullptr;
    if (signature) {
      for (const TensorInfoEntry &entry : signature->inputs()) {
        Draft draft;
        draft.option.name = entry.key();
        draft.info = &entry.value();
        if (!findEdge(entry.value().name(), draft.edge))
          return signatureError("input", entry.key(), entry.value().name());
        drafts_.push_back(draft);
      }
      std::sort(drafts_.begin(), drafts_.end(),
                [](const Draft &a, const Draft &b) { return a.option.name < b.option.name; });
    }
    std::set<std::string> given;
    for (const std::string &text : options_.inputs) {
      Draft draft;
      if (absl::Status status = parseInput(text, draft); !status.ok())
        return status;
      if (!given.insert(draft.option.name).second)
        return absl::InvalidArgumentError(absl::StrCat("--input ", draft.option.name, " is given twice"));
      auto same = std::find_if(drafts_.begin(), drafts_.end(), [&](const Draft &d) {
        return d.option.name == draft.option.name || d.edge == draft.edge;
      });
      if (same == drafts_.end()) {
        drafts_.push_back(draft);
      } else {
        same->option.shape = draft.option.shape;
        same->option.elementType = draft.option.elementType;
      }
    }
    return absl::OkStatus();
  }

  absl::Status parseInput(const std::string &text, Draft &draft) const {
    // The longest name first: names of nodes hold no colons, but an output may follow, then a shape.
    std::vector<std::string> names{text};
    for (size_t colon = text.rfind(':'); colon != std::string::npos && colon > 0; colon = text.rfind(':', colon - 1))
      names.push_back(text.substr(0, colon));
    for (const std::string &name : names) {
      const TensorInfo *info = model_.signature ? entryOf(model_.signature->inputs(), name) : nullptr;
      if (!findEdge(info ? info->name() : name, draft.edge))
        continue;
      // "x:4" of a placeholder is a shape.
      if (!info && name == text && draft.edge.output != 0 && isPlaceholder(body_.def(draft.edge.node)))
        continue;
      draft.option.name = name;
      draft.info = info;
      if (name.size() == text.size())
        return absl::OkStatus();
      const std::string shape = text.substr(name.size() + 1);
      if (!parseShape(shape, draft.option))
        return absl::InvalidArgumentError(
            absl::StrCat("--input ", text, ": '", shape, "' is no shape; write it as 1x224x224x3 or 1x224x224x3xf32"));
      return absl::OkStatus();
    }
    return absl::NotFoundError(absl::StrCat("--input ", text, ": the graph has no tensor of that name"));
  }

  void addPlaceholders() {
    for (int n : interface_.reach.nodes)
      if (isPlaceholder(body_.def(n))) {
        Draft draft;
        draft.option.name = body_.def(n).name();
        draft.edge = {n, 0};
        drafts_.push_back(draft);
      }
  }

  absl::Status addType(const Draft &draft, GraphInput &input) {
    const NodeDef &def = body_.def(draft.edge.node);
    const std::string &name = draft.option.name;
    mlir::Type element;
    if (!draft.option.elementType.empty()) {
      auto named = parseElementType(context_, draft.option);
      if (!named.ok())
        return named.status();
      element = *named;
    } else {
      DataType type = DT_FLOAT;
      for (const char *attr : {"T", "dtype", "output_type", "DstT", "out_type", "Tparams"})
        if (const AttrValue *value = attribute(def, attr); value && value->has_type()) {
          type = value->type();
          break;
        }
      if (const AttrValue *value = attribute(def, "DstT"); value && value->has_type())
        type = value->type();
      if (draft.info && draft.info->has_dtype())
        type = draft.info->dtype();
      auto found = elementType(context_, type);
      if (!found.ok())
        return at(absl::StrCat("input '", name, "'"), found.status());
      element = *found;
    }
    std::vector<int64_t> extents;
    if (draft.option.shape) {
      extents = *draft.option.shape;
    } else if (auto declared = declaredShape(draft, def)) {
      extents = *declared;
      for (size_t d = 0; d < extents.size(); ++d) {
        if (extents[d] >= 0)
          continue;
        if (extents[d] < -1)
          return absl::InvalidArgumentError(absl::StrCat("input '", name, "' has an impossible extent ", extents[d]));
        if (d > 0) {
          note(absl::StrCat("dimension ", d, " of input '", name, "' is unknown; give the whole shape with --input ",
                            name, ":SHAPE"));
          return absl::OkStatus();
        }
        extents[d] = 1;
      }
    } else {
      note(absl::StrCat("input '", name, "' has no declared shape; give --input ", name, ":SHAPE, such as --input ",
                        name, ":1x224x224x3"));
      return absl::OkStatus();
    }
    if (std::string problem = nn::shapeProblem(extents); !problem.empty())
      return absl::InvalidArgumentError(
          absl::StrCat("input '", name, "' of shape ", nn::formatShape(extents), " ", problem));
    input.type = mlir::RankedTensorType::get(extents, element);
    return absl::OkStatus();
  }

  /// What the signature, the node or TensorFlow's shape inference says of an edge's shape.
  std::optional<std::vector<int64_t>> declaredShape(const Draft &draft, const NodeDef &def) const {
    if (draft.info && draft.info->has_tensor_shape())
      return extentsOf(draft.info->tensor_shape());
    if (isPlaceholder(def) || def.op() == "PlaceholderWithDefault") {
      const AttrValue *shape = attribute(def, "shape");
      return shape && shape->has_shape() ? extentsOf(shape->shape()) : std::nullopt;
    }
    const AttrValue *shapes = attribute(def, "_output_shapes");
    if (shapes && draft.edge.output < shapes->list().shape_size())
      return extentsOf(shapes->list().shape(draft.edge.output));
    // A Reshape says its result's shape itself.
    const Node &node = body_.nodes[draft.edge.node];
    if (def.op() != "Reshape" || node.inputs.size() != 2)
      return std::nullopt;
    const AttrValue *value = attribute(body_.def(node.inputs[1].node), "value");
    if (!value || !value->has_tensor())
      return std::nullopt;
    FileStore files;
    auto constant = TensorReader(context_, files, model_.file).read(value->tensor());
    mlir::OpBuilder builder(&context_);
    LayerBuilder layers(builder, files);
    auto literal = constant.ok() ? layers.literal(constant->tensor) : std::nullopt;
    return literal && !literal->isFloat() ? std::optional(literal->ints) : std::nullopt;
  }

  void note(const std::string &text) { absl::StrAppend(&unresolved_, unresolved_.empty() ? "" : "\n", text); }

  mlir::MLIRContext &context_;
  const Body &body_;
  const LoadedModel &model_;
  const ImportOptions &options_;
  Interface interface_;
  std::vector<Draft> drafts_;
  std::string unresolved_;
};

} // namespace

absl::StatusOr<Interface> interfaceOf(mlir::MLIRContext &context, const Body &body, const LoadedModel &model,
                                      const ImportOptions &options, bool typed) {
  return Finder(context, body, model, options).run(typed);
}

} // namespace wsc::import::tf
