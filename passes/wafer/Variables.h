// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State variables of a module between IR and plan: nn.variable, and the wafer.state attribute that says where each
// lies.
#pragma once

#include "compiler/kernels/network/Spec.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <optional>
#include <vector>

namespace wsc::wafer {

// All variables, in the module's order; places as far as they are given. Fails with a diagnostic on types or initial
// values without a form.
mlir::FailureOr<std::vector<kernels::VariablePlan>> readVariables(mlir::ModuleOp module);

// Sets wafer.state on all variables.
void writeVariables(mlir::ModuleOp module, const std::vector<kernels::VariablePlan> &variables);

// Elements of a tensor of this type from channel to channel, row to row and column to column of its plane; nothing if
// it has no plane.
std::optional<std::array<int64_t, 3>> planeStrides(mlir::Type type);

} // namespace wsc::wafer
