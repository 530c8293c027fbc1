// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Import of ONNX models into the nn dialect. The model file is mapped; weights stay in it as #nn.weights. The module
// returned holds one func.func @main whose arguments and results carry their ONNX names as nn.name.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/common/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace wsc::import {

/// Imports the model at `path`. Every error names what is wrong, where and what would help; all unsupported operators
/// are listed in one (Unimplemented). Initializers that are also graph inputs are constants; `inputs` makes them
/// inputs.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(mlir::MLIRContext &context, const std::string &path,
                                                             const ImportOptions &options = {});

/// The operators of the model at `path` that importOnnx would refuse, in order of first use; empty if it knows all.
absl::StatusOr<std::vector<UnsupportedOperator>> listUnsupportedOperators(const std::string &path,
                                                                          const ImportOptions &options = {});

} // namespace wsc::import
