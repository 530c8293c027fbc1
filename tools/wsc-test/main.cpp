// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-test: compiles, emulates and compares every backend-test folder below some folders. Exit status: 0 no case
// failed, 1 some did, 2 wrong usage.
#include "tools/wsc-test/Test.h"

#include <cstring>

int main(int argc, char **argv) {
  if (argc == 3 && std::strcmp(argv[1], wsc::test_tool::kOneCase) == 0)
    return wsc::test_tool::runOneCase(argv[2]);
  wsc::test_tool::Options options;
  if (const int status = wsc::test_tool::parseOptions(argc, argv, options); status >= 0)
    return status;
  return wsc::test_tool::runCases(options);
}
