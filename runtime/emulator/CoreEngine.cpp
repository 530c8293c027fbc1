// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engine's front: prepares every configuration (streams, programs, schedule) once, walks an entry's steps per sample, keeps state.
#include "runtime/emulator/CoreEngine.h"

#include "runtime/emulator/EngineParts.h"
#include "runtime/emulator/HostWords.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/emulator/ValueCount.h"

#include "absl/strings/str_cat.h"

#include <cstdlib>

namespace wsc::emulator {

using namespace format;

namespace {

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

absl::StatusOr<std::unique_ptr<PreparedConfiguration>> prepare(const Executable &executable, int number, const Kernels &kernels,
                                                               Schedule wanted) {
  auto prepared = std::make_unique<PreparedConfiguration>();
  const Configuration &configuration = executable.configurations[number];
  prepared->executable = &executable;
  prepared->configuration = &configuration;
  prepared->bindingTypes = bindingTypes(executable, number);
  absl::StatusOr<Networks> networks = resolveNetworks(executable.target, configuration, prepared->bindingTypes);
  if (!networks.ok())
    return networks.status();
  prepared->networks = std::move(*networks);
  std::vector<double> cost;
  for (size_t r = 0; r < configuration.roles.size(); ++r) {
    absl::StatusOr<RoleProgram> program =
        decodeRole(configuration.roles[r], sharedQueues(configuration, int32_t(r), prepared->networks), kernels);
    if (!program.ok())
      return program.status();
    cost.push_back(program->cost);
    prepared->programs.push_back(std::move(*program));
  }
  if (wanted == Schedule::Worklist) {
    prepared->schedule.possible = false;
    return prepared;
  }
  prepared->schedule = scheduleUnits(configuration, prepared->networks, cost);
  const UnitSchedule &schedule = prepared->schedule;
  prepared->levelBundles.push_back(0);
  for (size_t level = 0; level + 1 < schedule.levelBegin.size(); ++level) {
    double total = 0, bundle = 0;
    uint32_t begin = schedule.levelBegin[level];
    for (uint32_t t = begin; t < schedule.levelBegin[level + 1]; ++t) {
      total += schedule.tasks[t].cost;
      bundle += schedule.tasks[t].cost;
      if (bundle >= kBundleNanoseconds || t + 1 == schedule.levelBegin[level + 1]) {
        prepared->bundles.push_back({begin, t + 1});
        begin = t + 1;
        bundle = 0;
      }
    }
    prepared->levelBundles.push_back(uint32_t(prepared->bundles.size()));
    prepared->levelIsSmall.push_back(total < kSmallLevelNanoseconds);
  }
  return prepared;
}

class Engine final : public CoreEngine {
public:
  Engine(const Executable &executable, const CoreEngineOptions &options)
      : executable(executable), options(options), kernels(emulator::kernels(cpuLevel())), states(executable), runner(options.threads) {}

