// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that a model defines for operators of its own, and the bodies they have for one call.
#pragma once
#include "compiler/import/onnx/onnx.pb.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wsc::import {

/// Opset versions by domain, "" for ONNX.
using Opsets = std::map<std::string, int64_t>;

/// Versions that a list of imports states, domains normalized.
Opsets opsetsOf(const google::protobuf::RepeatedPtrField<wsc::onnx::OperatorSetIdProto> &imports);

/// The model's function for a node's operator, or null.
const wsc::onnx::FunctionProto *findFunction(const wsc::onnx::ModelProto &model, const wsc::onnx::NodeProto &node);

/// The nodes of a function as one call has them: attributes that refer to the function's take the call's value or the
/// default, and are left out where there is none.
std::vector<wsc::onnx::NodeProto> bodyOf(const wsc::onnx::FunctionProto &function, const wsc::onnx::NodeProto &call);

} // namespace wsc::import
