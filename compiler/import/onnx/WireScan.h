// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses an ONNX model without copying its weights. Protobuf's wire format nests length-delimited fields; the scan
// walks the messages that can hold a TensorProto (model, graph, function, node, attribute, sparse tensor), copies
// everything else through, and replaces raw_data (and packed float_data and double_data, whose bytes are the same) by
// the two fields `wsc_offset` and `wsc_bytes`. The result, a few kilobytes, goes through the ordinary protobuf parser.
// Memory and time do not depend on the size of the weights.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/onnx/onnx.pb.h"
#include <string_view>

namespace wsc::import {

/// The model in `file` with element bytes left there. Errors: not an ONNX model, truncated (with the byte position),
/// nested too deeply.
absl::StatusOr<wsc::onnx::ModelProto> parseModel(std::string_view file);

} // namespace wsc::import
