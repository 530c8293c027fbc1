// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One way of compiling a module: phase after phase, with dumps, progress and cancellation, to what was asked for.
#pragma once

#include "compiler/driver/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace wsc::driver {

absl::Status cancelled();
bool isCancelled(const CompileOptions &options);

// Takes the module from phase `at` to `options.to`: in phases or as strips. `options.target` describes `target`. Errors
// carry the diagnostics of the phase that failed.
absl::StatusOr<CompileReport> runPhases(const CompileOptions &options, const target::Target &target,
                                        mlir::MLIRContext &context, bool phased,
                                        mlir::OwningOpRef<mlir::ModuleOp> module, Phase at);

} // namespace wsc::driver
