// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from nn to a routed wafer network; see Passes.td.
#pragma once

#include "compiler/kernels/network/Effort.h"
#include "dialects/nn/Nn.h"
#include "dialects/wafer/Wafer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "mlir/Pass/Pass.h"

namespace wsc::wafer {

#define GEN_PASS_DECL
#include "passes/wafer/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/wafer/Passes.h.inc"

/// wafer-size with mappings timed by an emulator, which passes know nothing of.
std::unique_ptr<mlir::Pass> createSizeKernels(SizeKernelsOptions options, kernels::MappingTimer timer,
                                              std::function<bool()> cancelled = {});

/// Makes inputs of the results of all layers that no kernel can hold, so that what is left shows what else has no form.
void cutUnknownLayers(mlir::func::FuncOp func);

} // namespace wsc::wafer
