// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wire scan; see WireScan.h.
#include "compiler/import/onnx/WireScan.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include <optional>
#include <string>

namespace wsc::import {
namespace {

enum class Message { Other, Model, Graph, Function, Node, Attribute, Tensor, SparseTensor };

/// What the length-delimited field of a message holds.
Message childOf(Message parent, uint32_t field) {
  switch (parent) {
  case Message::Model:
    return field == 7 ? Message::Graph : field == 25 ? Message::Function : Message::Other;
  case Message::Function:
    return field == 7 ? Message::Node : field == 11 ? Message::Attribute : Message::Other;
  case Message::Graph:
    return field == 1    ? Message::Node
           : field == 5  ? Message::Tensor
           : field == 15 ? Message::SparseTensor
                         : Message::Other;
  case Message::Node:
    return field == 5 ? Message::Attribute : Message::Other;
  case Message::Attribute:
    return field == 5 || field == 10    ? Message::Tensor
           : field == 6 || field == 11  ? Message::Graph
           : field == 22 || field == 23 ? Message::SparseTensor
                                        : Message::Other;
  case Message::SparseTensor:
    return field == 1 || field == 2 ? Message::Tensor : Message::Other;
  default:
    return Message::Other;
  }
}

constexpr uint32_t floatData = 4, rawData = 9, doubleData = 10, wscOffset = 20001, wscBytes = 20002;
/// Packed float_data and double_data up to this many bytes stay in the message.
constexpr uint64_t smallBytes = 256;
/// Graphs inside of graphs.
constexpr int maxGraphs = 32;
/// A graph in a graph is three messages deeper; types and tensors lie a few below.
constexpr int maxMessages = 3 * maxGraphs + 16;

void appendVarint(std::string &out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

class Scanner {
public:
  explicit Scanner(std::string_view file) : file_(file) {}

  /// Appends the message in [begin, end) without its element bytes.
  /// `graphs` of those around it are graphs.
  absl::Status scan(Message message, uint64_t begin, uint64_t end, int graphs, std::string &out) {
    if (graphs > maxGraphs)
      return absl::InvalidArgumentError(
          absl::StrCat("graphs are nested more than ", maxGraphs, " deep at byte ", begin));
    std::optional<std::pair<uint64_t, uint64_t>> elements;
    int elementFields = 0;
    for (uint64_t at = begin; at < end;) {
      uint64_t start = at, tag = 0, value = 0;
      if (absl::Status status = readVarint(at, end, tag); !status.ok())
        return status;
      uint32_t field = static_cast<uint32_t>(tag >> 3), wire = tag & 7;
      if (field == 0 || tag >> 32)
        return notOnnx(start);
      bool forged = message == Message::Tensor && (field == wscOffset || field == wscBytes);
      switch (wire) {
      case 0:
        if (absl::Status status = readVarint(at, end, value); !status.ok())
          return status;
        break;
      case 1:
      case 5: {
        uint64_t width = wire == 1 ? 8 : 4;
        if (width > end - at)
          return truncated(start, width, end - at);
        at += width;
        break;
      }
      case 2: {
        if (absl::Status status = readVarint(at, end, value); !status.ok())
          return status;
        if (value > end - at)
          return truncated(start, value, end - at);
        uint64_t body = at;
        at += value;
        bool packed = field == floatData || field == doubleData;
        if (message == Message::Tensor && (field == rawData || (packed && value > smallBytes))) {
          elements = {body, value};
          ++elementFields;
          continue;
        }
        if (message == Message::Tensor && packed && value > 0)
          ++elementFields;
        Message child = childOf(message, field);
        if (child != Message::Other) {
          std::string content;
          if (absl::Status status = scan(child, body, at, graphs + (child == Message::Graph), content); !status.ok())
            return status;
          appendVarint(out, tag);
          appendVarint(out, content.size());
          out += content;
          continue;
        }
        break;
      }
      default:
        return notOnnx(start);
      }
      if (!forged)
        out.append(file_.substr(start, at - start));
    }
    if (elements && elementFields > 1)
      return absl::InvalidArgumentError(
          absl::StrCat("tensor at byte ", begin, " has its elements in ", elementFields, " pieces"));
    if (elements) {
      appendVarint(out, uint64_t{wscOffset} << 3);
      appendVarint(out, elements->first);
      appendVarint(out, uint64_t{wscBytes} << 3);
      appendVarint(out, elements->second);
    }
    return absl::OkStatus();
  }

private:
  absl::Status readVarint(uint64_t &at, uint64_t end, uint64_t &value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at >= end)
        return truncated(at, 1, 0);
      unsigned char byte = static_cast<unsigned char>(file_[at++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return absl::OkStatus();
    }
    return notOnnx(at);
  }

  absl::Status truncated(uint64_t at, uint64_t needed, uint64_t left) {
    return absl::InvalidArgumentError(absl::StrCat("truncated or damaged ONNX file: the field at byte ", at, " needs ",
                                                   needed, " bytes, ", left, " are left of ", file_.size()));
  }

  absl::Status notOnnx(uint64_t at) {
    return absl::InvalidArgumentError(absl::StrCat("not an ONNX model: no protobuf field at byte ", at));
  }

  std::string_view file_;
};

} // namespace

absl::StatusOr<wsc::onnx::ModelProto> parseModel(std::string_view file) {
  if (file.empty())
    return absl::InvalidArgumentError("not an ONNX model: the file is empty");
  std::string stripped;
  if (absl::Status status = Scanner(file).scan(Message::Model, 0, file.size(), 0, stripped); !status.ok())
    return status;
  wsc::onnx::ModelProto model;
  google::protobuf::io::ArrayInputStream bytes(stripped.data(), static_cast<int>(stripped.size()));
  google::protobuf::io::CodedInputStream stream(&bytes);
  stream.SetRecursionLimit(maxMessages);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return absl::InvalidArgumentError("not an ONNX model: its fields do not have ONNX's types");
  if (!model.has_ir_version() || !model.has_graph())
    return absl::InvalidArgumentError("not an ONNX model: it has no ir_version or no graph");
  return model;
}

} // namespace wsc::import
