// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Registration.h"

#include "dialects/core/CoreDialect.h"
#include "dialects/nn/Nn.h"
#include "dialects/wafer/Wafer.h"
#include "passes/wafer/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

namespace wsc::driver {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<core::CoreDialect, nn::NnDialect, wafer::WaferDialect, mlir::func::FuncDialect>();
}

void registerPasses() {
  mlir::registerTransformsPasses();
  wafer::registerWaferPasses();
}

} // namespace wsc::driver
