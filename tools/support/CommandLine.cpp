// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/support/CommandLine.h"

#include "runtime/files/OutputFile.h"
#include "runtime/format/Disassembly.h"
#include "runtime/format/Executable.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <string_view>

namespace wsc::tools {

std::string versionText() {
  return "wsc " WSC_VERSION ", MLIR " WSC_MLIR_VERSION ", format " + std::to_string(format::kFormatVersion);
}

void setUp(CLI::App &app) {
  files::cleanUpOnSignals();
  app.set_version_flag("--version", versionText());
  app.failure_message([](const CLI::App *tool, const CLI::Error &error) {
    return "error: " + format::printable(error.what()) + "\nnote: " + tool->get_name() + " --help lists the options\n";
  });
}

bool answers(int argc, char **argv, const std::function<void()> &printHelp) {
  files::cleanUpOnSignals();
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h" || argument == "-help") {
      printHelp();
      return true;
    }
    if (argument == "--version") {
      std::printf("%s\n", versionText().c_str());
      return true;
    }
  }
  return false;
}

int fail(const std::string &message) {
  std::fflush(stdout);
  const char *kind = "error";
  for (size_t begin = 0; begin <= message.size();) {
    const size_t end = std::min(message.find('\n', begin), message.size());
    if (end > begin || begin == 0)
      std::fprintf(stderr, "%s: %s\n", kind, format::printable(message.substr(begin, end - begin)).c_str());
    kind = "note";
    begin = end + 1;
  }
  return 1;
}

int failUsage(const std::string &message) {
  fail(message);
  return 2;
}

} // namespace wsc::tools
