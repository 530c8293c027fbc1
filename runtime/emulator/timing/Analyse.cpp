// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// analyseTiming: runs the simulation until the time between samples repeats, and holds it against the bounds that the
// simulation does not see (words over a link, words through the I/O ports). The largest says what the bottleneck is.
#include "runtime/emulator/Timing.h"

#include "runtime/emulator/timing/Links.h"
#include "runtime/emulator/timing/Liveness.h"
#include "runtime/emulator/timing/Simulation.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace wsc::emulator {

using namespace format;
using namespace timing;

namespace {

constexpr int kMostSamples = 64;
constexpr int kEqualDifferences = 10; // more than the samples that usual FIFOs hold ahead: their filling is not a steady state
constexpr int kLongestPattern = 6;

// The steady interval if the last differences repeat with some period, else -1. A period p must be seen twice, p = 1
// three times.
int64_t periodicInterval(const std::vector<int64_t> &done) {
  const auto n = int(done.size());
  const auto difference = [&](int i) { return done[n - 1 - i] - done[n - 2 - i]; }; // 0: the latest
  for (int period = 1; period <= kLongestPattern; ++period) {
    const int seen = period == 1 ? kEqualDifferences : 2 * period;
    if (n < seen + 1)
      break;
    bool repeats = true;
    for (int i = 0; i + period < seen; ++i)
      repeats &= difference(i) == difference(i + period);
    if (repeats)
      return (done[n - 1] - done[n - 1 - period] + period - 1) / period;
  }
  return -1;
}

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
    Simulation simulation(model);
    const int most = samples > 0 ? samples : kMostSamples;
    int64_t interval = -1;
    for (int sample = 0; sample < most && interval < 0; ++sample) {
      if (!simulation.runSample())
        return livenessError(configuration, model, simulation);
      result.sampleDone.push_back(sampleDone(simulation));
      interval = periodicInterval(result.sampleDone);
      if (sample + 1 == most || interval >= 0)
        countWaits(simulation);
      simulation.trim();
    }
    result.latencyCycles = result.sampleDone.front();
    result.intervalCycles = interval >= 0 ? interval : averageInterval(result.sampleDone);
    return absl::OkStatus();
  }

  // The last word out of the wafer; without outputs, the last thread's end.
  int64_t sampleDone(const Simulation &simulation) const {
    int64_t ports = 0, all = 0;
    for (size_t p = 0; p < model.processes.size(); ++p) {
      const Unit &unit = model.units[model.processes[p].unit];
      const int64_t finished = simulation.process(int32_t(p)).finished;
      all = std::max(all, finished);
      if (unit.role < 0 && configuration.io[unit.binding].output)
        ports = std::max(ports, finished);
    }
    return ports > 0 ? ports : all;
  }

  void countWaits(const Simulation &simulation) {
    result.kernels.resize(configuration.kernels.size());
    for (size_t p = 0; p < model.processes.size(); ++p) {
      const int32_t kernel = model.units[model.processes[p].unit].kernel;
      if (kernel < 0 || kernel >= int32_t(result.kernels.size()))
        continue;
      const ProcessState &state = simulation.process(int32_t(p));
      result.kernels[kernel].waitWordsCycles = std::max(result.kernels[kernel].waitWordsCycles, state.waitWords);
      result.kernels[kernel].waitRoomCycles = std::max(result.kernels[kernel].waitRoomCycles, state.waitRoom);
    }
  }

  // What a thread needs for a sample when it never waits; the cores of a unit that send one after another need it
  // together.
  int64_t alone(const Process &process) const {
    const Unit &unit = model.units[process.unit];
    const ThreadProgram &program = model.program(process);
    std::vector<int64_t> times{1};
    int64_t sum = program.tail;
    for (const Item &item : program.items) {
      if (item.kind == ItemKind::LoopBegin) {
        times.push_back(times.back() * item.trips);
      } else if (item.kind == ItemKind::LoopEnd) {
        times.pop_back();
      } else {
        const int64_t cores = item.out.slot >= 0 ? model.slots[unit.firstSlot + item.out.slot].cores : 1;
        sum += times.back() *
               (item.before + item.setup +
                std::max(item.stream + item.controls, cores > 1 ? cores * (item.out.count + item.controls) : 0));
      }
    }
    return sum;
  }

  void judge() {
    int64_t busiest = 0, slowest = 0;
    int32_t busyUnit = -1, slowUnit = -1;
    double macs = 0, fmaCycles = 0;
    for (size_t u = 0; u < model.units.size(); ++u) {
      const Unit &unit = model.units[u];
      if (unit.role < 0)
        continue;
      int64_t interval = unit.busy;
      for (int32_t t = 0; t < unit.numProcesses; ++t) {
        const Process &process = model.processes[unit.firstProcess + t];
        interval = std::max(interval, alone(process));
        const ThreadProgram &program = model.program(process);
        macs += double(program.fmaElementsF32 + program.fmaElementsF16) * unit.cores;
        fmaCycles += (double(program.fmaElementsF32) / executable.target.fmaPerCycleF32 +
                      double(program.fmaElementsF16) / executable.target.fmaPerCycleF16) *
                     unit.cores;
      }
      if (unit.busy > busiest) {
        busiest = unit.busy;
        busyUnit = int32_t(u);
      }
      if (interval > slowest) {
        slowest = interval;
        slowUnit = int32_t(u);
      }
      if (unit.kernel >= 0 && unit.kernel < int32_t(result.kernels.size())) {
        KernelTiming &kernel = result.kernels[unit.kernel];
        kernel.busyCycles = std::max(kernel.busyCycles, unit.busy);
        kernel.fmaCycles = std::max(kernel.fmaCycles, unit.fma);
        kernel.intervalCycles = std::max(kernel.intervalCycles, interval);
      }
    }
    const LinkLoad links = linkLoad(executable.target, configuration, networks);
    result.maxLinkWords = links.maxWords;
    result.maxLinkName = links.maxName;
    result.linkWordHops = links.totalWords;
    const auto io =
        int64_t(std::ceil(double(model.inputWords + model.outputWords) / executable.target.ioWordsPerCycle()));

    const int64_t simulated = result.intervalCycles;
    result.intervalCycles = std::max({simulated, busiest, slowest, links.maxWords, io});
    // Within 2 % a bound explains the interval; otherwise it is the wait for words and room of each other.
    const auto explains = [&](int64_t bound) { return bound * 102 >= result.intervalCycles * 100; };
    if (slowUnit >= 0)
      result.bottleneckKernel = model.units[slowUnit].kernel;
    if (busyUnit >= 0 && explains(busiest)) {
      result.bottleneckKernel = model.units[busyUnit].kernel;
      result.bottleneck = absl::StrCat("issue slots of ", unitName(busyUnit), ": ", busiest, " cycles");
    } else if (explains(io)) {
      result.bottleneck = absl::StrCat("I/O: ", model.inputWords, " input and ", model.outputWords, " output words at ",
                                       executable.target.ioWordsPerCycle(), " per cycle");
    } else if (explains(links.maxWords)) {
      result.bottleneck = absl::StrCat("link ", links.maxName, ": ", links.maxWords, " words");
    } else if (slowUnit >= 0 && explains(slowest)) {
      result.bottleneck = absl::StrCat("words gathered in ", unitName(slowUnit), ": ", slowest, " cycles");
    } else {
      result.bottleneck =
          absl::StrCat("finite buffers: threads wait for words and room of each other; the busiest, ",
                       slowUnit >= 0 ? unitName(slowUnit) : std::string("none"), ", needs ", slowest, " cycles");
    }
    int64_t planned = 0;
    for (const Kernel &kernel : configuration.kernels)
      planned += kernel.macs;
    const double useful = macs > 0 && planned > 0 ? fmaCycles * std::min(1.0, double(planned) / macs) : fmaCycles;
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
