// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of wsc-run: options, input samples, results, comparison, report.
#pragma once

#include "runtime/report/Report.h"
#include "runtime/session/RandomInputs.h"
#include "runtime/session/Session.h"
#include "runtime/session/TensorFile.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wsc::run {

struct Options {
  std::string model, entry, data, output, stateIn, stateOut, stats, report, trace, verify;
  std::vector<std::string> inputs; // NAME=FILE, or FILE
  std::string engine = "core";
  bool hasRandom = false, timingOnly = false, noTiming = false, quiet = false, verbose = false;
  uint64_t random = 0;
  int samples = 0, replay = 0, threads = 0; // samples 0: as the inputs say
  double rtol = 1e-3, atol = 1e-7;
};

// Fills `options`; returns -1 to go on, else the exit status (help and version are printed, errors too).
int parseOptions(int argc, char **argv, Options &options);

// Does all the options ask for; prints errors to stderr and the summary to stdout. Returns the exit status.
int runTool(const Options &options);

using Inputs = std::map<std::string, Tensor>;

// The inputs of each sample. Data sets are read when their turn comes.
class SampleSource {
public:
  static absl::StatusOr<SampleSource> create(const format::Entry &entry, const Options &options);
  int count() const { return samples; }
  absl::StatusOr<Inputs> sample(int k) const;

private:
  const format::Entry *entry = nullptr;
  Inputs fixed;                      // --input
  std::vector<std::string> dataSets; // --data
  bool random = false;
  uint64_t seed = 0;
  int samples = 1;
};

// Folders of a data set: `folder` itself, or its test_data_set_0, 1, …
std::vector<std::string> dataSetFolders(const std::string &folder);
// Matches tensors read from a data set with an entry's: by name if all names fit, else by place.
absl::StatusOr<Inputs> matchTensors(std::vector<Tensor> tensors, const std::vector<format::TensorType> &types,
                                    const std::string &where);
using wsc::randomTensor;

// Writes results to a folder (NAME.npy, NAME.K.npy) or a .npz. results[k]: outputs of sample k.
absl::Status writeResults(const std::vector<std::vector<Tensor>> &results, const std::string &output);

struct Comparison {
  std::string name;
  struct Place {
    int64_t element = -1; // row-major
    double got = 0, expected = 0;
  };
  double largestError = 0, relativeL2 = 0; // largestError: absolute, at `largest`
  Place largest, furthest; // furthest: the largest multiple of what the tolerance allows; may be another element
  int64_t outside = 0;     // elements with |got − expected| > atol + rtol·|expected|
  bool passed() const { return outside == 0; }
};
// Error: different shapes.
absl::StatusOr<Comparison> compareTensors(const Tensor &got, const Tensor &expected, double rtol, double atol);
// "logits: largest error 1.2e-05 at [0,17] (got 0.5, expected 0.50001), relative L2 3e-06"; with elements outside the
// tolerance also how many, and the furthest.
std::string describe(const Comparison &comparison, const std::vector<int64_t> &shape);

// What the summary and --stats tell.
struct Report {
  const format::Executable *executable = nullptr;
  const format::Configuration *configuration = nullptr; // Session::timedConfiguration; null when unknown
  const emulator::TimingResult *timing = nullptr;       // null: `timingUnknown` says why, unless it is left out
  double timingSeconds = 0;                             // that it took
  const emulator::CycleResult *cycles = nullptr;        // of --engine cycle
  double cycleSeconds = 0;                              // that it took
  std::string timingUnknown;
  emulator::ValueCounters counters;
  std::string engine;
  int threads = 0, samples = 0;
  double loadSeconds = 0, secondsPerSample = 0;
  bool ranValues = false;
};
// Parts of a phased entry that the summary lists without -v: the longest.
constexpr size_t kMostParts = 16;
// Cores up to which --stats lists each; beyond, kernels and their busiest cores only.
constexpr size_t kMostStatCores = 100000;
// Thread spans that --trace keeps.
constexpr int64_t kMostTraceSpans = int64_t(1) << 18;

// "result  y f32[1,10]  0.1 0.2 …": the first elements.
std::string resultLine(const Tensor &tensor);
std::string summary(const Report &report, bool verbose);
std::string statsJson(const Report &report);
// What --report writes: the executable, and what was emulated of its entry number `entry`.
wsc::report::Report fullReport(const Report &report, const std::string &model, int entry);

} // namespace wsc::run
