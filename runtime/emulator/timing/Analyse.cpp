// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// analyseTiming: runs the simulation until the interval between samples is known, and holds it against the bounds that
// the simulation does not see (words over a link, words through the I/O ports). The largest says what the bottleneck
// is.
#include "runtime/emulator/Timing.h"

#include "runtime/emulator/timing/Bounds.h"
#include "runtime/emulator/timing/Liveness.h"
#include "runtime/emulator/timing/Simulation.h"
#include "runtime/emulator/timing/SteadyState.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace wsc::emulator {

using namespace format;
using namespace timing;

namespace {

constexpr int kMostSamples = 64;
constexpr size_t kMostGrouped = 2; // samples that may take turns in being longer and shorter
constexpr size_t kPatience = 8;    // samples after which they may be further apart, by 1/kPerSample more with each
constexpr int64_t kPerSample = 200;
constexpr int64_t kTolerance = 128; // bounds on the interval meet within 1/128 of it

// Average over the last third, rounded up.
int64_t averageInterval(const std::vector<int64_t> &done) {
  const size_t n = done.size();
  if (n < 2)
    return 0;
  const size_t span = std::max<size_t>(1, n / 3);
  return (done[n - 1] - done[n - 1 - span] + int64_t(span) - 1) / int64_t(span);
}

class Analysis {
public:
  Analysis(const Executable &executable, int index, const Networks &networks)
      : executable(executable), index(index), configuration(executable.configurations[index]), networks(networks) {}

  absl::StatusOr<TimingResult> run(int samples) {
    absl::Status status = simulate(samples, false);
    // A unit's one timeline may wait for itself where its cores do not: then look at every core.
    if (absl::IsFailedPrecondition(status) && mergedCores)
      status = simulate(samples, true);
    if (!status.ok())
      return status;
    judge();
    return std::move(result);
  }

private:
  absl::Status simulate(int samples, bool splitAll) {
    absl::StatusOr<Model> built = buildModel(executable, index, networks, splitAll);
    if (!built.ok())
      return built.status();
    model = *std::move(built);
    mergedCores = model.wholeRows;
    result = TimingResult();
    bounds = findBounds(executable, configuration, networks, model);
    result.kernels = bounds.kernels;
    // Mostly nobody is charged where every core has one thread, and the sample is timed without notes.
    const auto sharesSlots = [](const Unit &unit) { return unit.numProcesses > 1; };
    if (samples == 1 && std::ranges::none_of(model.units, sharesSlots)) {
      Simulation once(model, Simulation::Notes::None);
      if (!once.runSample())
        return livenessError(configuration, model, once);
      if (!once.lacksNotes()) {
        finishSample(once);
        return finish(once, false);
      }
    }
    Simulation simulation(model);
    SteadyState steady(model);
    const int most = samples > 0 ? samples : kMostSamples;
    int charged = -1; // the first sample from which on all are
    bool known = false;
    for (int sample = 0;; ++sample) {
      if (!simulation.runSample())
        return livenessError(configuration, model, simulation);
      finishSample(simulation);
      if (simulation.charged()) {
        steady.add(simulation);
        charged = charged < 0 ? sample : charged;
        known = findInterval(steady, std::span(result.sampleDone).subspan(size_t(charged)));
      }
      if (sample + 1 == most || known)
        break;
      simulation.trim();
    }
    return finish(simulation, known);
  }

  void finishSample(const Simulation &simulation) {
    noteDone(simulation, result.sampleDone.size());
    result.sampleDone.push_back(sampleDone(simulation));
  }
  absl::Status finish(const Simulation &simulation, bool known) {
    countWaits(simulation);
    result.latencyCycles = result.sampleDone.front();
    if (!known)
      result.intervalCycles = averageInterval(result.sampleDone);
    result.intervalCycles = std::max(result.intervalCycles, bounds.most());
    result.intervalLow = std::max(result.intervalLow, bounds.most());
    return absl::OkStatus();
  }

  // Whether the interval is known: sets it and its bounds. `done`: of the samples that `steady` has seen.
  bool findInterval(const SteadyState &steady, std::span<const int64_t> done) {
    if (done.size() < 2)
      return false;
    const int64_t lower = std::max(steady.lower(), bounds.most());
    setInterval(lower, std::max(lower, steady.upper()), -1);
    if (done.size() < 3)
      return false;
    if (steady.upper() - lower <= lower / kTolerance)
      return setInterval(lower, std::max(steady.upper(), lower), std::max(steady.upper(), lower));
    // The last samples, or the last pairs where long and short ones alternate, were done at the pace of the slowest
    // process: nothing can slow them down any more, though upstream some may still fill queues faster.
    for (size_t group = 1; group <= kMostGrouped && done.size() > 2 * group; ++group) {
      const size_t last = done.size() - 1;
      const int64_t slower =
          std::min(done[last] - done[last - group], done[last - group] - done[last - 2 * group]) / int64_t(group);
      if (steady.upper() - slower <= slower / kTolerance)
        return setInterval(slower, steady.upper(), steady.upper());
      // Slots that are due (SharedSlots.h) make samples differ for long: then the middle will do.
      if (done.size() > kPatience &&
          (steady.upper() - slower) * kPerSample <= slower * int64_t(done.size() - kPatience))
        return setInterval(slower, steady.upper(), (steady.upper() + slower + 1) / 2);
    }
    return false;
  }

