// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suite `cycle`: how fast the cycle engine is. Each workload runs a few times; the fastest run counts, in seconds of
// the process's own time where one thread works, so that other work on the machine weighs little.
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/format/Reader.h"
#include "tools/wsc-bench/Bench.h"
#include "tools/wsc-bench/CycleWorkloads.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <limits>

namespace wsc::bench {

namespace {

constexpr int kRuns = 3;

struct Measured {
  emulator::CycleResult run;
  double cpuSeconds = std::numeric_limits<double>::max(), wallSeconds = std::numeric_limits<double>::max();
};

double processSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

absl::StatusOr<Measured> measure(const format::Executable &executable, int samples, int threads) {
  Measured best;
  emulator::CycleOptions options;
  options.samples = samples;
  options.threads = threads;
  for (int run = 0; run < kRuns; ++run) {
    const auto wall = std::chrono::steady_clock::now();
    const double cpu = processSeconds();
    auto result = emulator::runCycles(executable, 0, options);
    if (!result.ok())
      return result.status();
    best.cpuSeconds = std::min(best.cpuSeconds, processSeconds() - cpu);
    best.wallSeconds =
        std::min(best.wallSeconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count());
    best.run = *std::move(result);
  }
  return best;
}

void addRun(const std::string &name, const Measured &one, Results &results) {
  const emulator::CycleResult &run = one.run;
  results.add({name + ".active_tile_cycles_per_second_and_thread",
               double(run.activeTileCycles) / one.cpuSeconds,
               "1/s",
               {},
               {}});
  results.add({name + ".skipped_tile_cycles_per_second_and_thread",
               double(run.skippedTileCycles) / one.cpuSeconds,
               "1/s",
               {},
               {}});
  results.add({name + ".word_hops_per_second_and_thread", double(run.wordHops) / one.cpuSeconds, "1/s", {}, {}});
  results.add({name + ".cycles", double(run.endCycle), "cycles", {}, {}});
  results.add({name + ".skipped_cycles", double(run.skippedCycles), "cycles", {}, {}});
  results.add({name + ".wall_seconds", one.wallSeconds, "s", {}, {}});
  results.add({name + ".bytes_per_tile", double(run.bytes) / double(std::max<int64_t>(1, run.tiles)), "B", {}, {}});
}

// One thread's figures, and the wall time with more of them, whose results must be the same.
absl::StatusOr<Measured> benchOne(const std::string &name, const format::Executable &executable, int samples,
                                  int threads, Results &results) {
  absl::StatusOr<Measured> one = measure(executable, samples, 1);
  if (!one.ok())
    return absl::Status(one.status().code(), absl::StrCat(name, ": ", std::string(one.status().message())));
  addRun(name, *one, results);
  if (threads > 1) {
    absl::StatusOr<Measured> more = measure(executable, samples, threads);
    if (!more.ok())
      return more.status();
    more->run.bytes = one->run.bytes;
    if (!(more->run == one->run))
      return absl::InternalError(absl::StrCat(name, ": results with ", threads, " threads differ from those with one"));
    results.add({absl::StrCat(name, ".wall_seconds_threads_", threads), more->wallSeconds, "s", {}, one->wallSeconds});
  }
  return one;
}

absl::Status benchFile(const std::string &path, const Options &options, Results &results) {
  absl::StatusOr<format::Executable> executable = format::loadExecutable(path, {});
  if (!executable.ok())
    return executable.status();
  return benchOne(std::filesystem::path(path).stem().string(), *executable, options.samples, options.threads, results)
      .status();
}

} // namespace

absl::Status runCycle(const Options &options, Results &results) {
  absl::StatusOr<target::Target> target = target::loadTarget(options.target);
  if (!target.ok())
    return target.status();
  absl::Status all = absl::OkStatus();
  if (!options.paths.empty()) {
    for (const std::string &path : options.paths)
      all.Update(benchFile(path, options, results));
    return all;
  }
  all.Update(benchOne("stencil_64x64", stencilExchange(*target, 64, 64), 200, options.threads, results).status());
  all.Update(benchOne("relays_64x64", saturatedRelays(*target, 64, 64, 4000), 1, options.threads, results).status());
  auto line = benchOne("chain_1x994", chainReduce(*target, 1, 994, 2000), 1, 1, results);
  auto wafer = benchOne("chain_750x994", chainReduce(*target, 750, 994, 2000), 1, 1, results);
  all.Update(line.status());
  all.Update(wafer.status());
  if (line.ok() && wafer.ok())
    results.add({"chain_750x994.wall_over_1x994", wafer->wallSeconds / line->wallSeconds, "", 1.5, {}});
  return all;
}

} // namespace wsc::bench
