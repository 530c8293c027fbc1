// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The step from routed wafer functions to core programs, and what a report says about them.
#pragma once

#include "compiler/driver/Compiler.h"
#include "compiler/emit/Module.h"
#include "runtime/target/Target.h"

#include "mlir/Support/LLVM.h"

namespace wsc::driver {

// Every function becomes an entry with its own configuration. An error without a message has been reported as a
// diagnostic.
// `problemsDir`: where to write the problems that cores' memories pose, or empty.
absl::StatusOr<emit::CoreModule> generateCore(const target::Target &target, mlir::ModuleOp module,
                                              const std::string &problemsDir);

// Functions at phase `nests`: planned and generated as phases, on `options.search.threads` of the host's threads
// (0: all). Errors as above; Cancelled as the hook says.
absl::StatusOr<emit::CoreModule> generatePhased(const target::Target &target, mlir::ModuleOp module,
                                                const CompileOptions &options);

// Whether every kernel of a module at phase `kernels` has a form code generation knows; reports all that do not.
mlir::LogicalResult checkKernels(mlir::ModuleOp module);

// Takes over what sizing and placing noted about the functions: the bounds and the busiest link. Of several functions
// the worst counts.
void readPredictions(mlir::ModuleOp module, CompileReport &report);

void fillReport(const emit::CoreModule &module, CompileReport &report);

} // namespace wsc::driver
