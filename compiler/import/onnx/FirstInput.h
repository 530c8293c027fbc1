// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types of an operator's first input that its decomposition would take and the standard does not.
#pragma once
#include "compiler/import/onnx/Registry.h"

namespace wsc::import {

/// InvalidArgument where the standard has no form of the operator for tensors of this type.
absl::Status checkFirstInput(const Operator &op, const Tensor &input);

} // namespace wsc::import
