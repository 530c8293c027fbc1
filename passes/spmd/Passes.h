// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from nn to a network of nests; see Passes.td.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace wsc::spmd {

#define GEN_PASS_DECL
#include "passes/spmd/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/spmd/Passes.h.inc"

} // namespace wsc::spmd
