// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-translate: assembles core IR into a .wse and disassembles a .wse into core IR.
#include "compiler/emit/Translate.h"
#include "runtime/files/OutputFile.h"
#include "tools/support/CommandLine.h"
#include "tools/support/Progress.h"

#include <CLI/CLI.hpp>

#include <string>

int main(int argc, char **argv) {
  CLI::App app("Example:\n"
               "  wsc-translate --core-to-wse reduce.mlir -o reduce.wse\n"
               "  wsc-translate --wse-to-core reduce.wse -o reduce.mlir\n\n"
               "wsc-translate assembles core IR into a wafer executable and disassembles it again.",
               "wsc-translate");
  wsc::tools::setUp(app);
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
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!core.empty() && output == "-")
    return wsc::tools::failUsage("a .wse is not written to standard output; give -o a file");
  const wsc::files::Output outputs[] = {{"-o", output == "-" ? "" : output}};
  const std::string inputs[] = {core == "-" ? "" : core, wse};
  absl::Status status = wsc::files::checkOutputs(outputs, inputs);
  if (status.ok()) {
    const wsc::tools::Progress progress("translating " + (core.empty() ? wse : core), false);
    status = core.empty() ? wsc::emit::translateWseToCore(wse, output) : wsc::emit::translateCoreToWse(core, output);
  }
  return status.ok() ? 0 : wsc::tools::fail(std::string(status.message()));
}
