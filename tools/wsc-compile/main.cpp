// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-compile: a model becomes a wafer executable. Options in, the driver does the work, the summary out.
#include "compiler/driver/Compiler.h"
#include "runtime/files/OutputFile.h"
#include "tools/support/CommandLine.h"
#include "tools/support/Progress.h"

#include "CLI/CLI.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <unistd.h>

namespace {

constexpr const char *kDescription =
    "Compiles a neural network for a wafer-scale mesh.\n\n"
    "Example: wsc-compile resnet50.onnx -o resnet50.wse\n"
    "         wsc-compile net.onnx --dim batch_size=1 --report net.html -o net.wse\n"
    "         wsc-compile graph.pb --input Reshape --output labels_softmax -o net.wse\n"
    "         wsc-compile net.onnx --compile-to placed -o net.mlir   (edit, then:)\n"
    "         wsc-compile net.mlir --compile-from placed -o net.wse";

// Empty, or why a text is no seed: unsigned options would take -1 for 2^64 - 1.
std::string checkSeed(const std::string &text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  return error == std::errc() && end == text.data() + text.size() ? "" : text + " is not a number from 0 to 2^64 - 1";
}

// NAME:1,3,224,224 as NAME:1x3x224x224, which the importer takes.
std::string withPlainShape(std::string input) {
  const size_t colon = input.rfind(':');
  if (colon != std::string::npos && input.find_first_not_of("0123456789,x", colon + 1) == std::string::npos)
    std::replace(input.begin() + std::ptrdiff_t(colon), input.end(), ',', 'x');
  return input;
}

// Before the work whose results could not be written.
absl::Status checkFiles(const wsc::driver::CompileOptions &options, const std::string &report) {
  if (auto status = report.empty() ? absl::OkStatus() : wsc::report::checkPath(report); !status.ok())
    return status;
  if (!report.empty() && wsc::files::writesThrough(options.output))
    return absl::InvalidArgumentError("--report is drawn from the executable, which cannot be read again from -o " +
                                      options.output + "; name a file");
  const wsc::files::Output outputs[] = {{"-o", options.output},
                                        {"--report", report},
                                        {"--dump-phases", options.dumpDir, true},
                                        {"--dump-problems", options.problemsDir, true}};
  const std::string inputs[] = {options.model, options.target, options.defects, options.pins};
  return wsc::files::checkOutputs(outputs, inputs);
}

// Why an option that was given would have no effect; empty: all have one.
std::string findUnused(const CLI::App &app, const wsc::driver::CompileOptions &options) {
  const auto given = [&](const char *name) { return app.count(name) > 0; };
  const bool text = options.model.ends_with(".mlir");
  for (const char *name :
       {"--dim", "--bind", "--input", "--output", "--signature", "--keep-variables", "--tensorflow-js"})
    if (text && given(name))
      return std::string(name) + " is for models that are imported; " + options.model + " is IR already";
  if (!text && given("--compile-from"))
    return "--compile-from is for .mlir models; " + options.model + " begins with its import";
  for (const char *name :
       {"-o", "--target", "--defects", "--report", "--compile-to", "--dump-phases", "--dump-problems", "--pins",
        "--effort", "--seed", "--precision", "--precision-samples", "--accumulate"})
    if (given("--validate-only") && given(name))
      return std::string(name) + " has no use beside --validate-only, which maps nothing";
  if (given("--report") && options.to != wsc::driver::Phase::Wse)
    return "--report tells of an executable; --compile-to " + wsc::driver::phaseName(options.to) +
           " stops before there is one";
  const bool phased = options.execution == wsc::driver::Execution::Phased || wsc::driver::isNarrow(options.precision);
  const bool measures = wsc::driver::isNarrow(options.precision) && options.precisionSamples > 0;
  for (const char *name : {"--pins", "--dump-problems", "--effort", "--seed"})
    if (given(name) && !(measures && name == std::string_view("--seed"))) {
      if (phased || options.to == wsc::driver::Phase::Nests)
        return std::string(name) + " is for strips; phased execution has no use for it";
      if (options.to < wsc::driver::Phase::Sized)
        return std::string(name) + " is for the mapping, before which --compile-to " +
               wsc::driver::phaseName(options.to) + " stops";
    }
  if (given("--precision-samples") && options.to != wsc::driver::Phase::Wse)
    return "--precision-samples run the executable; --compile-to " + wsc::driver::phaseName(options.to) +
           " stops before there is one";
  for (const std::string &tensor : options.outputs)
    if (tensor.ends_with(".wse") || tensor.ends_with(".mlir"))
      return "--output names a tensor of the model, not the file " + tensor + "; the file to write is given with -o";
  return "";
}

std::atomic<int> interruptedBy = 0;
struct sigaction actionsBefore[NSIG]; // of the signals that interrupt() takes

// The first signal ends the compilation where it leaves nothing behind, a second one at once.
void interrupt(int signal) {
  interruptedBy = signal;
  ::sigaction(signal, &actionsBefore[signal], nullptr);
}

// While it lives, signals end the compilation, except those that are ignored, as nohup asks.
class Interruptible {
public:
  Interruptible() {
    for (int signal : signals) {
      ::sigaction(signal, nullptr, &actionsBefore[signal]);
      if (actionsBefore[signal].sa_handler == SIG_IGN)
        continue;
      struct sigaction action{};
      action.sa_handler = interrupt;
      ::sigemptyset(&action.sa_mask);
      action.sa_flags = SA_RESTART;
      ::sigaction(signal, &action, nullptr);
    }
  }
  ~Interruptible() {
    for (int signal : signals)
      ::sigaction(signal, &actionsBefore[signal], nullptr);
  }

private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
};

std::string readPhases() {
  std::string names;
  for (std::string_view name : wsc::driver::kPhaseNames)
    names += (names.empty() ? "" : " ") + std::string(name);
  return names;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app(kDescription, "wsc-compile");
  wsc::driver::CompileOptions options;
  std::vector<std::string> dims, bindings;
  std::string to, from, report, execution = "auto", precision = "model", accumulate = "fp32", effort = "default";
  bool validateOnly = false, quiet = false, verbose = false;
  app.add_option("MODEL", options.model,
                 ".onnx model, TensorFlow .pb, .pbtxt, .meta or SavedModel folder, or .mlir at any phase")
      ->required();
  app.add_option("-o", options.output, "file to write");
  app.add_option(
      "--target", options.target,
      "wse1, wse2, wse3, mesh-RxC or a description file (default: as the IR of a .mlir model records, else wse2)");
  app.add_option("--defects", options.defects, "JSON file with the dead_cores and dead_links of this wafer");
  app.add_option(
      "--pins", options.pins,
      "JSON file of what the mapping keeps to: kernels' columns and places, columns where streams' lanes turn");
  app.add_option("--execution", execution,
                 "pipelined (all layers side by side), phased (one after another) or auto: pipelined where every\n"
                 "layer has that form and all fit, else phased")
      ->check(CLI::IsMember(wsc::tools::choices(wsc::driver::kExecutionNames)))
      ->capture_default_str();
  app.add_option(
         "--precision", precision,
         "model: as the model says; fp32: refuse a model that computes in another float type; fp16, bf16: store\n"
         "what it computes in f32 in 16 bits; mixed: only the factors of multiply-adds, as fp16. The last three\n"
         "take phased execution, keep the types of inputs and outputs, and report the error against fp32")
      ->check(CLI::IsMember(wsc::tools::choices(wsc::driver::kPrecisionNames)))
      ->capture_default_str();
  app.add_option("--accumulate", accumulate,
                 "type in which those products are summed: fp32, or the 16-bit type of their operands (fp16, bf16)")
      ->check(CLI::IsMember({"fp32", "fp16", "bf16"}))
      ->capture_default_str();
  app.add_option(
         "--precision-samples", options.precisionSamples,
         "seeded samples (--seed) that measure this error on the emulator, 0: none; fp32 is compiled for it too")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  app.add_option("--dim", dims, "NAME=VALUE: fix a symbolic dimension (repeatable)");
  app.add_option(
      "--input", options.inputs,
      "NAME[:SHAPE]: shape of an input (1x3x224x224 or 1,3,224,224), or cut the graph at a tensor (repeatable)");
  app.add_option("--bind", bindings,
                 "NAME=VALUE: fix the value of an input, its elements with commas in between (repeatable)");
  app.add_option("--output", options.outputs, "NAME: cut the graph at an output tensor (repeatable)");
  app.add_option("--signature", options.signature, "KEY: of a SavedModel (default: serving_default, or the only one)");
  app.add_flag("--keep-variables", options.keepVariables,
               "TensorFlow variables stay states, also where nothing writes them");
  app.add_flag("--tensorflow-js", options.likeTensorFlowJs,
               "operators as TensorFlow.js computes them where it leaves TensorFlow's definition (docs/TensorFlow.md)");
  app.add_option("--effort", effort,
                 "how much to look for better mappings: fast (the first one), default (others where the first can be\n"
                 "quicker) or high (many others, also for shorter wires; a minute or more for large networks)")
      ->check(CLI::IsMember({"fast", "default", "high"}))
      ->capture_default_str();
  app.add_option("--seed", options.search.seed, "of that search; the same seed and effort give the same file")
      ->check(CLI::Validator(checkSeed, "", "seed"))
      ->capture_default_str();
  app.add_option("--threads", options.search.threads, "host threads, 0: all; results do not depend on them")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_flag("--validate-only", validateOnly, "list every unsupported operator; no mapping");
  app.add_option("--compile-to", to, "stop after a phase: " + readPhases());
  app.add_option("--compile-from", from, "phase of a .mlir model (default: found from its operations)");
  app.add_option("--dump-phases", options.dumpDir, "folder for the IR after each phase");
  app.add_option(
      "--dump-problems", options.problemsDir,
      "folder for the problems that mapping puts to the solvers, as text, and what it chose (see wsc-place)");
  app.add_option("--report", report,
                 "what was made of the model and what bounds it: FILE.txt, .json or .html (a page to look at)");
  app.add_flag("--quiet", quiet, "print nothing but errors");
  app.add_flag("-v", verbose, "print the phases' times too");
  wsc::tools::setUp(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (const std::string &dim : dims) {
    size_t equal = dim.find('=');
    char *end = nullptr;
    long long value = equal == std::string::npos ? 0 : std::strtoll(dim.c_str() + equal + 1, &end, 10);
    if (equal == std::string::npos || equal == 0 || !end || *end || value < 1)
      return wsc::tools::failUsage("--dim takes NAME=VALUE with a positive value, got " + dim);
    options.dims[dim.substr(0, equal)] = value;
  }
  for (const std::string &binding : bindings) {
    size_t equal = binding.find('=');
    if (equal == std::string::npos || equal == 0)
      return wsc::tools::failUsage("--bind takes NAME=VALUE, got " + binding);
    options.bindings[binding.substr(0, equal)] = binding.substr(equal + 1);
  }
  for (auto [text, phase] : {std::pair(&to, 0), std::pair(&from, 1)}) {
    if (text->empty())
      continue;
    auto found = wsc::driver::findPhase(*text);
    if (!found)
      return wsc::tools::failUsage("unknown phase " + *text + "; phases: " + readPhases());
    if (phase == 0)
      options.to = *found;
    else
      options.from = found;
  }
  options.precision = *wsc::driver::findPrecision(precision);
  const bool narrow = wsc::driver::isNarrow(options.precision);
  for (const char *name : {"--accumulate", "--precision-samples"})
    if (!narrow && app.count(name) > 0)
      return wsc::tools::failUsage(std::string(name) + " is for --precision fp16, bf16 and mixed");
  if (narrow && accumulate != "fp32" && accumulate != wsc::driver::narrowName(options.precision))
    return wsc::tools::failUsage("--accumulate " + accumulate + " does not go with --precision " + precision +
                                 "; sums are fp32, or of their operands' type " +
                                 wsc::driver::narrowName(options.precision));
  options.narrowSums = accumulate != "fp32";
  options.execution = wsc::driver::findExecution(execution).value_or(wsc::driver::Execution::Auto);
  if (const std::string unused = findUnused(app, options); !unused.empty())
    return wsc::tools::failUsage(unused);
  for (std::string &input : options.inputs)
    input = withPlainShape(input);
  options.search.effort = *wsc::kernels::findEffort(effort);
  if (validateOnly) {
    auto lines = wsc::driver::validate(options);
    if (!lines.ok())
      return wsc::tools::fail(std::string(lines.status().message()));
    if (lines->empty()) {
      if (!quiet)
        std::printf("%s: every operator is supported\n", options.model.c_str());
      return 0;
    }
    std::string all = "unsupported:";
    for (const std::string &line : *lines)
      all += "\n" + line;
    return wsc::tools::fail(options.model + ": " + all);
  }
  if (quiet && verbose)
    return wsc::tools::failUsage("--quiet excludes -v");
  if (options.output.empty())
    return wsc::tools::failUsage("name the file to write with -o");
  if (auto status = checkFiles(options, report); !status.ok())
    return wsc::tools::fail(std::string(status.message()));
  if (verbose)
    options.hooks.log = [](std::string_view line) { std::fprintf(stderr, "%.*s\n", int(line.size()), line.data()); };
  options.hooks.cancelled = [] { return interruptedBy != 0; };
  auto result = [&] {
    const Interruptible interruptible;
    wsc::tools::Progress progress("compiling " + options.model, quiet);
    options.hooks.progress = [&](const wsc::driver::Progress &step) {
      progress.set(
          "compiling " + options.model + ", phase " + wsc::driver::phaseName(step.phase) +
          (step.total > 0 ? " (" + std::to_string(step.done + 1) + " of " + std::to_string(step.total) + ")" : ""));
    };
    return wsc::driver::compile(options);
  }();
  if (absl::IsCancelled(result.status()))
    return wsc::tools::fail("interrupted by signal " + std::to_string(interruptedBy) + "; nothing is written to " +
                            options.output);
  if (!result.ok())
    return wsc::tools::fail(std::string(result.status().message()));
  if (!report.empty())
    if (auto status = wsc::driver::writeReport(*result, report); !status.ok())
      return wsc::tools::fail(std::string(status.message()));
  // Standard output is the executable's where -o leads there.
  std::FILE *const text = wsc::files::isStandardOutput(options.output) ? stderr : stdout;
  if (!quiet && options.to == wsc::driver::Phase::Wse)
    std::fputs(wsc::driver::printSummary(*result).c_str(), text);
  if (verbose)
    for (const auto &phase : result->phases)
      std::fprintf(text, "%-8s %8.4f s  %6lld MiB\n", wsc::driver::phaseName(phase.phase).c_str(), phase.seconds,
                   (long long)(phase.peakRssBytes >> 20));
  return std::fflush(text) == 0 ? 0 : wsc::tools::fail("cannot write to standard output");
}
