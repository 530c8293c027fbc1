// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engine's front: prepares every configuration (streams, programs, schedule) once, walks an entry's runs per
// sample, keeps state and residents.
#include "runtime/emulator/CoreEngine.h"

#include "runtime/emulator/EngineParts.h"
#include "runtime/emulator/EntryOrder.h"
#include "runtime/emulator/GatherNumbers.h"
#include "runtime/emulator/HostWords.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/NearWindows.h"
#include "runtime/emulator/Pages.h"
#include "runtime/emulator/PreparedStore.h"
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/emulator/ValueCount.h"
#include "runtime/emulator/WaveRunner.h"
#include "runtime/emulator/WaveStreams.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <set>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int64_t kMostKeptEnds = int64_t(1) << 22; // queue ends, about 100 bytes each
constexpr double kBundleNanoseconds = 40000, kSmallLevelNanoseconds = 30000;

// Input queue q of a role reads the same stream and composition on all cores of every unit.
std::vector<bool> sharedQueues(const Configuration &configuration, int32_t roleIndex, const Networks &networks) {
  const Role &role = configuration.roles[roleIndex];
  const int32_t width = role.cores.dims[kMaxDims - 1].count, step = unitColumns(role);
  const size_t queues = role.queues.size();
  std::vector<bool> shared(queues, step > 1);
  const int64_t cores = role.cores.size();
  const int32_t *table = networks.streamTable.data() + networks.roleOffset[roleIndex];
  for (size_t q = 0; q < queues; ++q) {
    if (role.queues[q].output)
      shared[q] = false;
    for (int64_t c = 0; c < cores && shared[q]; ++c) {
      const int32_t stream = table[c * int64_t(queues) + int64_t(q)];
      if (c % width % step != 0)
        shared[q] = stream == table[(c - 1) * int64_t(queues) + int64_t(q)];
      if (shared[q] && stream >= 0)
        shared[q] = networks.streams[stream].compositions.size() <= 1;
    }
  }
  return shared;
}

// Those that the configuration's windows view, ascending.
std::vector<int32_t> residentsOf(const Configuration &configuration) {
  std::set<int32_t> residents;
  for (const Role &role : configuration.roles)
    for (const Buffer &buffer : role.buffers)
      if (buffer.kind == BufferKind::Resident)
        residents.insert(buffer.resident);
  return {residents.begin(), residents.end()};
}

absl::Status resolveStreams(const Executable &executable, int number, PreparedConfiguration &prepared) {
  const Configuration &configuration = executable.configurations[number];
  prepared.executable = &executable;
  prepared.configuration = &configuration;
  prepared.bindingTypes = bindingTypes(executable, number);
  absl::StatusOr<Networks> networks = resolveNetworks(executable.target, configuration, prepared.bindingTypes);
  if (!networks.ok())
    return networks.status();
  prepared.networks = std::move(*networks);
  prepared.hasStreams = true;
  return absl::OkStatus();
}

