// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/session/EntryTime.h"

#include "runtime/base/SideBySide.h"
#include "runtime/emulator/EntryOrder.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/emulator/cycle/CycleReports.h"
#include "runtime/timing/Cost.h"
#include "runtime/timing/Phases.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>

namespace wsc {

using namespace format;
using emulator::CycleResult;
using emulator::KernelTiming;
using emulator::TimingPart;
using emulator::TimingResult;

namespace {

void scale(emulator::CoreStalls &stalls, int64_t times) {
  stalls.busy *= times;
  stalls.bank *= times;
  stalls.words *= times;
  stalls.room *= times;
}

void add(emulator::CoreStalls &to, const emulator::CoreStalls &stalls) {
  to.busy += stalls.busy;
  to.bank += stalls.bank;
  to.words += stalls.words;
  to.room += stalls.room;
}

// Adds what cores of no kernel did.
void addRest(emulator::KernelCycles &to, const emulator::KernelCycles &rest) {
  add(to.sum, rest.sum);
  to.cores = std::max(to.cores, rest.cores);
  if (rest.busiest.stalls.busy + rest.busiest.stalls.bank > to.busiest.stalls.busy + to.busiest.stalls.bank)
    to.busiest = rest.busiest;
}

// Cores one configuration after the other, summed by place.
void addCores(std::vector<emulator::CoreCycles> &to, const std::vector<emulator::CoreCycles> &cores) {
  const auto place = [](const emulator::CoreCycles &core) { return std::pair(core.row, core.col); };
  std::vector<emulator::CoreCycles> all;
  size_t a = 0, b = 0;
  while (a < to.size() || b < cores.size()) {
    if (b == cores.size() || (a < to.size() && place(to[a]) < place(cores[b]))) {
      all.push_back(to[a++]);
    } else if (a == to.size() || place(cores[b]) < place(to[a])) {
      all.push_back(cores[b++]);
    } else {
      all.push_back(to[a++]);
      all.back().role = -1; // has had several
      add(all.back().stalls, cores[b++].stalls);
    }
  }
  to = std::move(all);
}

// Adds to `kernels` the cycles that the multiply-adds of their busiest core take at the full rate; returns those of all
// cores together.
double addFmaCycles(const target::Target &target, const Configuration &configuration,
                    std::vector<KernelTiming> &kernels) {
  const auto ofCore = [&](const Role &role, const LatticeIndex &index) {
    double cycles = 0;
    for (const Thread &thread : role.threads) {
      std::vector<int64_t> trips{1};
      for (const Instruction &instruction : thread) {
        if (instruction.opcode == Opcode::Loop)
          trips.push_back(trips.back() * std::max<int64_t>(0, instruction.extent[0].at(index)));
        else if (instruction.opcode == Opcode::EndLoop)
          trips.pop_back();
        else if (instruction.opcode == Opcode::Fma)
          cycles += double(trips.back() * emulator::instructionElements(instruction, index)) /
                    timing::elementsPerCycle(target, Opcode::Fma, instruction.type);
      }
    }
    return cycles;
  };
  double all = 0;
  for (const Role &role : configuration.roles) {
    double most = 0;
    if (emulator::trafficIsUniform(role)) {
      most = ofCore(role, LatticeIndex{});
      all += most * double(role.cores.size());
    } else {
      emulator::forEachPoint(role.cores, [&](const LatticeIndex &index, int32_t, int32_t) {
        const double cycles = ofCore(role, index);
        all += cycles;
        most = std::max(most, cycles);
        return true;
      });
    }
    if (role.kernel >= 0 && role.kernel < int32_t(kernels.size())) {
      KernelTiming &kernel = kernels[size_t(role.kernel)];
      kernel.fmaCycles = std::max(kernel.fmaCycles, int64_t(std::ceil(most)));
    }
  }
  return all;
}

} // namespace

template <typename Run> absl::StatusOr<std::vector<TimingPart>> EntryTime::walk(int number, Run run) const {
  const Entry &entry = executable.entries[size_t(number)];
  absl::StatusOr<std::vector<int32_t>> steps = emulator::orderedSteps(entry);
  if (!steps.ok())
    return steps.status();
  std::vector<TimingPart> parts;
  int32_t inPlace = -1;
  const auto configure = [&](int32_t number) {
    const Configuration &configuration = executable.configurations[size_t(number)];
    TimingPart part;
    part.kind = TimingPart::Kind::Configure;
    part.name = configuration.name;
    part.configuration = inPlace = number;
    part.cyclesEach =
        timing::configurationCycles(executable.target, timing::configurationWords(executable.target, configuration));
    parts.push_back(part);
  };
  for (int32_t s : *steps) {
    const Step &step = entry.steps[size_t(s)];
    if (step.configuration != inPlace)
      configure(step.configuration);
    if (step.kind != StepKind::Run)
      continue;
    TimingPart part;
    part.name = executable.configurations[size_t(step.configuration)].name;
    part.configuration = step.configuration;
    part.count = step.count;
    if (absl::Status status = run(part); !status.ok())
      return status;
    parts.push_back(part);
  }
  return parts;
}

absl::StatusOr<EntryTime::Drained> EntryTime::drain(int configuration, int threadsOfCycles) const {
  absl::StatusOr<std::shared_ptr<const emulator::Networks>> networks = engine.networks(configuration);
  if (!networks.ok())
    return networks.status();
  int64_t wordHops = 0;
  for (const emulator::Stream &stream : (*networks)->streams)
    wordHops += stream.linkWordsPerSample;
  Drained result;
  const Configuration &program = executable.configurations[size_t(configuration)];
  absl::StatusOr<TimingResult> analytic = absl::UnimplementedError("not asked for");
  if (wordHops > kMostWordHops)
    analytic = emulator::analyseTiming(executable, configuration, **networks, 1);
  if (analytic.ok()) {
    result.time = *std::move(analytic);
    result.cycles = result.time.latencyCycles;
    result.useful = result.time.computeUtilisation * double(result.time.intervalCycles);
  } else {
    absl::StatusOr<CycleResult> run = emulator::runCycles(executable, configuration, {.threads = threadsOfCycles});
    if (!run.ok())
      return run.status();
    result.time = emulator::timingOf(*run, program, 1, nullptr);
    result.cycles = run->endCycle;
    result.wordByWord = true;
    result.useful =
        addFmaCycles(executable.target, program, result.time.kernels) / double(executable.target.numCores());
  }
  return result;
}

absl::Status EntryTime::drainAll(int entry) {
  std::vector<int> missing;
  for (const Step &step : executable.entries[size_t(entry)].steps)
    if (step.kind == StepKind::Run && !times.contains(step.configuration) &&
        std::ranges::find(missing, step.configuration) == missing.end())
      missing.push_back(step.configuration);
  const size_t workers = std::min(missing.size(), threads > 0 ? size_t(threads) : std::thread::hardware_concurrency());
  std::vector<absl::StatusOr<Drained>> found(missing.size(), absl::UnknownError("not timed"));
  runSideBySide(
      missing.size(), workers, kMostBytes,
      [&](size_t i) {
        int64_t cores = 0;
        for (const Role &role : executable.configurations[size_t(missing[i])].roles)
          cores += role.cores.size();
        return cores * kBytesPerCore;
      },
      [&](size_t i) {
        found[i] = drain(missing[i], workers > 1 ? 1 : threads);
        return found[i].ok();
      });
  for (size_t i = 0; i < missing.size(); ++i) {
    if (!found[i].ok())
      return found[i].status();
    times.emplace(missing[i], *std::move(found[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<TimingResult> EntryTime::timing(int entry) {
  if (absl::Status status = drainAll(entry); !status.ok())
    return status;
  TimingResult result;
  double useful = 0;
  std::string longestBottleneck;
  int64_t longest = -1;
  size_t longestPart = 0, number = 0;
  absl::StatusOr<std::vector<TimingPart>> parts = walk(entry, [&](TimingPart &part) {
    const Drained &time = times.at(part.configuration);
    const TimingResult &once = time.time;
    part.cyclesEach = time.cycles;
    part.wordByWord = time.wordByWord;
    const Configuration &configuration = executable.configurations[size_t(part.configuration)];
    for (size_t k = 0; k < configuration.kernels.size(); ++k) {
      KernelTiming kernel = once.kernels[k];
      for (int64_t KernelTiming::*field :
           {&KernelTiming::busyCycles, &KernelTiming::intervalCycles, &KernelTiming::fmaCycles,
            &KernelTiming::waitWordsCycles, &KernelTiming::waitRoomCycles})
        kernel.*field *= part.count;
      result.kernels.push_back(kernel);
    }
    useful += time.useful * part.count;
    result.linkWordHops += once.linkWordHops * part.count;
    if (once.maxLinkWords > result.maxLinkWords) {
      result.maxLinkWords = once.maxLinkWords;
      result.maxLinkName = absl::StrCat("phase ", part.name, ", ", once.maxLinkName);
    }
    if (part.cycles() > longest) {
      longest = part.cycles();
      longestPart = number;
      longestBottleneck = once.bottleneck;
    }
    ++number;
    return absl::OkStatus();
  });
  if (!parts.ok())
    return parts.status();
  result.parts = *std::move(parts);
  int64_t changes = 0;
  for (const TimingPart &part : result.parts) {
    result.latencyCycles += part.cycles();
    changes += part.kind == TimingPart::Kind::Configure ? part.cycles() : 0;
  }
  result.intervalCycles = result.intervalLow = result.intervalHigh = result.latencyCycles;
  result.intervalSettled = true; // samples do not overlap
  result.sampleDone = {result.latencyCycles};
  if (result.latencyCycles > 0)
    result.computeUtilisation = useful / double(result.latencyCycles);
  number = 0;
  for (const TimingPart &part : result.parts)
    if (part.kind == TimingPart::Kind::Run && number++ == longestPart)
      result.bottleneck =
          changes > part.cycles()
              ? absl::StrCat("changes of configuration: ", changes, " of ", result.latencyCycles, " cycles")
              : absl::StrCat("phase ", part.name, ": ", part.cycles(), " of ", result.latencyCycles, " cycles",
                             longestBottleneck.empty() ? "" : "; ", longestBottleneck);
  return result;
}

absl::StatusOr<CycleResult> EntryTime::cycles(int entry, const emulator::CycleOptions &options,
                                              std::vector<TimingPart> &parts) {
  emulator::CycleOptions once = options;
  once.samples = 1;
  std::map<int32_t, CycleResult> runs;
  absl::StatusOr<std::vector<TimingPart>> walked = walk(entry, [&](TimingPart &part) {
    if (!runs.contains(part.configuration)) {
      absl::StatusOr<CycleResult> run = emulator::runCycles(executable, part.configuration, once);
      if (!run.ok())
        return run.status();
      runs.emplace(part.configuration, *std::move(run));
    }
    part.cyclesEach = runs.at(part.configuration).endCycle;
    part.wordByWord = true;
    return absl::OkStatus();
  });
  if (!walked.ok())
    return walked.status();
  parts = *std::move(walked);

  CycleResult all;
  emulator::KernelCycles rest; // of cores of no kernel
  int64_t now = 0;
  int32_t firstKernel = 0, firstRole = 0;
  for (const TimingPart &part : parts) {
    if (part.kind == TimingPart::Kind::Run) {
      const CycleResult &run = runs.at(part.configuration);
      const Configuration &configuration = executable.configurations[size_t(part.configuration)];
      const int64_t times = int64_t(part.count) * options.samples;
      for (size_t k = 0; k < run.kernels.size(); ++k) {
        emulator::KernelCycles kernel = run.kernels[k];
        scale(kernel.sum, times);
        scale(kernel.busiest.stalls, times);
        if (k < configuration.kernels.size())
          all.kernels.push_back(kernel);
        else
          addRest(rest, kernel);
      }
      std::vector<emulator::CoreCycles> cores = run.cores;
      for (emulator::CoreCycles &core : cores) {
        core.role = core.role < 0 ? -1 : core.role + firstRole;
        scale(core.stalls, times);
      }
      addCores(all.cores, cores);
      all.wordHops += run.wordHops * times;
      if (run.maxLinkWords * times > all.maxLinkWords) {
        all.maxLinkWords = run.maxLinkWords * times;
        all.maxLinkName = absl::StrCat("phase ", part.name, ", ", run.maxLinkName);
      }
      all.colourWords.resize(std::max(all.colourWords.size(), run.colourWords.size()));
      for (size_t c = 0; c < run.colourWords.size(); ++c)
        all.colourWords[c] += run.colourWords[c] * times;
      all.activeTileCycles += run.activeTileCycles * times;
      all.skippedTileCycles += run.skippedTileCycles * times;
      all.simulatedCycles += run.simulatedCycles * times;
      all.skippedCycles += run.skippedCycles * times;
      all.bytes = std::max(all.bytes, run.bytes);
      all.tiles = std::max(all.tiles, run.tiles);
      // The timeline of the first sample.
      for (int32_t i = 0; i < part.count; ++i)
        for (emulator::TraceSpan span : run.trace) {
          if (int64_t(all.trace.size()) == options.mostTraceSpans) {
            all.traceCut = true;
            break;
          }
          const int64_t begin = now + i * part.cyclesEach;
          span.begin += begin;
          span.end += begin;
          span.kernel = span.kernel < 0 ? -1 : span.kernel + firstKernel;
          span.role = span.role < 0 ? -1 : span.role + firstRole;
          all.trace.push_back(span);
        }
      all.traceCut |= run.traceCut;
      firstKernel += int32_t(configuration.kernels.size());
      firstRole += int32_t(configuration.roles.size());
    }
    now += part.cycles();
  }
  if (rest.cores > 0)
    all.kernels.push_back(rest);
  all.latencyCycles = all.intervalCycles = now;
  for (int sample = 0; sample < options.samples; ++sample)
    all.sampleDone.push_back(now * (sample + 1));
  all.endCycle = now * options.samples;
  return all;
}

Configuration EntryTime::merged(int entry) const {
  Configuration all;
  for (const emulator::EntryRun &run : engine.runs(entry)) {
    const Configuration &configuration = executable.configurations[size_t(run.configuration)];
    for (const Kernel &kernel : configuration.kernels) {
      all.kernels.push_back(kernel);
      all.kernels.back().macs *= run.count;
      all.kernels.back().predictedIntervalCycles *= run.count;
    }
    for (const Role &role : configuration.roles) {
      all.roles.emplace_back().name = role.name;
      all.roles.back().cores = role.cores;
    }
  }
  return all;
}

} // namespace wsc
