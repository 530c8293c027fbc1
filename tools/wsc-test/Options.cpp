// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of wsc-test.
#include "compiler/driver/Phases.h"
#include "compiler/driver/Precision.h"
#include "tools/support/CommandLine.h"
#include "tools/support/Json.h"
#include "tools/wsc-test/Test.h"

#include <CLI/CLI.hpp>

#include <regex>

namespace wsc::test_tool {

int parseOptions(int argc, char **argv, Options &options) {
  CLI::App app(
      "Example:\n  wsc-test models --jobs 2 --timeout 60 --json results.json\n\n"
      "Compiles, emulates and compares every backend-test folder (model.onnx or graph.pb, test_data_set_0, 1, ...) at "
      "and\n"
      "below each DIR. A line for each:\n  PASS|FAIL|SKIP NAME wafer|host|both MAX-ERROR L2-ERROR REASON\n"
      "A case runs in a process of its own: its crash or time-out is its failure. Open dimensions of a model that the\n"
      "shapes of its data determine are fixed, as REASON then says. SKIP: no model, or no data to compare with.",
      "wsc-test");
  std::vector<std::string> dims;
  app.add_option("DIR", options.folders, "folders to search")->required();
  app.add_option("--target", options.target, "wse1, wse2, wse3, mesh-RxC or a description file")->capture_default_str();
  app.add_option("--execution", options.execution, "auto, pipelined or phased, as wsc-compile takes it")
      ->check(CLI::IsMember(tools::choices(driver::kExecutionNames)))
      ->capture_default_str();
  app.add_option("--precision", options.precision, "model, fp32, fp16, bf16 or mixed, as wsc-compile takes it")
      ->check(CLI::IsMember(tools::choices(driver::kPrecisionNames)))
      ->capture_default_str();
  app.add_option("--engine", options.engine,
                 "cycle: also run each case on the cycle engine, which must come to its end")
      ->check(CLI::IsMember({"core", "cycle"}))
      ->capture_default_str();
  app.add_option("--rtol", options.rtol, "largest relative error of an element")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--atol", options.atol, "absolute error allowed beside it")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--l2", options.l2, "largest relative L2 error of an output (default: no limit)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--filter", options.filter, "only cases whose name holds a match of this regular expression")
      ->type_name("REGEX");
  app.add_option("--list", options.list, "only cases named in this file, one a line; '#' begins a comment")
      ->type_name("FILE");
  app.add_option("--json", options.json, "write results for programs")->type_name("FILE");
  app.add_option("--jobs", options.jobs, "cases run at the same time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--timeout", options.timeout, "seconds a case may take (default: no limit)")
      ->check(CLI::PositiveNumber)
      ->type_name("S");
  app.add_option("--threads", options.threads, "threads of each case's emulator (default: all, divided among the jobs)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--dim", dims, "fix a symbolic dimension in the models that have it (repeatable)")
      ->type_name("NAME=VALUE");
  auto *quiet = app.add_flag("--quiet", options.quiet, "print failed cases and the closing line only");
  app.add_flag("-v,--verbose", options.verbose, "also a line for each output")->excludes(quiet);
  tools::setUp(app);
  try {
    app.parse(argc, argv);
    auto values = tools::parseDims(dims);
    if (!values.ok())
      throw CLI::ValidationError("--dim", std::string(values.status().message()));
    options.dims = *std::move(values);
    try {
      std::regex(options.filter);
    } catch (const std::regex_error &error) {
      throw CLI::ValidationError("--filter", "'" + options.filter + "' is no regular expression: " + error.what());
    }
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return -1;
}

} // namespace wsc::test_tool
