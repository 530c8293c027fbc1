// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IR that stands for itself: where weights stay in files (`#nn.weights`, `#core.file`), their text holds a hash of the
// bytes, and paths mean the same wherever the IR is read from.
#pragma once

#include "absl/status/status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace wsc::emit {

// Notes the hashes of all weights that have none. Errors: a file that cannot be read, or is too short.
absl::Status hashWeights(mlir::ModuleOp module);

// Compares the hashes that are noted with the files. Errors: as above; other bytes than those the IR was written for.
absl::Status checkWeights(mlir::ModuleOp module);

// Paths as IR in `folder` names them: relative where the file lies in that folder or below it, else absolute.
void namePathsFrom(mlir::ModuleOp module, const std::string &folder);

// The inverse: paths become absolute, relative ones being meant from `folder`.
void resolvePaths(mlir::ModuleOp module, const std::string &folder);

} // namespace wsc::emit
