// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Registration.h"

#include "dialects/core/CoreDialect.h"
#include "dialects/nn/Nn.h"
#include "dialects/wafer/Wafer.h"
#include "passes/spmd/NestLowering.h"
#include "passes/spmd/Passes.h"
#include "passes/wafer/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"

namespace wsc::driver {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<core::CoreDialect, nn::NnDialect, wafer::WaferDialect, mlir::func::FuncDialect>();
  registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::tensor::TensorDialect>();
  spmd::registerNestLowerings(registry);
}

void registerPasses() {
  mlir::registerTransformsPasses();
  wafer::registerWaferPasses();
  spmd::registerSpmdPasses();
}

} // namespace wsc::driver
