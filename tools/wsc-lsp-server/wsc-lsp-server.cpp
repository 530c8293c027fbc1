// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-lsp-server: MLIR's language server with wsc's dialects. Editors show errors, definitions, uses and hovers in
// .mlir files of every phase; set it as the server of their MLIR mode (in VS Code: "mlir.server_path").
#include "compiler/driver/Registration.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  wsc::driver::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
