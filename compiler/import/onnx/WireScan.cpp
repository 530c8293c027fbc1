// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages of ONNX that hold tensors; see WireScan.h.
#include "compiler/import/onnx/WireScan.h"
#include "compiler/import/common/WireScan.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace wsc::import {
namespace {

enum Message : int { Other, Model, Graph, Function, Node, Attribute, Tensor, SparseTensor };

/// What the length-delimited field of a message holds.
int childOf(int parent, uint32_t field) {
  switch (parent) {
  case Model:
    return field == 7 ? Graph : field == 25 ? Function : Other;
  case Function:
    return field == 7 ? Node : field == 11 ? Attribute : Other;
  case Graph:
    return field == 1 ? Node : field == 5 ? Tensor : field == 15 ? SparseTensor : Other;
  case Node:
    return field == 5 ? Attribute : Other;
  case Attribute:
    return field == 5 || field == 10    ? Tensor
           : field == 6 || field == 11  ? Graph
           : field == 22 || field == 23 ? SparseTensor
                                        : Other;
  case SparseTensor:
    return field == 1 || field == 2 ? Tensor : Other;
  default:
    return Other;
  }
}

bool isRaw(uint32_t field) { return field == 9; }
bool isPacked(uint32_t field) { return field == 4 || field == 10; }

/// Graphs inside of graphs. One in another is three messages deeper; types and tensors lie a few below.
constexpr int maxGraphs = 32, maxMessages = 3 * maxGraphs + 16;

constexpr WireSchema schema{"ONNX", "an ONNX model", Model,       Tensor, childOf,
                            isRaw,  isPacked,        maxMessages, Graph,  maxGraphs};

} // namespace

absl::StatusOr<wsc::onnx::ModelProto> parseModel(std::string_view file) {
  if (file.empty())
    return absl::InvalidArgumentError("not an ONNX model: the file is empty");
  auto stripped = stripElements(file, schema);
  if (!stripped.ok())
    return stripped.status();
  wsc::onnx::ModelProto model;
  google::protobuf::io::ArrayInputStream bytes(stripped->data(), static_cast<int>(stripped->size()));
  google::protobuf::io::CodedInputStream stream(&bytes);
  stream.SetRecursionLimit(maxMessages);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return absl::InvalidArgumentError("not an ONNX model: its fields do not have ONNX's types");
  if (!model.has_ir_version() || !model.has_graph())
    return absl::InvalidArgumentError("not an ONNX model: it has no ir_version or no graph");
  return model;
}

} // namespace wsc::import
