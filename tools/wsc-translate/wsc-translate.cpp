// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-translate: assembles core IR into a .wse and disassembles a .wse into core IR.
#include "compiler/emit/Translate.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <string>

int main(int argc, char **argv) {
  CLI::App app("Example:\n"
               "  wsc-translate --core-to-wse reduce.mlir -o reduce.wse\n"
               "  wsc-translate --wse-to-core reduce.wse -o reduce.mlir\n\n"
               "wsc-translate assembles core IR into a wafer executable and disassembles it again.");
  std::string core, wse, output;
  auto *direction = app.add_option_group("Direction");
  direction->add_option("--core-to-wse", core, "core IR text to assemble; - is standard input")->type_name("FILE");
  direction->add_option("--wse-to-core", wse, "wafer executable to disassemble")->type_name("FILE");
  direction->require_option(1);
  app.add_option("-o,--output", output, "file to write; - is standard output (text only)")
      ->type_name("FILE")
      ->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  if (!core.empty() && output == "-") {
    std::cerr << "error: a .wse is not written to standard output; give -o a file\n";
    return 1;
  }
  absl::Status status =
      core.empty() ? wsc::emit::translateWseToCore(wse, output) : wsc::emit::translateCoreToWse(core, output);
  if (!status.ok()) {
    std::cerr << std::string(status.message()) << "\n";
    return 1;
  }
  return 0;
}
