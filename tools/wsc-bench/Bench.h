// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of wsc-bench: options, suites, results. Work that has a peak of memory to measure runs in a child process.
#pragma once

#include "tools/support/Cases.h"

#include "absl/status/status.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wsc::bench {

struct Options {
  std::string suite, target = "wse2", execution = "auto", json;
  std::vector<std::string> paths;
  std::map<std::string, int64_t> dims;
  int samples = 5,
      threads = 2;       // emulate, cycle, agreement: samples of a model, threads compared with one; place: threads
  uint64_t seed = 1;     // emulate: of the samples; place: of the search
  double seconds = 60;   // place: of wall clock at most, per .kgraph file
  std::string keep;      // validation: folder for the programs, or empty
  bool meshGemm = false; // validation: also the table of matrix products
  bool quiet = false;
};

// Fills `options`; returns -1 to go on, else the exit status (help and version are printed, errors too).
int parseOptions(int argc, char **argv, Options &options);

// One figure. `bound`: what it may not exceed or cannot go below, as its name says; `reference`: the same figure of
// something known.
struct Result {
  std::string name; // MODEL.figure
  double value = 0;
  std::string unit;
  std::optional<double> bound, reference;
  // validation: the figure is to reproduce `reference`.
  struct Reproduced {
    double tolerance = 0, error = 0; // relative; error: value / reference − 1
    bool within = false;
    std::string remark; // for people
  };
  std::optional<Reproduced> reproduced = {};
  // An interval between samples: which engine found it and how well it is known, as in emulator::TimingResult.
  struct Interval {
    const char *engine = "";
    bool settled = false;
    double low = 0, high = 0; // cycles
  };
  std::optional<Interval> interval = {};
};

class Results {
public:
  explicit Results(bool quiet) : quiet(quiet) {}
  // Prints the figure as it is known, as a row of a table.
  void add(Result result);
  void note(const std::string &text) const;
  llvm::json::Value json(const std::string &suite) const;

private:
  std::vector<Result> all;
  bool quiet;
};

// "Processor name, N threads, M GiB, Linux release".
std::string machine();

// Each suite adds to `results` and goes on after a path that fails; the status tells of the first that did.
absl::Status runCompile(const Options &options, Results &results);
absl::Status runEmulate(const Options &options, Results &results);
absl::Status runCycle(const Options &options, Results &results);
absl::Status runMap(const Options &options, Results &results);
absl::Status runAgreement(const Options &options, Results &results);
absl::Status runCalls(const Options &options, Results &results);
absl::Status runPlace(const Options &options, Results &results);
absl::Status runValidation(const Options &options, Results &results);

struct Suite {
  const char *name, *summary;
  absl::Status (*run)(const Options &, Results &);
};
const std::vector<Suite> &suites();

// Models at the paths: .onnx files, and cases at and below folders. With `needsData`, each must have a data set.
absl::Status findModels(const std::vector<std::string> &paths, bool needsData, std::vector<tools::Case> &models);

// Prefixes a status with the model it is about.
absl::Status withName(const std::string &name, const absl::Status &status);

/// Measures each model that `paths` name, those after one that fails, too. Errors: of findModels, and of the models by
/// their names.
absl::Status forModels(const std::vector<std::string> &paths, bool needsData,
                       const std::function<absl::Status(const tools::Case &)> &measure);

// Compiles in a child. Object: "report" with the figures of CompileReport that the suites show.
struct Compiled {
  double seconds = 0;
  int64_t peakRssBytes = 0, outputBytes = 0, weightBytes = 0;
  int64_t predictedCycles = 0, optimumCycles = 0, boundMultiplyAddCycles = 0, boundIoCycles = 0,
          slowestKernelCycles = 0;
  int64_t coresFma = 0, coresTotal = 0;
  struct Phase {
    std::string name;
    double seconds = 0;
    int64_t peakRssBytes = 0;
  };
  std::vector<Phase> phases;
};
// `equalColumns`: the naive mapping, see driver::CompileOptions.
absl::StatusOr<Compiled> compileInChild(const tools::Case &model, const Options &options, const std::string &executable,
                                        bool equalColumns = false);

// The hidden modes wsc-bench runs itself in.
constexpr const char *kCompileOne = "--compile-one", *kEmulateOne = "--emulate-one";
int compileOne(const std::string &request);
int emulateOne(const std::string &request);

// Prints "error: …" for a parent to repeat; returns 1.
int fail(const absl::Status &status);

} // namespace wsc::bench
