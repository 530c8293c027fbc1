// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a model to a module of IR, and the target that it is compiled for.
#pragma once

#include "compiler/driver/Compiler.h"
#include "compiler/driver/ModelFile.h"
#include "compiler/import/common/Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace wsc::driver {

// Holds the bytes of a model that comes as bytes and is to be imported; nothing for any other.
absl::Status holdContent(const CompileOptions &options, ModelFile &file);

// What the importers take of the options.
import::ImportOptions importOptionsOf(const CompileOptions &options);
// What importers open: the model's file, or the one that holds its bytes.
std::string importPath(const CompileOptions &options, const ModelFile &file);

// Imports or parses the model; `at` is the phase that it is at. `file` holds a model that comes as bytes.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> loadModel(mlir::MLIRContext &context, const CompileOptions &options,
                                                            const ModelFile &file, Phase &at);

// The target to compile for: the one asked for, else the one the IR records, else wse2. From sizing on the IR is made
// for one target, and another is refused.
absl::StatusOr<target::Target> chooseTarget(const CompileOptions &options, mlir::ModuleOp module, Phase at);
// How IR records a target: by its name where that needs no file, else whole.
std::string describeTarget(const target::Target &target);

} // namespace wsc::driver