absl::Status makeSchedule(PreparedConfiguration &prepared, const Kernels &kernels, Schedule wanted) {
  const Configuration &configuration = *prepared.configuration;
  absl::StatusOr<std::vector<std::vector<WindowPlace>>> windows = placeWindows(*prepared.executable, configuration);
  if (!windows.ok())
    return windows.status();
  prepared.windows = std::move(*windows);
  prepared.residents = residentsOf(configuration);
  std::vector<double> cost;
  prepared.programs.clear();
  for (size_t r = 0; r < configuration.roles.size(); ++r) {
    absl::StatusOr<RoleProgram> program =
        decodeRole(configuration.roles[r], sharedQueues(configuration, int32_t(r), prepared.networks), kernels);
    if (!program.ok())
      return program.status();
    cost.push_back(program->cost);
    prepared.programs.push_back(std::move(*program));
  }
  if (wanted == Schedule::Worklist) {
    prepared.schedule.possible = false;
    return absl::OkStatus();
  }
  prepared.schedule.possible = false;
  const bool interleaved = std::any_of(prepared.programs.begin(), prepared.programs.end(),
                                       [](const RoleProgram &p) { return p.interleaved; });
  if (wanted == Schedule::Units && !interleaved)
    prepared.schedule = scheduleUnits(configuration, prepared.networks, cost);
  const UnitSchedule &schedule = prepared.schedule;
  if (!schedule.possible) {
    findGatherNumbers(*prepared.executable, prepared.windows, prepared.programs);
    absl::StatusOr<WavePlan> waves = planWaves(configuration, prepared.networks, prepared.programs);
    if (!waves.ok())
      return waves.status();
    prepared.waves = std::make_shared<const WavePlan>(std::move(*waves));
    bringNear(*prepared.executable, int(&configuration - prepared.executable->configurations.data()), prepared.windows);
    absl::StatusOr<WaveStreams> streams = layStreams(configuration, prepared.networks, *prepared.waves);
    if (!streams.ok())
      return streams.status();
    prepared.streams = std::make_shared<WaveStreamStore>(std::make_shared<const WaveStreams>(std::move(*streams)));
    prepared.networks = {}; // all that is needed of them is in the streams
    trimHeap();
    prepared.hasStreams = false;
    return absl::OkStatus();
  }
  prepared.levelBundles.push_back(0);
  for (size_t level = 0; level + 1 < schedule.levelBegin.size(); ++level) {
    double total = 0, bundle = 0;
    uint32_t begin = schedule.levelBegin[level];
    for (uint32_t t = begin; t < schedule.levelBegin[level + 1]; ++t) {
      total += schedule.tasks[t].cost;
      bundle += schedule.tasks[t].cost;
      if (bundle >= kBundleNanoseconds || t + 1 == schedule.levelBegin[level + 1]) {
        prepared.bundles.push_back({begin, t + 1});
        begin = t + 1;
        bundle = 0;
      }
    }
    prepared.levelBundles.push_back(uint32_t(prepared.bundles.size()));
    prepared.levelIsSmall.push_back(total < kSmallLevelNanoseconds);
  }
  return absl::OkStatus();
}

// Cores to be recorded, by run and iteration.
using Recorded = std::map<std::pair<int32_t, int32_t>, TraceMap>;

class Engine final : public CoreEngine {
public:
  Engine(const Executable &executable, const CoreEngineOptions &options)
      : executable(executable), options(options), kernels(emulator::kernels(cpuLevel())), residents(executable),
        states(executable, residents), units(options.threads), waves(options.threads),
        runnable(executable.configurations.size()), timed(executable.configurations.size()),
        prepared(options.shared ? options.shared : makePreparedStore()) {}

