// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suite `map`: how good the mapping of a model is. The emulated interval (analytic time) stands beside the sizing
// bound; that bound beside the largest of multiply-adds over all cores, off-wafer words and the slowest kernel; the
// prediction beside the emulated interval; and the naive mapping, as many columns for each kernel, beside ours.
#include "runtime/session/Session.h"
#include "tools/support/Child.h"
#include "tools/wsc-bench/Bench.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace wsc::bench {

namespace {

absl::StatusOr<int64_t> emulatedInterval(const std::string &executable) {
  auto session = Session::open(executable, {.threads = 1});
  if (!session.ok())
    return session.status();
  auto timing = (*session)->timing(0);
  if (!timing.ok())
    return timing.status();
  return (*timing)->intervalCycles;
}

// Adds the model's figures; returns the error of its prediction, as a part of the emulated interval.
absl::StatusOr<double> benchMap(const tools::Case &model, const Options &options, Results &results) {
  tools::TemporaryFolder folder;
  const std::string executable = folder.path + "/model.wse";
  auto compiled = compileInChild(model, options, executable);
  if (!compiled.ok())
    return compiled.status();
  auto interval = emulatedInterval(executable);
  if (!interval.ok())
    return interval.status();
  const double emulated = double(*interval);
  const int64_t simple =
      std::max({compiled->boundMultiplyAddCycles, compiled->boundIoCycles, compiled->boundKernelCycles});
  auto add = [&](const char *figure, double value, const char *unit, std::optional<double> bound = {},
                 std::optional<double> reference = {}) {
    results.add({absl::StrCat(model.name, ".", figure), value, unit, bound, reference});
  };
  add("multiply_adds", double(compiled->boundMultiplyAddCycles), "cycles");
  add("io", double(compiled->boundIoCycles), "cycles");
  add("largest_kernel", double(compiled->boundKernelCycles), "cycles");
  add("bound", double(compiled->boundCycles), "cycles", double(simple));
  add("interval", emulated, "cycles", double(compiled->boundCycles), double(compiled->predictedCycles));
  add("interval_over_bound", emulated / double(compiled->boundCycles), "");
  add("bound_over_simple_bounds", double(compiled->boundCycles) / double(simple), "");
  const double error = std::abs(double(compiled->predictedCycles) - emulated) / emulated;
  add("prediction_error", 100 * error, "%");
  add("cores_fma", 100 * double(compiled->coresFma) / double(compiled->coresTotal), "%");
  auto naive = compileInChild(model, options, executable, true);
  if (!naive.ok()) {
    results.note(absl::StrCat(model.name, ": no naive mapping: ", std::string(naive.status().message())));
    return error;
  }
  auto naiveInterval = emulatedInterval(executable);
  if (!naiveInterval.ok())
    return naiveInterval.status();
  add("naive", double(*naiveInterval), "cycles", {}, emulated);
  add("naive_over_interval", double(*naiveInterval) / emulated, "");
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