  // `interval` −1: not known yet.
  bool setInterval(int64_t low, int64_t high, int64_t interval) {
    result.intervalLow = std::max(low, bounds.most());
    result.intervalHigh = std::max(high, result.intervalLow);
    result.intervalCycles = interval;
    result.intervalSettled =
        interval >= 0 && result.intervalHigh - result.intervalLow <= result.intervalLow / kTolerance;
    return interval >= 0;
  }

  // The last word out of the wafer; without outputs, and in phases, the last thread's end: what follows waits for all.
  int64_t sampleDone(const Simulation &simulation) const {
    int64_t ports = 0, all = 0;
    for (size_t p = 0; p < model.processes.size(); ++p) {
      const Unit &unit = model.units[model.processes[p].unit];
      const int64_t finished = simulation.process(int32_t(p)).finished;
      all = std::max(all, finished);
      if (unit.role < 0 && configuration.io[unit.binding].output)
        ports = std::max(ports, finished);
    }
    return ports > 0 && executable.execution != "phased" ? ports : std::max(ports, all);
  }

  // When each kernel is done with the sample that was simulated last.
  void noteDone(const Simulation &simulation, size_t sample) {
    if (sample >= KernelTiming::kMostDone)
      return;
    for (KernelTiming &kernel : result.kernels)
      kernel.done.resize(sample + 1);
    for (size_t p = 0; p < model.processes.size(); ++p) {
      const int32_t kernel = model.units[model.processes[p].unit].kernel;
      if (kernel < 0 || kernel >= int32_t(result.kernels.size()))
        continue;
      int64_t &done = result.kernels[size_t(kernel)].done[sample];
      done = std::max(done, simulation.process(int32_t(p)).finished);
    }
  }

  void countWaits(const Simulation &simulation) {
    for (size_t p = 0; p < model.processes.size(); ++p) {
      const int32_t kernel = model.units[model.processes[p].unit].kernel;
      if (kernel < 0 || kernel >= int32_t(result.kernels.size()))
        continue;
      const ProcessState &state = simulation.process(int32_t(p));
      result.kernels[kernel].waitWordsCycles = std::max(result.kernels[kernel].waitWordsCycles, state.waitWords);
      result.kernels[kernel].waitRoomCycles = std::max(result.kernels[kernel].waitRoomCycles, state.waitRoom);
    }
  }

  // Says what sets the interval.
  void judge() {
    result.maxLinkWords = bounds.links.maxWords;
    result.maxLinkName = bounds.links.maxName;
    result.linkWordHops = bounds.links.totalWords;
    // Within 2 % a bound explains the interval; otherwise it is the wait for words and space of each other.
    const auto explains = [&](int64_t bound) { return bound * 102 >= result.intervalCycles * 100; };
    if (bounds.slowUnit >= 0)
      result.bottleneckKernel = model.units[bounds.slowUnit].kernel;
    if (bounds.busyUnit >= 0 && explains(bounds.busiest)) {
      result.bottleneckKernel = model.units[bounds.busyUnit].kernel;
      result.bottleneck = absl::StrCat("issue slots of ", unitName(bounds.busyUnit), ": ", bounds.busiest, " cycles");
    } else if (explains(bounds.io)) {
      result.bottleneck = absl::StrCat("I/O: ", model.inputWords, " input and ", model.outputWords, " output words at ",
                                       executable.target.ioWordsPerCycle(), " per cycle");
    } else if (explains(bounds.links.maxWords)) {
      result.bottleneck = absl::StrCat("link ", bounds.links.maxName, ": ", bounds.links.maxWords, " words");
    } else if (bounds.slowUnit >= 0 && explains(bounds.slowest)) {
      result.bottleneck =
          absl::StrCat("words gathered in ", unitName(bounds.slowUnit), ": ", bounds.slowest, " cycles");
    } else {
      result.bottleneck = absl::StrCat("finite buffers: threads wait for words and space of each other; the busiest, ",
                                       bounds.slowUnit >= 0 ? unitName(bounds.slowUnit) : std::string("none"),
                                       ", needs ", bounds.slowest, " cycles");
    }
    int64_t planned = 0;
    for (const Kernel &kernel : configuration.kernels)
      planned += kernel.macs;
    const double useful = bounds.macs > 0 && planned > 0
                              ? bounds.fmaCycles * std::min(1.0, double(planned) / bounds.macs)
                              : bounds.fmaCycles;
    if (result.intervalCycles > 0)
      result.computeUtilisation = useful / (double(executable.target.numCores()) * double(result.intervalCycles));
  }

  std::string unitName(int32_t u) const {
    const Unit &unit = model.units[u];
    const std::string place =
        absl::StrCat(" (role ", configuration.roles[unit.role].name, ", row ", unit.row, ", col ", unit.col, ")");
    if (unit.kernel >= 0 && unit.kernel < int32_t(configuration.kernels.size()))
      return absl::StrCat("kernel ", configuration.kernels[unit.kernel].name, place);
    return absl::StrCat("no kernel", place);
  }

  const Executable &executable;
  const int index;
  const Configuration &configuration;
  const Networks &networks;
  Model model;
  Bounds bounds;
  bool mergedCores = false;
  TimingResult result;
};

} // namespace

absl::StatusOr<TimingResult> analyseTiming(const Executable &executable, int configuration, const Networks &networks,
                                           int samples) {
  if (configuration < 0 || configuration >= int(executable.configurations.size()))
    return absl::InvalidArgumentError(
        absl::StrCat("configuration ", configuration, " does not exist; there are ", executable.configurations.size()));
  return Analysis(executable, configuration, networks).run(samples);
}

} // namespace wsc::emulator