  absl::Status prepareAll() {
    if (executable.configurations.size() == 1)
      if (absl::Status status = prepare(0); !status.ok())
        return status;
    for (size_t e = 0; e < executable.entries.size(); ++e)
      if (absl::Status status = prepareEntry(int(e)); !status.ok())
        return status;
    residents.share(residentsUsed);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<HostTensor>> runViews(int entry, std::span<const HostView> inputs) override {
    return runEntry(entry, inputs, {});
  }

  ValueCounters counters(int entry) const override { return countValues(executable, runs(entry)); }

  std::span<const EntryRun> runs(int entry) const override {
    if (entry < 0 || entry >= int(entryRuns.size()))
      return {};
    return entryRuns[size_t(entry)];
  }

  HostTensor readState(int state) const override {
    if (state < 0 || state >= int(executable.states.size()))
      return {};
    return states.read(state);
  }
  absl::Status writeState(int state, const HostTensor &value) override {
    if (state < 0 || state >= int(executable.states.size()))
      return absl::InvalidArgumentError(
          absl::StrCat("no state variable ", state, "; there are ", executable.states.size()));
    return states.write(state, value);
  }

  absl::StatusOr<std::shared_ptr<const Networks>> networks(int configuration) override {
    if (absl::Status status = checkNumber(configuration); !status.ok())
      return status;
    const auto networksOf = [](const auto &owner) { return std::shared_ptr<const Networks>(owner, &owner->networks); };
    if (const PreparedStore::Prepared &ready = runnable[size_t(configuration)]; ready && ready->hasStreams)
      return networksOf(ready);
    {
      const std::lock_guard lock(timedMutex);
      if (const Timed &known = timed[size_t(configuration)])
        return networksOf(known);
    }
    auto made = std::make_shared<PreparedConfiguration>();
    if (absl::Status status = resolveStreams(executable, configuration, *made); !status.ok())
      return status;
    keep(configuration, made);
    return networksOf(made);
  }

  absl::StatusOr<std::vector<CoreTrace>> runTracedViews(int entry, std::span<const HostView> inputs,
                                                        std::span<const CorePlace> cores,
                                                        std::vector<HostTensor> &outputs) override {
    std::vector<CoreTrace> traces(cores.size());
    Recorded recorded;
    std::vector<size_t> same(cores.size()); // a core asked for twice is recorded once
    const std::span<const EntryRun> known = runs(entry);
    for (size_t i = 0; i < cores.size(); ++i) {
      const CorePlace &place = cores[i];
      if (place.run < 0 || place.run >= int32_t(known.size()) || place.iteration < 0 ||
          place.iteration >= known[size_t(place.run)].count)
        return absl::InvalidArgumentError(absl::StrCat("no iteration ", place.iteration, " of run ", place.run,
                                                       "; entry ", entry, " has ", known.size(), " runs"));
      const Configuration &configuration = executable.configurations[size_t(known[size_t(place.run)].configuration)];
      if (place.role < 0 || place.role >= int(configuration.roles.size()))
        return absl::InvalidArgumentError(
            absl::StrCat("no role ", place.role, "; there are ", configuration.roles.size()));
      const Lattice &lattice = configuration.roles[size_t(place.role)].cores;
      for (int d = 0; d < kMaxDims; ++d)
        if (place.index[d] < 0 || place.index[d] >= lattice.dims[d].count)
          return absl::InvalidArgumentError(
              absl::StrCat("role ", place.role, " has no core with index ", place.index[d], " in dimension ", d));
      CoreTrace *&slot = recorded[{place.run, place.iteration}][{place.role, latticeOrdinal(lattice, place.index)}];
      if (!slot)
        slot = &traces[i];
      same[i] = size_t(slot - traces.data());
    }
    auto result = runEntry(entry, inputs, recorded);
    if (!result.ok())
      return result.status();
    outputs = std::move(*result);
    for (size_t i = 0; i < cores.size(); ++i)
      if (same[i] != i)
        traces[i] = traces[same[i]];
    return traces;
  }

private:
  absl::Status checkNumber(int number) const {
    if (number >= 0 && number < int(executable.configurations.size()))
      return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("no configuration ", number, "; there are ", executable.configurations.size()));
  }

  using Timed = std::shared_ptr<PreparedConfiguration>;

  // Streams for their time only. They are found again when they are needed, beyond so many.
  void keep(int number, const Timed &made) {
    const std::lock_guard lock(timedMutex);
    if (timed[size_t(number)])
      return;
    timed[size_t(number)] = made;
    kept.push_back(number);
    const auto endsOf = [&](int c) {
      return timed[size_t(c)] ? int64_t(timed[size_t(c)]->networks.streamTable.size()) : 0;
    };
    int64_t ends = 0;
    for (int c : kept)
      ends += endsOf(c);
    while (kept.size() > 1 && ends > kMostKeptEnds) {
      ends -= endsOf(kept.front());
      timed[size_t(kept.front())].reset();
      kept.pop_front();
    }
  }