  absl::Status prepareAll() {
    for (size_t c = 0; c < executable.configurations.size(); ++c) {
      auto prepared = prepare(executable, int(c), kernels, options.schedule);
      if (!prepared.ok())
        return prepared.status();
      configurations.push_back(std::move(*prepared));
    }
    for (size_t e = 0; e < executable.entries.size(); ++e)
      if (absl::Status status = prepareEntry(int(e)); !status.ok())
        return status;
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<HostTensor>> run(int entry, std::span<const HostTensor> inputs) override { return runEntry(entry, inputs, {}); }

  ValueCounters counters(int entry) const override {
    if (entry < 0 || entry >= int(runOrder.size()))
      return {};
    std::vector<const Configuration *> list;
    for (int c : runOrder[entry])
      list.push_back(&executable.configurations[c]);
    return countValues(executable.target, list);
  }

  HostTensor readState(int state) const override {
    if (state < 0 || state >= int(executable.states.size()))
      return {};
    return states.read(state);
  }
  absl::Status writeState(int state, const HostTensor &value) override {
    if (state < 0 || state >= int(executable.states.size()))
      return absl::InvalidArgumentError(absl::StrCat("no state variable ", state, "; there are ", executable.states.size()));
    return states.write(state, value);
  }

  const Networks &networks(int configuration) const override { return configurations[configuration]->networks; }

  absl::StatusOr<std::vector<CoreTrace>> runTraced(int entry, std::span<const HostTensor> inputs,
                                                   std::span<const std::pair<int32_t, LatticeIndex>> cores,
                                                   std::vector<HostTensor> &outputs) override {
    std::vector<CoreTrace> traces(cores.size());
    TraceMap map;
    std::vector<size_t> same(cores.size()); // a core asked for twice is recorded once
    std::map<std::pair<int32_t, int64_t>, size_t> seen;
    if (entry < 0 || entry >= int(runOrder.size()) || runOrder[entry].size() != 1)
      return absl::UnimplementedError("cores can be traced in entries that run one configuration once");
    const Configuration &configuration = executable.configurations[runOrder[entry][0]];
    for (size_t i = 0; i < cores.size(); ++i) {
      const auto &[role, index] = cores[i];
      if (role < 0 || role >= int(configuration.roles.size()))
        return absl::InvalidArgumentError(absl::StrCat("no role ", role, "; there are ", configuration.roles.size()));
      for (int d = 0; d < kMaxDims; ++d)
        if (index[d] < 0 || index[d] >= configuration.roles[role].cores.dims[d].count)
          return absl::InvalidArgumentError(absl::StrCat("role ", role, " has no core with index ", index[d], " in dimension ", d));
      const std::pair<int32_t, int64_t> key{role, latticeOrdinal(configuration.roles[role].cores, index)};
      same[i] = seen.try_emplace(key, i).first->second;
      map[key] = &traces[same[i]];
    }
    auto result = runEntry(entry, inputs, map);
    if (!result.ok())
      return result.status();
    outputs = std::move(*result);
    for (size_t i = 0; i < cores.size(); ++i)
      if (same[i] != i)
        traces[i] = traces[same[i]];
    return traces;
  }

private:
  // Order of the entry's run steps, and every binding against the entry's tensors.
  absl::Status prepareEntry(int number) {
    const Entry &entry = executable.entries[number];
    std::vector<int> order;
    std::vector<bool> done(entry.steps.size(), false);
    for (size_t left = entry.steps.size(); left > 0;) {
      const size_t before = left;
      for (size_t s = 0; s < entry.steps.size(); ++s) {
        bool ready = !done[s];
        for (int32_t after : entry.steps[s].after)
          ready = ready && done[after];
        if (!ready)
          continue;
        done[s] = true;
        --left;
        if (entry.steps[s].kind == StepKind::Run)
          order.push_back(entry.steps[s].configuration);
      }
      if (left == before)
        return absl::InvalidArgumentError(absl::StrCat("entry ", entry.name, ": its steps wait for each other in a circle"));
    }
    for (int c : order)
      for (const IoBinding &binding : executable.configurations[c].io) {
        const auto &tensors = binding.output ? entry.outputs : entry.inputs;
        if (binding.tensor < 0 || binding.tensor >= int(tensors.size()))
          return absl::InvalidArgumentError(absl::StrCat("entry ", entry.name, ": an io binding names tensor ", binding.tensor, ", there are ",
                                                         tensors.size()));
        const size_t b = size_t(&binding - executable.configurations[c].io.data());
        if (tensors[binding.tensor].type != configurations[c]->bindingTypes[b])
          return absl::InvalidArgumentError(absl::StrCat("entry ", entry.name, ": tensor ", tensors[binding.tensor].name,
                                                         " has another element type than in the first entry that runs this configuration"));
        absl::Status status;
        forEachPoint(binding.ports, [&](const LatticeIndex &index, int32_t, int32_t) {
          status = checkLane(binding, index, tensors[binding.tensor].type, tensors[binding.tensor].elements()).status();
          return status.ok();
        });
        if (!status.ok())
          return status;
      }
    runOrder.push_back(std::move(order));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<HostTensor>> runEntry(int number, std::span<const HostTensor> inputs, const TraceMap &traces) {
    if (number < 0 || number >= int(executable.entries.size()))
      return absl::InvalidArgumentError(absl::StrCat("no entry ", number, "; there are ", executable.entries.size()));
    const Entry &entry = executable.entries[number];
    if (inputs.size() != entry.inputs.size())
      return absl::InvalidArgumentError(absl::StrCat("entry ", entry.name, " takes ", entry.inputs.size(), " inputs, ", inputs.size(), " given"));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int64_t bytes = entry.inputs[i].elements() * elementBytes(entry.inputs[i].type);
      if (int64_t(inputs[i].bytes.size()) != bytes)
        return absl::InvalidArgumentError(
            absl::StrCat("input ", entry.inputs[i].name, " needs ", bytes, " bytes, ", inputs[i].bytes.size(), " given"));
    }
    std::vector<HostTensor> outputs;
    for (const TensorType &type : entry.outputs)
      outputs.push_back({std::vector<std::byte>(size_t(type.elements() * elementBytes(type.type)))});
    for (int c : runOrder[number]) {
      states.attach(c);
      SampleContext context{*configurations[c], kernels, states, inputs, outputs, traces};
      absl::Status status = configurations[c]->schedule.possible ? runner.run(context) : runWorklist(context);
      if (!status.ok())
        return status;
    }
    return outputs;
  }

  const Executable &executable;
  const CoreEngineOptions options;
  const Kernels &kernels;
  mutable StateStore states;
  UnitRunner runner;
  std::vector<std::unique_ptr<PreparedConfiguration>> configurations;
  std::vector<std::vector<int>> runOrder; // per entry: configurations in the order of their run steps
};

} // namespace

absl::StatusOr<std::unique_ptr<CoreEngine>> CoreEngine::create(const Executable &executable, const CoreEngineOptions &options) {
  auto engine = std::make_unique<Engine>(executable, options);
  if (absl::Status status = engine->prepareAll(); !status.ok())
    return status;
  return engine;
}

} // namespace wsc::emulator
