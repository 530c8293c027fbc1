// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of wsc-run. Options that exclude each other are refused, none is ignored.
#include "tools/wsc-run/Run.h"

#include "tools/support/CommandLine.h"

#include <CLI/CLI.hpp>

namespace wsc::run {

int parseOptions(int argc, char **argv, Options &options) {
  CLI::App app("Example:\n  wsc-run model.wse --input x=x.npy --output results\n\nExecutes a wafer executable on the "
               "emulator: results, wafer cycles, utilisation.",
               "wsc-run");
  app.add_option("MODEL", options.model, "the .wse file")->required();
  auto *input =
      app.add_option("--input", options.inputs,
                     "an input from a .npy, .npz or .pb file; FILE alone if there is one input, or for a .npz with all")
          ->type_name("NAME=FILE")
          ->take_all()
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto *random = app.add_option("--random", options.random, "seeded inputs: floats in [-1, 1), integers in 0..15")
                     ->type_name("SEED");
  auto *data =
      app.add_option("--data", options.data, "a data set (input_K.pb), or a folder with test_data_set_0, 1, ...")
          ->type_name("DIR");
  auto *output = app.add_option("-o,--output", options.output, "write results to a folder as .npy, or to one .npz")
                     ->type_name("DIR|FILE.npz");
  app.add_option("--engine", options.engine,
                 "how time is computed: core solves for trains of words, cycle runs word by word; values are the same")
      ->check(CLI::IsMember({"core", "cycle"}))
      ->capture_default_str();
  app.add_flag("--timing-only", options.timingOnly, "cycles without values");
  auto *noTiming = app.add_flag("--no-timing", options.noTiming, "values without cycles");
  app.add_option("--entry", options.entry, "entry point (default: the only one, or main)")->type_name("NAME");
  auto *stateIn = app.add_option("--state-in", options.stateIn, "state variables to begin with")->type_name("FILE.npz");
  auto *stateOut =
      app.add_option("--state-out", options.stateOut, "write the state variables at the end")->type_name("FILE.npz");
  auto *replay = app.add_option("--replay", options.replay,
                                "re-execute N random cores with the scalar interpreter and compare bit by bit")
                     ->check(CLI::Range(1, 1000000))
                     ->type_name("N");
  auto *samples = app.add_option("--samples", options.samples, "stream N samples (default 1, with --data all its sets)")
                      ->check(CLI::Range(1, 1000000))
                      ->type_name("N");
  app.add_option("--stats", options.stats, "counters as JSON")->type_name("FILE.json");
  app.add_option("--report", options.report, "what was emulated and what bounds it: a page to look at, JSON or text")
      ->type_name("FILE.{html,json,txt}");
  auto *trace = app.add_option("--trace", options.trace,
                               "timeline of --engine cycle for Perfetto: the first " + std::to_string(kMostTraceSpans) +
                                   " spans of threads, and kernels")
                    ->type_name("FILE");
  auto *verify = app.add_option("--verify", options.verify,
                                "compare with output_K.pb of a data set, or of test_data_set_K for sample K")
                     ->type_name("DIR");
  auto *rtol = app.add_option("--rtol", options.rtol, "relative tolerance of --verify")
                   ->check(CLI::NonNegativeNumber)
                   ->capture_default_str();
  auto *atol = app.add_option("--atol", options.atol, "absolute tolerance of --verify")
                   ->check(CLI::NonNegativeNumber)
                   ->capture_default_str();
  app.add_option("--threads", options.threads, "host threads (default: all); results never depend on it")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  app.add_flag("--quiet", options.quiet, "no summary, no progress");
  app.add_flag("-v,--verbose", options.verbose, "also a table of kernels");
  tools::setUp(app);
  input->excludes(random)->excludes(data);
  random->excludes(data);
  rtol->needs(verify);
  atol->needs(verify);
  try {
    app.parse(argc, argv);
    if (options.timingOnly)
      for (const CLI::Option *option : {input, random, data, output, stateIn, stateOut, replay, verify})
        if (option->count() > 0)
          throw CLI::ExcludesError("--timing-only", option->get_name());
    if (options.timingOnly && options.engine == "core" && samples->count() > 0)
      throw CLI::ValidationError("--samples", "is for values and for --engine cycle; the analytic time streams as many "
                                              "samples as it needs");
    if (options.noTiming && (options.timingOnly || options.engine == "cycle"))
      throw CLI::ExcludesError(noTiming->get_name(), options.timingOnly ? "--timing-only" : "--engine cycle");
    if (trace->count() > 0 && options.engine != "cycle")
      throw CLI::RequiresError("--trace", "--engine cycle");
    if (options.quiet && options.verbose)
      throw CLI::ExcludesError("--quiet", "--verbose");
    options.hasRandom = random->count() > 0;
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return -1;
}

} // namespace wsc::run