  // Ready to run, by this engine or another one of the executable.
  absl::Status prepare(int number) {
    if (absl::Status status = checkNumber(number); !status.ok())
      return status;
    PreparedStore::Prepared &ready = runnable[size_t(number)];
    if (ready)
      return absl::OkStatus();
    auto found = prepared->get(number, options.schedule, [&]() -> absl::StatusOr<PreparedStore::Prepared> {
      auto made = std::make_shared<PreparedConfiguration>();
      if (Timed &known = timed[size_t(number)]) {
        *made = std::move(*known);
        known.reset();
        kept.erase(std::find(kept.begin(), kept.end(), number));
      } else if (absl::Status status = resolveStreams(executable, number, *made); !status.ok()) {
        return status;
      }
      if (absl::Status status = makeSchedule(*made, kernels, options.schedule); !status.ok())
        return status;
      return made;
    });
    if (!found.ok())
      return found.status();
    ready = *std::move(found);
    return absl::OkStatus();
  }

  // Order of the entry's runs, and every binding against the entry's tensors.
  absl::Status prepareEntry(int number) {
    const Entry &entry = executable.entries[number];
    absl::StatusOr<std::vector<int32_t>> steps = orderedSteps(entry);
    if (!steps.ok())
      return steps.status();
    std::vector<EntryRun> order;
    for (int32_t s : *steps)
      if (entry.steps[size_t(s)].kind == StepKind::Run)
        order.push_back(
            {entry.steps[size_t(s)].configuration, entry.steps[size_t(s)].count, entry.steps[size_t(s)].first});
    std::set<int32_t> checked;
    for (const EntryRun &run : order) {
      const int32_t c = run.configuration;
      if (!checked.insert(c).second)
        continue;
      const std::vector<ElementType> types = bindingTypes(executable, c);
      for (const IoBinding &binding : executable.configurations[c].io) {
        const auto &tensors = binding.output ? entry.outputs : entry.inputs;
        if (binding.tensor < 0 || binding.tensor >= int(tensors.size()))
          return absl::InvalidArgumentError(absl::StrCat("entry ", entry.name, ": an io binding names tensor ",
                                                         binding.tensor, ", there are ", tensors.size()));
        const size_t b = size_t(&binding - executable.configurations[c].io.data());
        if (tensors[binding.tensor].type != types[b])
          return absl::InvalidArgumentError(
              absl::StrCat("entry ", entry.name, ": tensor ", tensors[binding.tensor].name,
                           " has another element type than in the first entry that runs this configuration"));
        absl::Status status;
        forEachPoint(binding.ports, [&](const LatticeIndex &index, int32_t, int32_t) {
          status = checkLane(binding, index, tensors[binding.tensor].type, tensors[binding.tensor].elements()).status();
          return status.ok();
        });
        if (!status.ok())
          return status;
      }
    }
    std::vector<bool> again(order.size());
    std::set<int32_t> later;
    for (size_t r = order.size(); r-- > 0;)
      again[r] = !later.insert(order[r].configuration).second;
    comeAgain.push_back(std::move(again));
    std::vector<std::vector<int32_t>> used;
    for (const EntryRun &run : order)
      used.push_back(residentsOf(executable.configurations[size_t(run.configuration)]));
    // After its last run a resident holds nothing.
    std::vector<std::vector<int32_t>> ends(order.size());
    std::set<int32_t> ended;
    for (size_t r = order.size(); r-- > 0;)
      for (int32_t resident : used[r])
        if (ended.insert(resident).second)
          ends[r].push_back(resident);
    residentEnds.push_back(std::move(ends));
    residentsUsed.push_back(std::move(used));
    entryRuns.push_back(std::move(order));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<HostTensor>> runEntry(int number, std::span<const HostView> inputs,
                                                   const Recorded &recorded) {
    if (number < 0 || number >= int(executable.entries.size()))
      return absl::InvalidArgumentError(absl::StrCat("no entry ", number, "; there are ", executable.entries.size()));
    const Entry &entry = executable.entries[number];
    if (inputs.size() != entry.inputs.size())
      return absl::InvalidArgumentError(
          absl::StrCat("entry ", entry.name, " takes ", entry.inputs.size(), " inputs, ", inputs.size(), " given"));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int64_t bytes = entry.inputs[i].elements() * elementBytes(entry.inputs[i].type);
      if (int64_t(inputs[i].size()) != bytes)
        return absl::InvalidArgumentError(
            absl::StrCat("input ", entry.inputs[i].name, " needs ", bytes, " bytes, ", inputs[i].size(), " given"));
    }
    std::vector<HostTensor> outputs;
    for (const TensorType &type : entry.outputs)
      outputs.push_back({std::vector<std::byte>(size_t(type.elements() * elementBytes(type.type)))});
    for (size_t r = 0; r < entryRuns[size_t(number)].size(); ++r) {
      const absl::Status status = runOne(number, r, inputs, outputs, recorded);
      residents.forget(residentEnds[size_t(number)][r]);
      if (status.ok())
        continue;
      for (const std::vector<int32_t> &ends : residentEnds[size_t(number)])
        residents.forget(ends);
      return status;
    }
    return outputs;
  }

