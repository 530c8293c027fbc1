// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages of TensorFlow that hold tensors, and the parsers of both forms; see Load.h.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/WireScan.h"
#include "compiler/import/tf/Load.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

using namespace wsc::tf;

namespace wsc::import::tf {
namespace {

enum Message : int {
  Other,
  Saved,
  Meta,
  Graph,
  NodeOf,
  Library,
  Function,
  Entry,
  Attribute,
  List,
  Named,
  Tensor,
  Signature,
  ArgumentDef
};

/// What the length-delimited field of a message holds.
int childOf(int parent, uint32_t field) {
  switch (parent) {
  case Saved:
    return field == 2 ? Meta : Other;
  case Meta:
    return field == 2 ? Graph : Other;
  case Graph:
    return field == 1 ? NodeOf : field == 2 ? Library : Other;
  case NodeOf:
    return field == 5 ? Entry : Other;
  case Library:
    return field == 1 ? Function : Other;
  case Function:
    return field == 3 ? NodeOf : field == 5 ? Entry : Other;
  case Entry:
    return field == 2 ? Attribute : Other;
  case Attribute:
    return field == 1 ? List : field == 8 ? Tensor : field == 10 ? Named : Other;
  case List:
    return field == 8 ? Tensor : field == 9 ? Named : Other;
  case Named:
    return field == 2 ? Entry : Other;
  default:
    return Other;
  }
}

bool isRaw(uint32_t field) { return field == 4; }
bool isPacked(uint32_t field) { return field == 5 || field == 6; }

constexpr WireSchema schemaOf(int root, const char *kind) {
  return {"TensorFlow", kind, root, Tensor, childOf, isRaw, isPacked};
}
constexpr WireSchema graphSchema = schemaOf(Graph, "a TensorFlow graph");
constexpr WireSchema savedSchema = schemaOf(Saved, "a SavedModel");
constexpr WireSchema metaSchema = schemaOf(Meta, "a TensorFlow meta graph");

template <typename Proto> absl::StatusOr<Proto> parse(std::string_view file, const WireSchema &schema) {
  if (file.empty())
    return absl::InvalidArgumentError(absl::StrCat("not ", schema.kind, ": the file is empty"));
  auto stripped = stripElements(file, schema);
  if (!stripped.ok())
    return stripped.status();
  Proto proto;
  if (!proto.ParseFromString(*stripped))
    return absl::InvalidArgumentError(absl::StrCat("not ", schema.kind, ": its fields do not have TensorFlow's types"));
  return proto;
}

/// Keeps the first error of the text parser.
class FirstError : public google::protobuf::io::ErrorCollector {
public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string &message) override {
    if (text.empty())
      text = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  std::string text;
};

template <typename Proto> absl::StatusOr<Proto> parseText(std::string_view text, const char *kind) {
  FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(64);
  parser.RecordErrorsTo(&errors);
  Proto proto;
  if (!parser.ParseFromString(std::string(text), &proto))
    return absl::InvalidArgumentError(absl::StrCat("not ", kind, " as text: ", errors.text));
  return proto;
}

} // namespace

absl::StatusOr<GraphDef> parseGraph(std::string_view file) {
  auto graph = parse<GraphDef>(file, graphSchema);
  if (graph.ok() && graph->node_size() == 0)
    return absl::InvalidArgumentError("not a TensorFlow graph: it has no nodes");
  return graph;
}

absl::StatusOr<GraphDef> parseGraphText(std::string_view text) {
  auto graph = parseText<GraphDef>(text, "a TensorFlow graph");
  if (graph.ok() && graph->node_size() == 0)
    return absl::InvalidArgumentError("not a TensorFlow graph: it has no nodes");
  return graph;
}

absl::StatusOr<SavedModel> parseSavedModel(std::string_view file) { return parse<SavedModel>(file, savedSchema); }
absl::StatusOr<MetaGraphDef> parseMetaGraph(std::string_view file) { return parse<MetaGraphDef>(file, metaSchema); }
absl::StatusOr<SavedModel> parseSavedModelText(std::string_view text) {
  return parseText<SavedModel>(text, "a SavedModel");
}

} // namespace wsc::import::tf
