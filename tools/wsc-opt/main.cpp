// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-opt: parses, verifies, transforms and prints the dialects of wsc as text.
#include "dialects/nn/Nn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, wsc::nn::NnDialect>();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "wsc: wafer-scale neural graph compiler\n", registry));
}
