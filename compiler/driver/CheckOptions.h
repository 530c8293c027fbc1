// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether options go together, and with the model.
#pragma once

#include "compiler/driver/Compiler.h"

#include "mlir/IR/BuiltinOps.h"

namespace wsc::driver {

// Whether something is asked for that only strips have.
bool asksForStrips(const CompileOptions &options);

// Whether the model, which is at phase `at`, and the other options go with the precision that is asked for.
absl::Status checkPrecision(const CompileOptions &options, mlir::ModuleOp module, Phase at);

// Whether the phases behind `at` lead to the one that is asked for: strips and nests are two ways.
absl::Status checkWay(const CompileOptions &options, Phase at);

} // namespace wsc::driver
