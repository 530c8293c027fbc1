// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wsc-run: executes a .wse on the emulator. Exit status: 0 done, 1 failed, 2 wrong usage.
#include "tools/wsc-run/Run.h"

int main(int argc, char **argv) {
  wsc::run::Options options;
  if (const int status = wsc::run::parseOptions(argc, argv, options); status >= 0)
    return status;
  return wsc::run::runTool(options);
}
