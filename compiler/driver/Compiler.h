// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's public C++ API: a model in, an executable (or the IR of any phase) out.
//
//   wsc::driver::CompileOptions options;
//   options.model = "net.onnx";
//   auto net = wsc::driver::compileToExecutable(options);  // in memory; or compile() with options.output = "net.wse"
//   if (!net.ok()) …                                       // net.status().message(): what, where and the way out
//   auto session = wsc::Session::open(net->executable);
//
// Compilations may run side by side on several threads.
#pragma once

#include "compiler/driver/Phases.h"
#include "compiler/driver/Precision.h"
#include "compiler/kernels/network/Effort.h"
#include "runtime/report/Report.h"
#include "runtime/session/Session.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wsc::driver {

// A phase that begins. Where strips do not serve (Execution::Auto), the phases behind nn begin once more.
struct Progress {
  Phase phase = Phase::Import;
  int done = 0, total = 0; // phases before it, and all
};

// What a compilation tells and asks while it runs, from threads of its own too; one call at a time. None may throw.
struct CompileHooks {
  std::function<void(const Progress &)> progress;
  std::function<void(std::string_view)> log; // warnings and remarks, each a line or more
  // Asked between phases, between steps of the search, between plans and programs and before each section of weights;
  // from the first true on, the compilation ends with Cancelled and leaves no file.
  std::function<bool()> cancelled;
};

struct CompileOptions {
  std::string model; // .onnx, a TensorFlow graph or SavedModel, or .mlir at the phase `from`
  // The model's bytes, in place of the file `model`, whose name then says what they are and stands in messages. They
  // must live until the compilation ends. External tensors cannot be found from here; IR that is written names weights
  // in a file that is gone.
  std::optional<std::string_view> content = {};
  std::string output;                          // see runtime/files
  std::string target;                          // name or description file; empty: as the IR records, else wse2
  std::string defects;                         // JSON file of dead cores and links, or empty
  std::string pins;                            // JSON file of wanted rectangles and routes (pass wafer-pin), or empty
  std::map<std::string, int64_t> dims;         // symbolic dimensions
  std::vector<std::string> inputs, outputs;    // cuts, as the importer takes them
  std::map<std::string, std::string> bindings; // inputs that become constants: elements with commas in between
  std::string signature;                       // of a SavedModel; empty: serving_default, or the only one
  bool keepVariables = false;                  // TensorFlow variables stay states although nothing writes them
  bool likeTensorFlowJs = false;               // TensorFlow operators as TensorFlow.js computes them
  Phase to = Phase::Wse;
  Execution execution = Execution::Auto; // of a .mlir model past nn: as it is
  std::optional<Phase> from;             // of a .mlir model; default: found from its operations
  std::string dumpDir;                   // IR after each phase: NN-name.mlir
  std::string problemsDir;               // problems that mapping poses to the solvers, as text, and what it chose
  // How much sizing and placing look for better mappings. The result does not depend on threads.
  kernels::SearchOptions search{kernels::Effort::Default, 1, 0};
  // The naive mapping to compare with: every kernel gets as many columns, in dataflow order.
  bool equalColumns = false;
  Precision precision = Precision::Model; // narrow ones take phased execution
  bool narrowSums = false;                // of a narrow precision: sums of products in its 16-bit type too
  // Seeded samples over which the error of a narrow precision is measured against f32, on the emulator; 0: it is not.
  // The reference is compiled for the target with twice the SRAM, so that it fits where the network does.
  int precisionSamples = 4;
  CompileHooks hooks = {};
};

struct PhaseTime {
  Phase phase;
  double seconds = 0;
  int64_t peakRssBytes = 0; // of the process, so far
};

struct KernelReport {
  std::string name;
  std::vector<std::string> layers;
  int64_t row = 0, col = 0, rows = 0, cols = 0, cores = 0, macs = 0, predictedIntervalCycles = 0, sramBytes = 0;
};

struct CompileReport {
  std::string target, execution;
  int64_t coresTotal = 0, coresUsed = 0, coresFma = 0, sramWorstBytes = 0, sramLimitBytes = 0, macs = 0;
  int64_t predictedIntervalCycles = 0; // by the cost model
  int64_t timedIntervalCycles = 0;     // by the analytic engine, where the search for mappings asked it; else 0
  int64_t mappingsTried = 0;           // besides the first
  bool foundBetterMapping = false;
  std::string bottleneck;
  // Cycles between samples that no mapping can beat (bound…), and that no choice of the enumerated shapes can beat; see
  // kernels::IntervalBounds. 0: the model came at a phase that does not know.
  int64_t optimumCycles = 0, boundMultiplyAddCycles = 0, boundIoCycles = 0, slowestKernelCycles = 0;
  int64_t hostSteps = 0; // of the entries: steps that do not run on the wafer
  int64_t linkWords = 0; // over the busiest link, per sample; 0: not known
  int64_t wordHops = 0;  // weighted wire length: words times links, per sample; 0: not known
  double samplesPerSecond = 0, utilisation = 0;
  std::string model, output; // files; output is empty where a phase before `wse` was asked for
  int64_t outputBytes = 0;
  std::vector<KernelReport> kernels;
  std::vector<PhaseTime> phases;
  std::optional<report::PrecisionFacts> precision; // of a narrow one
};

// Compiles. Errors carry every diagnostic, one per line. Nothing is left at `output` on failure.
absl::StatusOr<CompileReport> compile(const CompileOptions &options);

// An executable without a file of its own, and what compile() reports of it.
struct Compiled {
  ExecutablePtr executable;
  CompileReport report;
};
// Compiles into memory: into a temporary file that has no name when this returns. `options.output` names the executable
// in messages only; `options.to` must be Phase::Wse.
absl::StatusOr<Compiled> compileToExecutable(const CompileOptions &options);

// Names of the inputs on whose values a refused compilation depends where they must be known; binding them takes it
// past that place. Empty for any other error.
std::vector<std::string> inputsToBind(const absl::Status &status);

// One line per operator the importer or kernel formation has no form for; empty: the model can be compiled.
absl::StatusOr<std::vector<std::string>> validate(const CompileOptions &options);

// The summary wsc-compile prints.
std::string printSummary(const CompileReport &report);
// All there is to say about what was compiled (docs/Report.md), read from the executable at `report.output`. Error:
// there is none, as a phase before `wse` was asked for, or it cannot be read.
absl::StatusOr<report::Report> fullReport(const CompileReport &report);
// Writes that as FILE.txt, .json or .html.
absl::Status writeReport(const CompileReport &report, const std::string &path);

} // namespace wsc::driver
