// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of wsc-bench. Options a suite has no use for are refused.
#include "compiler/driver/Phases.h"
#include "tools/support/CommandLine.h"
#include "tools/support/Json.h"
#include "tools/wsc-bench/Bench.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <initializer_list>

namespace wsc::bench {

const std::vector<Suite> &suites() {
  static const std::vector<Suite> all{
      {"compile",
       "seconds and peak memory of each phase for models; size of the executable against that of the weights",
       runCompile},
      {"emulate",
       "wall time per sample, and emulated cycles against their bound, for models with data sets; beside\n"
       "             ONNX Runtime where ORT_NODE_ROOT names a folder whose node_modules holds onnxruntime-node",
       runEmulate},
      {"cycle",
       "active tile-cycles and word-hops per second and thread of the cycle engine, for workloads of its own or\n"
       "             for given .wse files",
       runCycle},
      {"map",
       "quality of the mapping of models: emulated interval against bounds, the prediction and a naive\n"
       "             mapping of equal columns for every kernel; cores with multiply-adds",
       runMap},
      {"agreement",
       "analytic latency and interval of models or .wse files beside the cycle engine's, over --samples; of phases\n"
       "             each part of the sum",
       runAgreement},
      {"calls",
       "what a run takes from C++, from C, and from Python (WSC_PYTHON, else python3, where it has NumPy and wsc), "
       "for\n"
       "             models or .wse files",
       runCalls},
      {"place", "value, bound and seconds of the solvers on text problems and .kgraph files (see wsc-place)", runPlace},
      {"validation", "published times of the real machines against ours, for a table of measurements (FILE.csv)",
       runValidation}};
  return all;
}

int parseOptions(int argc, char **argv, Options &options) {
  std::string description = "Example:\n  wsc-bench emulate models/resnet50 --json results.json\n\nMeasures. Suites:\n",
              names;
  for (const Suite &suite : suites()) {
    description +=
        "  " + std::string(suite.name) + std::string(11 - std::string(suite.name).size(), ' ') + suite.summary + "\n";
    names += (names.empty() ? "" : ", ") + std::string(suite.name);
  }
  CLI::App app(description, "wsc-bench");
  std::vector<std::string> dims;
  app.add_option("SUITE", options.suite, names)->required();
  app.add_option(
      "PATHS", options.paths,
      "models: .onnx files, or folders with model.onnx and test_data_set_0 at or below; place: problem files, or\n"
      "folders of them; cycle: .wse files, or nothing; agreement, calls: models or .wse files; validation: .csv files");
  app.add_option("--json", options.json, "write the results for programs")->type_name("FILE");
  auto *target =
      app.add_option(
             "--target", options.target,
             "compile, emulate, map, agreement, calls, cycle: wse1, wse2, wse3, mesh-RxC or a description file; "
             "cycle: of its own workloads, whose meshes it sizes")
          ->capture_default_str();
  auto *execution =
      app.add_option("--execution", options.execution,
                     "compile, emulate, agreement, calls: auto, pipelined or phased, as wsc-compile takes "
                     "it")
          ->check(CLI::IsMember(tools::choices(driver::kExecutionNames)))
          ->capture_default_str();
  auto *dim = app.add_option("--dim", dims,
                             "compile, emulate, map, agreement, calls: fix a symbolic dimension in the models that "
                             "have it (repeatable)")
                  ->type_name("NAME=VALUE");
  auto *samples =
      app.add_option(
             "--samples", options.samples,
             "emulate: samples timed, each with inputs of its own; cycle, agreement: samples on the cycle engine")
          ->check(CLI::Range(1, 100000))
          ->capture_default_str();
  auto *seed = app.add_option("--seed", options.seed, "emulate: of the samples' inputs; place: of the search")
                   ->capture_default_str();
  auto *threads = app.add_option("--threads", options.threads,
                                 "emulate, cycle: host threads compared with one; agreement, place: host threads")
                      ->check(CLI::Range(1, 1024))
                      ->capture_default_str();
  auto *seconds = app.add_option("--time", options.seconds, "place: seconds of wall clock at most, per .kgraph file")
                      ->check(CLI::Range(0.01, 1e6))
                      ->capture_default_str();
  auto *keep = app.add_option("--keep", options.keep, "validation: write each row's program to a folder, as NAME.wse")
                   ->type_name("DIR");
  auto *meshGemm = app.add_flag("--mesh-gemm", options.meshGemm,
                                "validation: also the efficiency of matrix products on 720 x 720 cores");
  app.add_flag("--quiet", options.quiet, "print nothing but errors");
  tools::setUp(app);
  try {
    app.parse(argc, argv);
    if (std::none_of(suites().begin(), suites().end(), [&](const Suite &suite) { return options.suite == suite.name; }))
      throw CLI::ValidationError("SUITE", "no suite " + options.suite + "; there are " + names);
    std::vector<CLI::Option *> unused;
    if (options.suite != "cycle" && options.paths.empty())
      throw CLI::RequiredError("PATHS");
    const auto is = [&](std::initializer_list<const char *> names) {
      return std::any_of(names.begin(), names.end(), [&](const char *name) { return options.suite == name; });
    };
    if (!is({"compile", "emulate", "map", "agreement", "calls"}))
      unused.push_back(dim);
    if (!is({"compile", "emulate", "agreement", "calls"}))
      unused.push_back(execution);
    if (!is({"compile", "emulate", "map", "agreement", "calls"}) && !(is({"cycle"}) && options.paths.empty()))
      unused.push_back(target);
    if (!is({"emulate", "agreement"}) && !(is({"cycle"}) && !options.paths.empty()))
      unused.push_back(samples);
    if (!is({"emulate", "place"}))
      unused.push_back(seed);
    if (!is({"emulate", "cycle", "agreement", "place"}))
      unused.push_back(threads);
    if (!is({"place"}))
      unused.push_back(seconds);
    if (!is({"validation"}))
      unused.insert(unused.end(), {keep, meshGemm});
    for (const CLI::Option *option : unused)
      if (option->count() > 0)
        throw CLI::ValidationError(option->get_name(), "suite " + options.suite + " has no use for it");
    if (!options.paths.empty() && std::all_of(options.paths.begin(), options.paths.end(),
                                              [](const std::string &path) { return path.ends_with(".wse"); }))
      for (const CLI::Option *option : {target, execution, dim})
        if (option->count() > 0)
          throw CLI::ValidationError(option->get_name(), "is for models; a .wse is compiled already");
    auto values = tools::parseDims(dims);
    if (!values.ok())
      throw CLI::ValidationError("--dim", std::string(values.status().message()));
    options.dims = *std::move(values);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return -1;
}

} // namespace wsc::bench
