// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suite `map`: how good the mapping of a model is. The analytic interval stands beside proven bounds, the largest of
// multiply-adds over all cores, off-wafer words and the slowest kernel, and beside the prediction; the optimum over the
// candidates that sizing enumerates, which is no bound on other mappings, beside both; and the naive mapping, as many
// columns for each kernel, beside ours.
#include "runtime/session/Session.h"
#include "tools/support/Child.h"
#include "tools/wsc-bench/Bench.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace wsc::bench {

namespace {

absl::StatusOr<emulator::TimingResult> analyticTime(const std::string &executable) {
  auto session = Session::open(executable, {.threads = 1});
  if (!session.ok())
    return session.status();
  auto timing = (*session)->timing(0);
  if (!timing.ok())
    return timing.status();
  return **timing;
}

// Adds the model's figures; returns the error of its prediction, as a part of the emulated interval.
absl::StatusOr<double> benchMap(const tools::Case &model, const Options &options, Results &results) {
  tools::TemporaryFolder folder;
  const std::string executable = folder.path + "/model.wse";
  auto compiled = compileInChild(model, options, executable);
  if (!compiled.ok())
    return compiled.status();
  auto time = analyticTime(executable);
  if (!time.ok())
    return time.status();
  const double emulated = double(time->intervalCycles);
  const int64_t bound = std::max(compiled->boundMultiplyAddCycles, compiled->boundIoCycles);
  auto add = [&](const char *figure, double value, const char *unit, std::optional<double> least = {},
                 std::optional<double> reference = {}) {
    results.add({absl::StrCat(model.name, ".", figure), value, unit, least, reference});
  };
  add("multiply_adds", double(compiled->boundMultiplyAddCycles), "cycles");
  add("io", double(compiled->boundIoCycles), "cycles");
  add("candidates_slowest_kernel", double(compiled->slowestKernelCycles), "cycles");
  add("candidates_optimum", double(compiled->optimumCycles), "cycles", double(bound));
  results.add(
      {absl::StrCat(model.name, ".interval"),
       emulated,
       "cycles",
       double(bound),
       double(compiled->predictedCycles),
       {},
       Result::Interval{"analytic", time->intervalSettled, double(time->intervalLow), double(time->intervalHigh)}});
  add("interval_over_candidates_optimum", emulated / double(compiled->optimumCycles), "");
  add("candidates_optimum_over_bounds", double(compiled->optimumCycles) / double(bound), "");
  const double error = std::abs(double(compiled->predictedCycles) - emulated) / emulated;
  add("prediction_error", 100 * error, "%");
  add("cores_fma", 100 * double(compiled->coresFma) / double(compiled->coresTotal), "%");
  auto naive = compileInChild(model, options, executable, true);
  if (!naive.ok()) {
    results.note(absl::StrCat(model.name, ": no naive mapping: ", std::string(naive.status().message())));
    return error;
  }
  auto naiveTime = analyticTime(executable);
  if (!naiveTime.ok())
    return naiveTime.status();
  const double naiveCycles = double(naiveTime->intervalCycles);
  add("naive", naiveCycles, "cycles", {}, emulated);
  add("naive_over_interval", naiveCycles / emulated, "");
  return error;
}

} // namespace

absl::Status runMap(const Options &options, Results &results) {
  std::vector<tools::Case> models;
  if (absl::Status status = findModels(options.paths, false, models); !status.ok())
    return status;
  absl::Status all = absl::OkStatus();
  double sum = 0, worst = 0;
  int count = 0;
  for (const tools::Case &model : models) {
    auto error = benchMap(model, options, results);
    all.Update(withName(model.name, error.status()));
    if (!error.ok())
      continue;
    sum += *error;
    worst = std::max(worst, *error);
    ++count;
  }
  if (count > 0) {
    results.add({"all.models", double(count), "", {}, {}});
    results.add({"all.prediction_error.mean", 100 * sum / count, "%", {}, {}});
    results.add({"all.prediction_error.worst", 100 * worst, "%", {}, {}});
  }
  return all;
}

} // namespace wsc::bench
