// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses an ONNX model without copying its weights: raw_data, and packed float_data and double_data, whose bytes are
// the same, stay in the file (common/WireScan.h).
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/onnx/onnx.pb.h"
#include <string_view>

namespace wsc::import {

/// The model in `file` with element bytes left there. Errors: not an ONNX model, truncated (with the byte position),
/// nested too deeply.
absl::StatusOr<wsc::onnx::ModelProto> parseModel(std::string_view file);

} // namespace wsc::import
