// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which file holds what; see Load.h.
#include "compiler/import/tf/Load.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <filesystem>

using namespace wsc::tf;
namespace fs = std::filesystem;

namespace wsc::import::tf {
namespace {

bool hasTag(const MetaGraphDef &graph, const char *tag) {
  for (const std::string &found : graph.meta_info_def().tags())
    if (found == tag)
      return true;
  return false;
}

/// The meta graph to serve: the one with tag "serve", else the first.
const MetaGraphDef &served(const SavedModel &saved) {
  for (const MetaGraphDef &graph : saved.meta_graphs())
    if (hasTag(graph, "serve"))
      return graph;
  return saved.meta_graphs(0);
}

absl::Status chooseSignature(const MetaGraphDef &graph, const ImportOptions &options, LoadedModel &model) {
  const std::string wanted = options.signature.empty() ? "serving_default" : options.signature;
  std::string names;
  const SignatureEntry *only = nullptr;
  int usable = 0;
  for (const SignatureEntry &entry : graph.signature_def()) {
    if (entry.key() == wanted) {
      model.signature = entry.value();
      return absl::OkStatus();
    }
    if (absl::StartsWith(entry.key(), "__")) // initialisation and training operators
      continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", entry.key());
    only = &entry;
    ++usable;
  }
  if (!options.signature.empty())
    return absl::NotFoundError(absl::StrCat(
        "--signature ", wanted, ": the model has no signature of that name; it has ", names.empty() ? "none" : names));
  if (usable == 1)
    model.signature = only->value();
  else if (usable > 1 && options.outputs.empty())
    return absl::InvalidArgumentError(absl::StrCat(
        "the model has several signatures and none is serving_default; give --signature with one of ", names));
  return absl::OkStatus();
}

absl::Status takeMetaGraph(MetaGraphDef &graph, const ImportOptions &options, LoadedModel &model) {
  if (absl::Status status = chooseSignature(graph, options, model); !status.ok())
    return status;
  model.saver = graph.saver_def();
  model.graph = std::move(*graph.mutable_graph_def());
  if (model.graph.node_size() == 0)
    return absl::InvalidArgumentError("the meta graph has no nodes");
  return absl::OkStatus();
}

absl::Status takeSavedModel(absl::StatusOr<SavedModel> saved, const fs::path &folder, const ImportOptions &options,
                            LoadedModel &model) {
  if (!saved.ok())
    return saved.status();
  if (saved->meta_graphs_size() == 0)
    return absl::InvalidArgumentError("not a SavedModel: it has no meta graph");
  MetaGraphDef graph = served(*saved);
  const fs::path variables = folder / "variables" / "variables";
  std::error_code code;
  if (fs::exists(variables.string() + ".index", code))
    model.checkpoint = variables.string();
  return takeMetaGraph(graph, options, model);
}

absl::Status loadMapped(const fs::path &path, const ImportOptions &options, LoadedModel &model) {
  auto bytes = model.files.map(path.string());
  if (!bytes.ok())
    return bytes.status();
  model.file = path.string();
  const std::string extension = path.extension().string();
  const bool isSaved = path.filename() == "saved_model.pb" || path.filename() == "saved_model.pbtxt";
  if (!options.signature.empty() && !isSaved && extension != ".meta")
    return absl::InvalidArgumentError("--signature is for SavedModels; a graph has none: name its tensors with --input "
                                      "and --output");
  if (isSaved)
    return takeSavedModel(extension == ".pbtxt" ? parseSavedModelText(*bytes) : parseSavedModel(*bytes),
                          path.parent_path(), options, model);
  if (extension == ".meta") {
    auto graph = parseMetaGraph(*bytes);
    if (!graph.ok())
      return graph.status();
    const std::string prefix = path.string().substr(0, path.string().size() - extension.size());
    std::error_code code;
    if (fs::exists(prefix + ".index", code))
      model.checkpoint = prefix;
    return takeMetaGraph(*graph, options, model);
  }
  auto graph = extension == ".pbtxt" ? parseGraphText(*bytes) : parseGraph(*bytes);
  if (!graph.ok())
    return graph.status();
  model.graph = std::move(*graph);
  return absl::OkStatus();
}

} // namespace

absl::Status load(const std::string &path, const ImportOptions &options, LoadedModel &model) {
  fs::path file = path;
  std::error_code code;
  if (fs::is_directory(file, code)) {
    const fs::path binary = file / "saved_model.pb", text = file / "saved_model.pbtxt";
    if (!fs::exists(binary, code) && !fs::exists(text, code))
      return absl::NotFoundError(absl::StrCat(path, ": a folder without saved_model.pb is no SavedModel"));
    file = fs::exists(binary, code) ? binary : text;
  }
  absl::Status status = loadMapped(file, options, model);
  return status.ok() || absl::StrContains(status.message(), file.string()) ? status : at(file.string(), status);
}

} // namespace wsc::import::tf
