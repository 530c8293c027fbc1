// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-bench: measures the compiler, the emulator and the solvers. Exit status: 0 done, 1 failed, 2 wrong usage.
#include "runtime/files/OutputFile.h"
#include "tools/support/Json.h"
#include "tools/wsc-bench/Bench.h"

#include <cstdio>
#include <cstring>

int main(int argc, char **argv) {
  using namespace wsc::bench;
  if (argc == 3 && std::strcmp(argv[1], kCompileOne) == 0)
    return compileOne(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], kEmulateOne) == 0)
    return emulateOne(argv[2]);
  Options options;
  if (const int status = parseOptions(argc, argv, options); status >= 0)
    return status;
  const wsc::files::Output outputs[] = {{"--json", options.json}, {"--keep", options.keep, true}};
  if (absl::Status status = wsc::files::checkOutputs(outputs, options.paths); !status.ok())
    return fail(status);
  Results results(options.quiet);
  absl::Status status = absl::OkStatus();
  for (const Suite &suite : suites())
    if (suite.name == options.suite)
      status = suite.run(options, results);
  if (!options.json.empty())
    if (absl::Status written = wsc::tools::writeJson(results.json(options.suite), options.json); !written.ok())
      status = written;
  if (!status.ok())
    return fail(status);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
