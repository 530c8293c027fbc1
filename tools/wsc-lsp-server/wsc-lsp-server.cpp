// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-lsp-server: MLIR's language server with wsc's dialects.
#include "compiler/driver/Registration.h"
#include "tools/support/CommandLine.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include <cstdio>

namespace {

constexpr const char *kHelp =
    "Example:\n"
    "  \"mlir.server_path\": \"wsc-lsp-server\"      (settings of VS Code's MLIR extension)\n\n"
    "Shows errors, definitions, uses and hovers in .mlir files of every phase to editors, which start it and speak\n"
    "the Language Server Protocol with it over standard input and output.\n\n"
    "Usage: wsc-lsp-server [OPTIONS]\n\n"
    "Options:\n"
    "  --log=error|info|verbose   what it writes to standard error (default: info)\n"
    "  --pretty                   JSON with line breaks\n"
    "  --version                  versions\n"
    "  --help-list                all options, those of LLVM included\n";

} // namespace

int main(int argc, char **argv) {
  if (wsc::tools::answers(argc, argv, [] { std::fputs(kHelp, stdout); }))
    return 0;
  mlir::DialectRegistry registry;
  wsc::driver::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
