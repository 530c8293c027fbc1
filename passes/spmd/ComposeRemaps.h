// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites of wafer.remap.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace wsc::spmd {

/// Remaps of remaps become one, remaps that change nothing their operand.
void addRemapPatterns(mlir::RewritePatternSet &patterns);

} // namespace wsc::spmd
