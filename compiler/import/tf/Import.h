// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Import of TensorFlow models into the nn dialect: GraphDef as .pb or .pbtxt, SavedModel folders, meta graphs with a
// checkpoint. The files are mapped; weights stay in them as #nn.weights. The module returned holds one func.func @main
// whose arguments and results carry the names of tensors, or the keys of the signature, as nn.name.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/common/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace wsc::import {

/// Whether the file or folder is a TensorFlow model by its name: .pb, .pbtxt, .meta, or a folder.
bool isTensorFlow(const std::string &path);

/// Imports the model at `path`. Every error names what is wrong, where and what would help; all unsupported operators
/// are listed in one (Unimplemented).
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> importTensorFlow(mlir::MLIRContext &context, const std::string &path,
                                                                   const ImportOptions &options = {});

/// The operators of the model at `path` that importTensorFlow would refuse, in order of first use.
absl::StatusOr<std::vector<UnsupportedOperator>> listUnsupportedTensorFlowOperators(mlir::MLIRContext &context,
                                                                                    const std::string &path,
                                                                                    const ImportOptions &options = {});

} // namespace wsc::import
