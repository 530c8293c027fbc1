// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compilation with f32 tensors in 16 bits, and the error that this brings.
#pragma once

#include "compiler/driver/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace wsc::driver {

// In phases, in the narrow precision that the options ask for. The report holds the error against the module in f32.
absl::StatusOr<CompileReport> compileNarrow(const CompileOptions &options, const target::Target &target,
                                            mlir::MLIRContext &context, mlir::OwningOpRef<mlir::ModuleOp> module,
                                            Phase at);

} // namespace wsc::driver
