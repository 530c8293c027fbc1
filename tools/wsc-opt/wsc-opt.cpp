// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-opt: reads textual IR of any phase, runs passes, verifies, prints. MLIR's own driver with wsc's dialects and
// passes.
#include "compiler/driver/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  wsc::driver::registerDialects(registry);
  wsc::driver::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "wsc-opt: run passes on wsc's IR\n\nExample: wsc-opt --canonicalize reduce.mlir -o reduced.mlir\n",
      registry));
}
