// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suite `agreement`: the analytic time of whole networks beside the cycle engine's. The latter is the reference and
// takes minutes for a network of a whole wafer; docs/Results.md is made from the JSON.
#include "runtime/emulator/cycle/CycleReports.h"
#include "runtime/session/Session.h"
#include "tools/support/Child.h"
#include "tools/wsc-bench/Bench.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <map>

namespace wsc::bench {

namespace {

Result::Interval intervalOf(const emulator::TimingResult &timing, const char *engine) {
  return {engine, timing.intervalSettled, double(timing.intervalLow), double(timing.intervalHigh)};
}

// A phased entry, whose latency is the sum of its parts: of each run both engines' cycles and the difference. Sessions
// time short phases by the cycle engine, so the analytic one is asked here.
absl::Status benchParts(const std::string &name, Session &session, const Options &options, Results &results) {
  std::vector<emulator::TimingPart> parts;
  const auto start = std::chrono::steady_clock::now();
  auto run = session.cycles(0, {.threads = options.threads}, &parts);
  if (!run.ok())
    return run.status();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const format::Executable &executable = session.executable();
  std::map<int32_t, int64_t> solved; // of a configuration
  int64_t latency = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    const emulator::TimingPart &part = parts[p];
    const bool isRun = part.kind == emulator::TimingPart::Kind::Run;
    const std::string prefix = absl::StrCat(name, ".part", p, isRun ? ".run " : ".configure ", part.name);
    if (!isRun) {
      results.add({prefix, double(part.cycles()), "cycles", {}, {}});
      latency += part.cycles();
      continue;
    }
    if (!solved.contains(part.configuration)) {
      auto networks =
          emulator::resolveNetworks(executable.target, executable.configurations[size_t(part.configuration)],
                                    emulator::bindingTypes(executable, part.configuration));
      if (!networks.ok())
        return networks.status();
      auto analytic = emulator::analyseTiming(executable, part.configuration, *networks, 1);
      if (!analytic.ok())
        return analytic.status();
      solved[part.configuration] = analytic->latencyCycles;
    }
    const double analytic = double(solved[part.configuration] * part.count), counted = double(part.cycles());
    latency += solved[part.configuration] * part.count;
    results.add({prefix + ".analytic", analytic, "cycles", {}, counted});
    results.add({prefix + ".difference", 100 * (analytic / counted - 1), "%", {}, {}});
  }
  results.add({name + ".analytic.latency", double(latency), "cycles", {}, {}});
  results.add({name + ".cycle.samples", 1, "", {}, {}});
  results.add({name + ".cycle.latency", double(run->latencyCycles), "cycles", {}, double(latency)});
  results.add({name + ".latency.difference", 100 * (double(latency) / double(run->latencyCycles) - 1), "%", {}, {}});
  results.add({name + ".cycle.wall_seconds", seconds.count(), "s", {}, {}});
  return absl::OkStatus();
}

absl::Status benchAgreement(const tools::Case &model, const Options &options, Results &results) {
  tools::TemporaryFolder folder;
  std::string executable = model.model;
  if (!executable.ends_with(".wse")) {
    executable = folder.path + "/model.wse";
    if (auto compiled = compileInChild(model, options, executable); !compiled.ok())
      return compiled.status();
  }
  auto session = Session::open(executable, {.threads = options.threads, .worklist = true});
  if (!session.ok())
    return session.status();
  const std::string name = absl::StrCat(model.name, "@", (*session)->executable().target.name);
  if ((*session)->executable().execution == "phased")
    return benchParts(name, **session, options, results);
  auto analytic = (*session)->timing(0);
  if (!analytic.ok())
    return analytic.status();
  const emulator::TimingResult &solved = **analytic;
  results.add({name + ".analytic.latency", double(solved.latencyCycles), "cycles", {}, {}});
  results.add({name + ".analytic.interval",
               double(solved.intervalCycles),
               "cycles",
               {},
               {},
               {},
               intervalOf(solved, "analytic")});
  auto configuration = (*session)->timedConfiguration(0);
  if (!configuration.ok())
    return configuration.status();
  const auto start = std::chrono::steady_clock::now();
  auto run = (*session)->cycles(0, {.samples = options.samples, .threads = options.threads});
  if (!run.ok())
    return run.status();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const emulator::TimingResult counted = emulator::timingOf(*run, **configuration, options.samples, &solved);
  const double latency = double(counted.latencyCycles), interval = double(counted.intervalCycles);
  results.add({name + ".cycle.samples", double(options.samples), "", {}, {}});
  results.add({name + ".cycle.latency", latency, "cycles", {}, double(solved.latencyCycles)});
  results.add({name + ".latency.difference", 100 * (double(solved.latencyCycles) / latency - 1), "%", {}, {}});
  if (options.samples > 1) {
    results.add({name + ".cycle.interval",
                 interval,
                 "cycles",
                 {},
                 double(solved.intervalCycles),
                 {},
                 intervalOf(counted, "cycle")});
    results.add({name + ".interval.difference", 100 * (double(solved.intervalCycles) / interval - 1), "%", {}, {}});
  }
  results.add({name + ".cycle.wall_seconds", seconds.count(), "s", {}, {}});
  return absl::OkStatus();
}

} // namespace

absl::Status runAgreement(const Options &options, Results &results) {
  return forModels(options.paths, false,
                   [&](const tools::Case &model) { return benchAgreement(model, options, results); });
}

} // namespace wsc::bench
