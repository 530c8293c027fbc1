// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of wsc-test: options, one case in a process of its own, all cases and their report.
#pragma once

#include "tools/support/Cases.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wsc::test_tool {

struct Options {
  std::vector<std::string> folders;
  std::string target = "wse2", engine = "core", execution = "auto", precision = "model", filter, list, json;
  std::map<std::string, int64_t> dims;
  double rtol = 1e-3, atol = 1e-7;
  double l2 = -1;     // most relative L2 error of an output; negative: no limit
  double timeout = 0; // seconds per case; 0: none
  int jobs = 1, threads = 0;
  bool quiet = false, verbose = false;
};

// Fills `options`; returns -1 to go on, else the exit status (help and version are printed, errors too).
int parseOptions(int argc, char **argv, Options &options);

// All cases: lines, closing line, JSON. Returns the exit status.
int runCases(const Options &options);

// The hidden mode `wsc-test --one-case REQUEST` a case runs in. Lines on standard output: "stage NAME" as it goes on,
// and at the end the outcome as one JSON object.
constexpr const char *kOneCase = "--one-case";
std::string requestFor(const tools::Case &test, const Options &options, const std::string &executable);
int runOneCase(const std::string &request);

} // namespace wsc::test_tool
