// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-reduce: makes IR that shows a fault smaller while a test script still finds the fault in it. MLIR's own reducer
// with wsc's dialects and passes.
//
//   wsc-reduce model.mlir -reduction-tree='traversal-mode=0 test=./is_interesting.sh' -o small.mlir
//   wsc-reduce model.mlir -opt-reduction-pass='opt-pass=canonicalize test=./is_interesting.sh' -o small.mlir
//
// The script gets a file and exits with 1 if the fault is in it, with 0 if not.
#include "compiler/driver/Registration.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  wsc::driver::registerDialects(registry);
  wsc::driver::registerPasses();
  mlir::registerReducerPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
