// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-compile: a model becomes a wafer executable. Options in, the driver does the work, the summary out.
#include "compiler/driver/Compiler.h"
#include "runtime/format/Executable.h"

#include "CLI/CLI.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>

namespace {

constexpr const char *kDescription = "Compiles a neural network for a wafer-scale mesh.\n\n"
                                     "Example: wsc-compile resnet50.onnx -o resnet50.wse\n"
                                     "         wsc-compile net.onnx --dim batch_size=1 --report net.html -o net.wse\n"
                                     "         wsc-compile net.onnx --compile-to placed -o net.mlir   (edit, then:)\n"
                                     "         wsc-compile net.mlir --compile-from placed -o net.wse";

// One line saying what and where, then notes.
int fail(const std::string &message) {
  size_t line = message.find('\n');
  std::fprintf(stderr, "error: %s\n", message.substr(0, line).c_str());
  for (size_t begin = line; begin != std::string::npos && begin + 1 < message.size();) {
    size_t end = message.find('\n', begin + 1);
    std::fprintf(stderr, "note: %s\n", message.substr(begin + 1, end == std::string::npos ? end : end - begin - 1).c_str());
    begin = end;
  }
  return 1;
}

// Empty, or why a text is no seed: unsigned options would take -1 for 2^64 - 1.
std::string checkSeed(const std::string &text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  return error == std::errc() && end == text.data() + text.size() ? "" : text + " is not a number from 0 to 2^64 - 1";
}

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
  std::string to, from, report, execution = "auto", precision = "model", effort = "default";
  bool validateOnly = false, quiet = false, verbose = false;
  app.set_version_flag("--version", "wsc " WSC_VERSION ", MLIR " WSC_MLIR_VERSION ", format " +
                                        std::to_string(wsc::format::kFormatVersion));
  app.add_option("MODEL", options.model, ".onnx model, or .mlir at any phase")->required();
  app.add_option("-o", options.output, "file to write");
  app.add_option("--target", options.target, "wse1, wse2, wse3, mesh-RxC or a description file")->capture_default_str();
  app.add_option("--defects", options.defects, "JSON file with the dead_cores and dead_links of this wafer");
  app.add_option("--pins", options.pins, "JSON file of what the mapping keeps to: kernels' columns and places, columns where streams' lanes turn");
  app.add_option("--execution", execution, "pipelined (all layers side by side), phased (one after another) or auto: pipelined where every\n"
                                              "layer has that form and all fit, else phased")->check(CLI::IsMember({"auto", "pipelined", "phased"}))->capture_default_str();
  app.add_option("--precision", precision, "model or fp32")->check(CLI::IsMember({"model", "fp32"}))->capture_default_str();
  app.add_option("--dim", dims, "NAME=VALUE: fix a symbolic dimension (repeatable)");
  app.add_option("--input", options.inputs, "NAME[:SHAPE]: shape of an input, or cut the graph at a tensor (repeatable)");
  app.add_option("--bind", bindings, "NAME=VALUE: fix the value of an input, its elements with commas in between (repeatable)");
  app.add_option("--output", options.outputs, "NAME: cut the graph at an output tensor (repeatable)");
  app.add_option("--effort", effort, "how much to look for better mappings: fast (the first one), default (others where the first can be\n"
                                     "quicker) or high (many others, also for shorter wires; a minute or more for large networks)")
      ->check(CLI::IsMember({"fast", "default", "high"}))
      ->capture_default_str();
  app.add_option("--seed", options.search.seed, "of that search; the same seed and effort give the same file")->check(CLI::Validator(checkSeed, "", "seed"))->capture_default_str();
  app.add_option("--threads", options.search.threads, "host threads, 0: all; results do not depend on them")->check(CLI::Range(0, 1024))->capture_default_str();
  app.add_flag("--validate-only", validateOnly, "list every unsupported operator; no mapping");
  app.add_option("--compile-to", to, "stop after a phase: " + readPhases());
  app.add_option("--compile-from", from, "phase of a .mlir model (default: found from its operations)");
  app.add_option("--dump-phases", options.dumpDir, "folder for the IR after each phase");
  app.add_option("--dump-problems", options.problemsDir, "folder for the problems that mapping puts to the solvers, as text, and what it chose (see wsc-place)");
  app.add_option("--report", report, "what was made of the model and what bounds it: FILE.txt, .json or .html (a page to look at)");
  app.add_flag("--quiet", quiet, "print nothing but errors");
  app.add_flag("-v", verbose, "print the phases' times too");
  app.failure_message([](const CLI::App *, const CLI::Error &error) {
    return std::string("error: ") + error.what() + "\nnote: wsc-compile --help lists the options\n";
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  auto usage = [](const std::string &message) {
    std::fprintf(stderr, "error: %s\n", message.c_str());
    return 2;
  };
  for (const std::string &dim : dims) {
    size_t equal = dim.find('=');
    char *end = nullptr;
    long long value = equal == std::string::npos ? 0 : std::strtoll(dim.c_str() + equal + 1, &end, 10);
    if (equal == std::string::npos || equal == 0 || !end || *end || value < 1)
      return usage("--dim takes NAME=VALUE with a positive value, got " + dim);
    options.dims[dim.substr(0, equal)] = value;
  }
  for (const std::string &binding : bindings) {
    size_t equal = binding.find('=');
    if (equal == std::string::npos || equal == 0)
      return usage("--bind takes NAME=VALUE, got " + binding);
    options.bindings[binding.substr(0, equal)] = binding.substr(equal + 1);
  }
  for (auto [text, phase] : {std::pair(&to, 0), std::pair(&from, 1)}) {
    if (text->empty())
      continue;
    auto found = wsc::driver::findPhase(*text);
    if (!found)
      return usage("unknown phase " + *text + "; phases: " + readPhases());
    if (phase == 0)
      options.to = *found;
    else
      options.from = found;
  }
  options.execution = execution == "phased"      ? wsc::driver::Execution::Phased
                      : execution == "pipelined" ? wsc::driver::Execution::Pipelined
                                                 : wsc::driver::Execution::Auto;
  options.search.effort = *wsc::kernels::findEffort(effort);
  if (validateOnly) {
    auto lines = wsc::driver::validate(options);
    if (!lines.ok())
      return fail(std::string(lines.status().message()));
    if (lines->empty()) {
      if (!quiet)
        std::printf("%s: every operator is supported\n", options.model.c_str());
      return 0;
    }
    std::string all = "unsupported:";
    for (const std::string &line : *lines)
      all += "\n" + line;
    return fail(options.model + ": " + all);
  }
  if (options.output.empty())
    return usage("name the file to write with -o");
  if (!report.empty()) {
    if (options.to != wsc::driver::Phase::Wse)
      return usage("--report tells of an executable; --compile-to " + to + " stops before there is one");
    if (auto status = wsc::report::checkPath(report); !status.ok())
      return fail(std::string(status.message()));
  }
  auto result = wsc::driver::compile(options);
  if (!result.ok())
    return fail(std::string(result.status().message()));
  if (!report.empty())
    if (auto status = wsc::driver::writeReport(*result, report); !status.ok())
      return fail(std::string(status.message()));
  if (!quiet && options.to == wsc::driver::Phase::Wse)
    std::fputs(wsc::driver::printSummary(*result).c_str(), stdout);
  if (verbose)
    for (const auto &phase : result->phases)
      std::printf("%-8s %8.4f s  %6lld MiB\n", wsc::driver::phaseName(phase.phase).c_str(), phase.seconds,
                  (long long)(phase.peakRssBytes >> 20));
  return 0;
}
