// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units, processes and programs of a configuration. Programs are folded once per role, or once per distinct set of
// extents where those vary from row to row.
#include "runtime/emulator/timing/Model.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace wsc::emulator::timing {

using namespace format;

namespace {

// Extents that depend on the core, evaluated: cores with equal keys run for the same time.
std::vector<int64_t> programKey(const Role &role, const LatticeIndex &index) {
  std::vector<int64_t> key;
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread)
      for (const Affine &extent : instruction.extent)
        if (!extent.isConstant())
          key.push_back(extent.at(index));
  return key;
}

// A port's program: one train of `words` that takes `cycles`.
ThreadProgram portProgram(bool output, int64_t words, int64_t cycles) {
  ThreadProgram program;
  if (words == 0)
    return program;
  Item item;
  (output ? item.in[0] : item.out) = Access{0, words};
  item.stream = std::max(words, cycles);
  program.items.push_back(item);
  return program;
}

class UnitBuilder {
public:
  UnitBuilder(const Executable &executable, const Configuration &configuration, const Partition &partition,
              Model &model, UnitTable &table)
      : executable(executable), configuration(configuration), partition(partition), model(model), table(table) {
    table.firstCore = partition.firstCore;
    table.unitOfCore.reserve(partition.begins.size());
  }

  absl::Status roles() {
    for (size_t r = 0; r < configuration.roles.size(); ++r) {
      if (absl::Status status = role(int32_t(r)); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  // Ports share the I/O bandwidth in proportion to their words, inputs among inputs and outputs among outputs; that
  // both together fit is the bound on the interval that the analysis adds.
  void ports(std::span<const ElementType> types) {
    std::vector<std::vector<int64_t>> words(configuration.io.size());
    for (size_t b = 0; b < configuration.io.size(); ++b) {
      const IoBinding &binding = configuration.io[b];
      forEachPoint(binding.ports, [&](const LatticeIndex &index, int32_t, int32_t) {
        int64_t elements = 1;
        for (const Affine &extent : binding.extent)
          elements *= std::max<int64_t>(0, extent.at(index));
        words[b].push_back(wsc::timing::fabricWords(types[b], elements));
        (binding.output ? model.outputWords : model.inputWords) += words[b].back();
        return true;
      });
    }
    for (size_t b = 0; b < configuration.io.size(); ++b) {
      const IoBinding &binding = configuration.io[b];
      table.firstPort.push_back(int32_t(model.units.size()));
      const int64_t all = binding.output ? model.outputWords : model.inputWords;
      const auto shared = int64_t(std::ceil(double(all) / executable.target.ioWordsPerCycle()));
      std::map<int64_t, int32_t> programs;
      size_t ordinal = 0;
      forEachPoint(binding.ports, [&](const LatticeIndex &index, int32_t row, int32_t col) {
        const int64_t count = words[b][ordinal++];
        auto [found, added] = programs.try_emplace(count, int32_t(model.programs.size()));
        if (added)
          model.programs.push_back(portProgram(binding.output, count, shared));
        Unit unit;
        unit.binding = int32_t(b);
        unit.index = index;
        unit.row = row;
        unit.col = col;
        place(unit, 1, 1, found->second);
        return true;
      });
    }
  }

private:
  absl::Status role(int32_t r) {
    const Role &role = configuration.roles[r];
    table.queueThread.emplace_back(role.queues.size(), -1);
    for (size_t t = 0; t < role.threads.size(); ++t)
      for (const Instruction &instruction : role.threads[t])
        for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
          if (operand->kind == OperandKind::Queue)
            table.queueThread.back()[operand->queue] = int32_t(t);

    std::map<std::vector<int64_t>, int32_t> programs;
    const int64_t first = partition.firstCore[size_t(r)], past = partition.firstCore[size_t(r) + 1];
    for (int64_t core = first; core < past; core += model.units.back().cores) {
      Unit unit;
      unit.role = r;
      unit.kernel = role.kernel;
      unit.index = latticeIndex(role.cores, core - first);
      std::tie(unit.row, unit.col) = latticePosition(role.cores, unit.index);
      while (core + unit.cores < past && !partition.begins[size_t(core + unit.cores)])
        ++unit.cores;
      model.wholeRows |= unit.cores > 1;
      table.unitOfCore.insert(table.unitOfCore.end(), size_t(unit.cores), int32_t(model.units.size()));
      auto [found, added] = programs.try_emplace(programKey(role, unit.index), int32_t(model.programs.size()));
      if (added)
        for (size_t t = 0; t < role.threads.size(); ++t) {
          absl::StatusOr<ThreadProgram> program =
              foldThread(executable.target, role, int(t), unit.index, executable.execution != "phased");
          if (!program.ok())
            return program.status();
          model.programs.push_back(*std::move(program));
        }
      if (added)
        findContention(std::span(model.programs).subspan(size_t(found->second)), int32_t(role.queues.size()));
      place(unit, role.threads.size(), role.queues.size() + role.buffers.size(), found->second);
    }
    return absl::OkStatus();
  }

  void place(Unit unit, size_t threads, size_t slots, int32_t firstProgram) {
    unit.firstProcess = int32_t(model.processes.size());
    unit.numProcesses = int32_t(threads);
    unit.firstSlot = int32_t(model.slots.size());
    unit.numSlots = int32_t(slots);
    for (size_t t = 0; t < threads; ++t) {
      unit.busy += model.programs[firstProgram + t].slots;
      unit.fma += model.programs[firstProgram + t].fmaSlots;
      model.processes.push_back({int32_t(model.units.size()), int32_t(t), firstProgram + int32_t(t)});
    }
    model.slots.resize(model.slots.size() + slots);
    model.units.push_back(unit);
  }

  const Executable &executable;
  const Configuration &configuration;
  const Partition &partition;
  Model &model;
  UnitTable &table;
};

} // namespace

int32_t UnitTable::unitOf(const Configuration &configuration, const Endpoint &endpoint) const {
  if (endpoint.role < 0)
    return firstPort[endpoint.binding] +
           int32_t(latticeOrdinal(configuration.io[endpoint.binding].ports, endpoint.index));
  const int64_t ordinal = latticeOrdinal(configuration.roles[endpoint.role].cores, endpoint.index);
  return unitOfCore[size_t(firstCore[endpoint.role] + ordinal)];
}

absl::Status buildUnits(const Executable &executable, int configurationIndex, const Partition &partition, Model &model,
                        UnitTable &table) {
  const Configuration &configuration = executable.configurations[configurationIndex];
  UnitBuilder builder(executable, configuration, partition, model, table);
  if (absl::Status status = builder.roles(); !status.ok())
    return status;
  const std::vector<ElementType> types = bindingTypes(executable, configurationIndex);
  builder.ports(types);
  return absl::OkStatus();
}

absl::StatusOr<Model> buildModel(const Executable &executable, int configuration, const Networks &networks,
                                 bool splitAll) {
  const size_t numRoles = executable.configurations[configuration].roles.size();
  std::vector<bool> splitRoles(numRoles, splitAll);
  for (;;) { // each round splits at least one more role
    Model model;
    UnitTable table;
    const Partition partition = partitionCores(executable.configurations[configuration], networks, splitRoles);
    if (absl::Status status = buildUnits(executable, configuration, partition, model, table); !status.ok())
      return status;
    std::vector<int32_t> split;
    if (absl::Status status = buildChannels(executable, configuration, networks, table, model, split); !status.ok())
      return status;
    if (split.empty()) {
      findGathers(executable.target, model);
      findSharedLinks(executable.target, executable.configurations[configuration], networks, table, model);
      findLinkPriorities(model);
      return model;
    }
    for (int32_t role : split)
      splitRoles[role] = true;
  }
}

} // namespace wsc::emulator::timing
