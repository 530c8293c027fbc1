// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the elements of tensors out of a protobuf file without copying them. Protobuf's wire format nests
// length-delimited fields; the scan walks the messages that can hold a tensor, copies everything else through, and
// replaces a tensor's element bytes by the two fields `wsc_offset` and `wsc_bytes`, their place in the file. The
// result, a few kilobytes, goes through the ordinary protobuf parser. Memory and time do not depend on the size of the
// weights.
#pragma once
#include "absl/status/statusor.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace wsc::import {

/// What the scan knows of a format. Messages are numbers of the format's own, 0 being one that is copied as it is.
struct WireSchema {
  const char *format;                          ///< for messages: "ONNX"
  const char *kind;                            ///< what the file ought to be: "an ONNX model"
  int root;                                    ///< the file's message
  int tensor;                                  ///< the message whose elements stay in the file
  int (*childOf)(int message, uint32_t field); ///< what a length-delimited field of a message holds
  bool (*isRaw)(uint32_t field);               ///< field of a tensor: its elements as bytes
  bool (*isPacked)(uint32_t field);            ///< field of a tensor: packed numbers, whose bytes are the same
  int mostMessages = 64;                       ///< inside of each other
  int graph = 0;                               ///< the message of a graph, if graphs lie in graphs
  int mostGraphs = 0;                          ///< so many inside of each other are possible
};

/// Fields that the scan sets in a tensor.
inline constexpr uint32_t wireOffsetField = 20001, wireBytesField = 20002;
/// Set too where the bytes are those of packed numbers.
inline constexpr uint32_t wirePackedField = 20003;

/// The message in `file` with element bytes left there. Errors: no protobuf, truncated (with the byte position), nested
/// too deeply, a tensor whose elements come in pieces.
absl::StatusOr<std::string> stripElements(std::string_view file, const WireSchema &schema);

} // namespace wsc::import
