// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the arguments; see InputTypes.h.
#include "compiler/import/onnx/InputTypes.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/TensorData.h"
#include "dialects/nn/Shape.h"

using namespace mlir;
using namespace wsc::onnx;

namespace wsc::import {
namespace {

/// Names of all symbolic dimensions, so that a --dim for none of them is noticed.
std::set<std::string> symbolicDimensions(const Graph &graph) {
  std::set<std::string> names;
  for (const auto &entry : graph.infos)
    for (const auto &dim : entry.second->type().tensor_type().shape().dim())
      if (!dim.dim_param().empty())
        names.insert(dim.dim_param());
  return names;
}

class Resolver {
public:
  Resolver(MLIRContext &context, const Graph &graph, const ImportOptions &options)
      : context_(context), graph_(graph), options_(options) {}

  absl::StatusOr<std::vector<GraphInput>> run() {
    std::set<std::string> known = symbolicDimensions(graph_);
    for (const auto &[name, value] : options_.dims) {
      if (!known.count(name))
        return absl::NotFoundError(
            absl::StrCat("--dim ", name, "=", value, ": the model has no dimension of that name", listOf(known)));
      if (value < 0)
        return absl::InvalidArgumentError(absl::StrCat("--dim ", name, "=", value, ": an extent cannot be negative"));
    }
    for (const ValueInfoProto *input : graph_.inputs) {
      if (!graph_.cuts.empty() && !graph_.used.count(input->name()))
        continue;
      if (absl::Status status = add(input->name()); !status.ok())
        return status;
    }
    for (const InputOption &option : graph_.inputOptions)
      if (graph_.cuts.count(option.name))
        if (absl::Status status = add(option.name); !status.ok())
          return status;
    if (!unresolved_.empty())
      return absl::InvalidArgumentError(unresolved_);
    return inputs_;
  }

private:
  static std::string listOf(const std::set<std::string> &names) {
    std::string text = names.empty() ? std::string(" (it has none)") : std::string("; it has");
    for (const std::string &name : names)
      absl::StrAppend(&text, " ", name);
    return text;
  }

  void note(const std::string &text) { absl::StrAppend(&unresolved_, unresolved_.empty() ? "" : "\n", text); }

  absl::Status add(const std::string &name) {
    const InputOption *option = nullptr;
    for (const InputOption &candidate : graph_.inputOptions)
      if (candidate.name == name)
        option = &candidate;
    auto info = graph_.infos.find(name);
    bool typed = info != graph_.infos.end() && info->second->type().has_tensor_type();
    auto initializer = graph_.initializers.find(name);
    Type element;
    if (option && !option->elementType.empty()) {
      auto named = parseElementType(context_, *option);
      if (!named.ok())
        return named.status();
      element = *named;
    } else if (typed || initializer != graph_.initializers.end()) {
      auto found = elementType(context_, typed ? info->second->type().tensor_type().elem_type()
                                               : initializer->second->data_type());
      if (!found.ok())
        return absl::Status(found.status().code(), absl::StrCat("input '", name, "': ", found.status().message()));
      element = *found;
    } else if (info != graph_.infos.end() && info->second->has_type()) {
      return absl::UnimplementedError(
          absl::StrCat("input '", name,
                       "' is a sequence, map, optional or sparse tensor; only dense tensors "
                       "are supported"));
    } else {
      return absl::InvalidArgumentError(absl::StrCat("the model does not say the type of input '", name,
                                                     "'; give --input ", name, ":SHAPExTYPE, such as --input ", name,
                                                     ":1x3x224x224xf32"));
    }
    SmallVector<int64_t> shape;
    if (option && option->shape) {
      shape.assign(option->shape->begin(), option->shape->end());
    } else if (typed && info->second->type().tensor_type().has_shape()) {
      if (!declaredShape(name, info->second->type().tensor_type().shape(), shape))
        return absl::OkStatus(); // noted; the others are looked at too
    } else if (initializer != graph_.initializers.end()) {
      shape.assign(initializer->second->dims().begin(), initializer->second->dims().end());
    } else {
      note(absl::StrCat("input '", name, "' has no declared shape; give --input ", name, ":SHAPE, such as --input ",
                        name, ":1x3x224x224"));
      return absl::OkStatus();
    }
    for (int64_t extent : shape)
      if (extent < 0)
        return absl::InvalidArgumentError(absl::StrCat("input '", name, "' has a negative extent ", extent));
    if (std::string problem = nn::shapeProblem(shape); !problem.empty())
      return absl::InvalidArgumentError(absl::StrCat("input '", name, "' ", problem));
    inputs_.push_back({name, RankedTensorType::get(shape, element)});
    return absl::OkStatus();
  }

  bool declaredShape(const std::string &name, const TensorShapeProto &declared, SmallVectorImpl<int64_t> &shape) {
    bool resolved = true;
    for (int d = 0; d < declared.dim_size(); ++d) {
      const auto &dim = declared.dim(d);
      auto given = options_.dims.find(dim.dim_param());
      if (dim.has_dim_value()) {
        shape.push_back(dim.dim_value());
      } else if (!dim.dim_param().empty() && given != options_.dims.end()) {
        shape.push_back(given->second);
      } else {
        resolved = false;
        note(dim.dim_param().empty()
                 ? absl::StrCat("dimension ", d, " of input '", name,
                                "' is unknown and unnamed; give the whole shape with --input ", name, ":SHAPE")
                 : absl::StrCat("dimension ", d, " of input '", name, "' is '", dim.dim_param(), "'; give --dim ",
                                dim.dim_param(), "=1 (or another value)"));
      }
    }
    return resolved;
  }

  MLIRContext &context_;
  const Graph &graph_;
  const ImportOptions &options_;
  std::vector<GraphInput> inputs_;
  std::string unresolved_;
};

} // namespace

absl::StatusOr<std::vector<GraphInput>> inferInputTypes(MLIRContext &context, const Graph &graph,
                                                        const ImportOptions &options) {
  return Resolver(context, graph, options).run();
}

} // namespace wsc::import