  absl::Status runOne(int entry, size_t number, std::span<const HostView> inputs, std::vector<HostTensor> &outputs,
                      const Recorded &recorded) {
    const EntryRun &run = entryRuns[size_t(entry)][number];
    if (absl::Status status = prepare(run.configuration); !status.ok())
      return status;
    const PreparedConfiguration &configuration = *runnable[size_t(run.configuration)];
    if (absl::Status status = residents.need(configuration.residents); !status.ok())
      return status;
    if (absl::Status status = states.attach(run.configuration, configuration.residents); !status.ok())
      return status;
    for (int32_t i = 0; i < run.count; ++i) {
      static const TraceMap kNone;
      const auto found = recorded.find({int32_t(number), i});
      const bool comesAgain = i + 1 < run.count || comeAgain[size_t(entry)][number];
      SampleContext context{configuration, kernels,       states,
                            residents,     run.first + i, comesAgain,
                            inputs,        outputs,       found == recorded.end() ? kNone : found->second};
      absl::Status status = configuration.waves               ? waves.run(context)
                            : configuration.schedule.possible ? units.run(context)
                                                              : runWorklist(context);
      if (!status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  const Executable &executable;
  const CoreEngineOptions options;
  const Kernels &kernels;
  ResidentStore residents;
  mutable StateStore states;
  UnitRunner units;
  WaveRunner waves;
  std::vector<PreparedStore::Prepared> runnable; // per configuration; null until it runs
  std::mutex timedMutex;                         // of the two below
  std::vector<Timed> timed;                      // per configuration: streams only, for its time
  std::deque<int> kept;                          // those of `timed`, in the order in which they were made
  std::shared_ptr<PreparedStore> prepared;
  std::vector<std::vector<EntryRun>> entryRuns; // per entry
  std::vector<std::vector<bool>> comeAgain;     // per entry and run: whether a later one is of the same configuration
  std::vector<std::vector<std::vector<int32_t>>> residentsUsed; // per entry and run
  std::vector<std::vector<std::vector<int32_t>>> residentEnds;  // per entry and run: those that no later run uses
};

} // namespace

std::shared_ptr<PreparedStore> makePreparedStore() { return std::make_shared<PreparedStore>(); }

absl::StatusOr<std::unique_ptr<CoreEngine>> CoreEngine::create(const Executable &executable,
                                                               const CoreEngineOptions &options) {
  auto engine = std::make_unique<Engine>(executable, options);
  if (absl::Status status = engine->prepareAll(); !status.ok())
    return status;
  return engine;
}

} // namespace wsc::emulator
