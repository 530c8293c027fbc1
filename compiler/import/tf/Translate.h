// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translation of a loaded graph into a module with one function of nn operations.
#pragma once
#include "compiler/import/tf/Interface.h"
#include "compiler/import/tf/Load.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace wsc::import::tf {

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> translate(mlir::MLIRContext &context, LoadedModel &model,
                                                            const Body &body, const Interface &interface,
                                                            const ImportOptions &options);

} // namespace wsc::import::tf
