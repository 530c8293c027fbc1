// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How every tool speaks: `--version`, messages that begin with "error: " and go on with "note: ", exit status 0 done,
// 1 failed, 2 wrong usage. No MLIR: tools of the runtime use it too.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace wsc::tools {

// Project, MLIR and file format, as --version prints them.
std::string versionText();

// Adds --version, and messages of wrong usage that name the tool's --help; temporary files are removed when a signal
// ends the process.
void setUp(CLI::App &app);

// The names that an option takes, as CLI::IsMember wants them.
inline std::vector<std::string> choices(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

// setUp() for a tool whose options LLVM parses: answers --help, with what `printHelp` prints, and --version. Whether
// either is asked for, so that the tool is done.
bool answers(int argc, char **argv, const std::function<void()> &printHelp);

// Prints a message to standard error, its first line as the error, the others as notes, without characters that would
// drive a terminal. Returns 1.
int fail(const std::string &message);

// The same, returning 2.
int failUsage(const std::string &message);

} // namespace wsc::tools
