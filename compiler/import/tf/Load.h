// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading of TensorFlow models: GraphDef (.pb, .pbtxt), MetaGraphDef (.meta, with the checkpoint beside it) and
// SavedModel folders. Files stay mapped; constants stay in them.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/common/FileStore.h"
#include "compiler/import/common/Options.h"
#include "compiler/import/tf/tf.pb.h"
#include <optional>

namespace wsc::import::tf {

struct LoadedModel {
  FileStore files;
  std::string file; ///< that holds the graph
  wsc::tf::GraphDef graph;
  std::optional<wsc::tf::SignatureDef> signature;
  wsc::tf::SaverDef saver; ///< how the graph restores its variables
  std::string checkpoint;  ///< prefix of .index and .data-…; empty without one
};

/// Errors name the file and what is wrong with it; a SavedModel with several signatures and none chosen lists them.
absl::Status load(const std::string &path, const ImportOptions &options, LoadedModel &model);

/// The graph in bytes of a .pb file, its constants left there.
absl::StatusOr<wsc::tf::GraphDef> parseGraph(std::string_view file);
/// The graph in protobuf's text form.
absl::StatusOr<wsc::tf::GraphDef> parseGraphText(std::string_view text);
absl::StatusOr<wsc::tf::SavedModel> parseSavedModel(std::string_view file);
absl::StatusOr<wsc::tf::MetaGraphDef> parseMetaGraph(std::string_view file);
absl::StatusOr<wsc::tf::SavedModel> parseSavedModelText(std::string_view text);

} // namespace wsc::import::tf
