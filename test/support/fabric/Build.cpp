// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays out routers, ports and cores of a configuration, one object each, and joins them by queues.
#include "test/support/fabric/Fabric.h"

#include "runtime/emulator/Interpreter.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace wsc::fabric {

using namespace format;

namespace {

template <typename Visit> void forEachPoint(const Lattice &lattice, Visit visit) {
  LatticeIndex index{};
  for (index[0] = 0; index[0] < lattice.dims[0].count; ++index[0])
    for (index[1] = 0; index[1] < lattice.dims[1].count; ++index[1])
      for (index[2] = 0; index[2] < lattice.dims[2].count; ++index[2])
        for (index[3] = 0; index[3] < lattice.dims[3].count; ++index[3]) {
          int32_t row = lattice.row, col = lattice.col;
          for (size_t d = 0; d < kMaxDims; ++d) {
            row += index[d] * lattice.dims[d].rowStep;
            col += index[d] * lattice.dims[d].colStep;
          }
          visit(index, row, col);
        }
}

class Builder {
public:
  Builder(const Executable &executable, const Configuration &configuration, const Entry &entry, Fabric &fabric)
      : target(executable.target), executable(executable), configuration(configuration), entry(entry), fabric(fabric) {}

  absl::Status build(const std::vector<std::vector<emulator::HostTensor>> &inputs) {
    fabric.samples = int(inputs.size());
    fabric.ioRate = std::llround(target.ioWordsPerCycle() * (1 << 20));
    buildRouters();
    if (absl::Status status = buildCores(); !status.ok())
      return status;
    if (absl::Status status = buildPorts(inputs); !status.ok())
      return status;
    return join();
  }

private:
  const target::Target &target;
  const Executable &executable;
  const Configuration &configuration;
  const Entry &entry;
  Fabric &fabric;

  bool inMesh(int32_t row, int32_t col) const { return row >= 0 && row < target.rows && col >= 0 && col < target.cols; }
  size_t at(int32_t row, int32_t col) const { return size_t(row) * size_t(target.cols) + size_t(col); }
  // Null: no settings.
  RouterColour *find(int32_t row, int32_t col, int colour) const {
    for (RouterColour &candidate : fabric.routers[at(row, col)].colours)
      if (candidate.colour == colour)
        return &candidate;
    return nullptr;
  }

  void buildRouters() {
    for (int32_t row = 0; row < target.rows; ++row)
      for (int32_t col = 0; col < target.cols; ++col)
        fabric.routers.push_back({row, col, 0, {}});
    for (const RouterRole &role : configuration.routers)
      forEachPoint(role.routers, [&](const LatticeIndex &, int32_t row, int32_t col) {
        RouterColour colour;
        colour.colour = role.colour;
        colour.positions = &role.positions;
        for (WordQueue &queue : colour.in)
          queue = WordQueue(target.routerQueueWords, target.hopLatencyCycles, target.creditLatencyCycles);
        fabric.routers[at(row, col)].colours.push_back(std::move(colour));
      });
    for (Router &router : fabric.routers)
      std::sort(router.colours.begin(), router.colours.end(),
                [](const RouterColour &a, const RouterColour &b) { return a.colour < b.colour; });
  }

  absl::Status buildCores() {
    absl::Status status;
    for (const Role &role : configuration.roles)
      forEachPoint(role.cores, [&](const LatticeIndex &index, int32_t row, int32_t col) {
        Core core;
        core.executable = &executable;
        core.role = &role;
        core.index = index;
        core.row = core.stalls.row = row;
        core.col = core.stalls.col = col;
        auto image = emulator::initialImage(executable, role, index);
        if (!image.ok()) {
          status = image.status();
          return;
        }
        core.memory = std::make_unique<emulator::CoreMemory>(role, *std::move(image));
        for (const Queue &queue : role.queues)
          status.Update(bindQueue(core, queue));
        core.sampleDone.assign(size_t(fabric.samples), 0);
        for (const Thread &code : role.threads) {
          ThreadState thread;
          thread.code = &code;
          thread.finished = fabric.samples == 0;
          core.threads.push_back(thread);
        }
        fabric.cores.push_back(std::move(core));
      });
    std::sort(fabric.cores.begin(), fabric.cores.end(),
              [](const Core &a, const Core &b) { return std::pair(a.row, a.col) < std::pair(b.row, b.col); });
    return status;
  }

  absl::Status bindQueue(Core &core, const Queue &queue) {
    RouterColour *colour = find(core.row, core.col, queue.colour);
    if (!colour)
      return absl::InvalidArgumentError(absl::StrCat("core (", core.row, ", ", core.col, ") has a queue of colour ",
                                                     int(queue.colour), ", its router none"));
    if (queue.output) {
      WordQueue &ramp = colour->in[size_t(Port::Ramp)];
      ramp = WordQueue(target.outputQueueWords[queue.index] + target.rampLatencyCycles, 1 + target.rampLatencyCycles,
                       target.creditLatencyCycles);
      core.outputs.push_back(&ramp);
      core.inputs.push_back(nullptr);
    } else {
      core.outputs.push_back(nullptr);
      core.inputs.push_back(std::make_unique<WordQueue>(target.inputQueueWords[queue.index] + target.rampLatencyCycles,
                                                        target.rampLatencyCycles, target.creditLatencyCycles));
      colour->out[size_t(Port::Ramp)].queue = core.inputs.back().get();
      const int64_t begin = queue.filter.begin.at(core.index);
      colour->filter = {queue.filter.period, begin, begin + queue.filter.words.at(core.index)};
    }
    return absl::OkStatus();
  }

  absl::Status buildPorts(const std::vector<std::vector<emulator::HostTensor>> &inputs) {
    absl::Status status;
    for (const IoBinding &binding : configuration.io)
      forEachPoint(binding.ports, [&](const LatticeIndex &index, int32_t row, int32_t col) {
        WaferPort port;
        port.binding = &binding;
        port.index = index;
        port.type = (binding.output ? entry.outputs : entry.inputs)[size_t(binding.tensor)].type;
        port.router = int(at(row, col));
        int64_t elements = 1;
        for (const Affine &extent : binding.extent)
          elements *= extent.at(index);
        port.wordsPerSample = timing::fabricWords(port.type, elements);
        RouterColour *colour = find(row, col, binding.colour);
        if (!colour) {
          status = absl::InvalidArgumentError(
              absl::StrCat("a port of colour ", int(binding.colour), " at a router without it"));
          return;
        }
        if (binding.output)
          colour->out[size_t(binding.side)].port = int(fabric.ports.size());
        else
          port.queue = &colour->in[size_t(binding.side)];
        if (!binding.output)
          for (const auto &sample : inputs)
            for (uint32_t word : wordsOf(port, sample[size_t(binding.tensor)]))
              port.words.push_back(word);
        fabric.ports.push_back(std::move(port));
      });
    return status;
  }

  absl::Status join() {
    constexpr int32_t rowStep[] = {-1, 1, 0, 0}, colStep[] = {0, 0, 1, -1};
    constexpr Port opposite[] = {Port::South, Port::North, Port::West, Port::East};
    for (Router &router : fabric.routers)
      for (RouterColour &colour : router.colours)
        for (const SwitchPosition &position : *colour.positions)
          for (size_t side = 0; side < kNumPorts; ++side) {
            Output &output = colour.out[side];
            if (!(position.outputs >> side & 1) || output.queue || output.port >= 0)
              continue;
            if (side != size_t(Port::Ramp)) {
              const int32_t row = router.row + rowStep[side], col = router.col + colStep[side];
              if (RouterColour *next = inMesh(row, col) ? find(row, col, colour.colour) : nullptr)
                output.queue = &next->in[size_t(opposite[side])];
            }
            if (!output.queue)
              return absl::InvalidArgumentError(absl::StrCat("router (", router.row, ", ", router.col, "), colour ",
                                                             colour.colour, ": its output ", side, " leads nowhere"));
          }
    return absl::OkStatus();
  }
};

} // namespace

absl::StatusOr<std::unique_ptr<Fabric>> buildFabric(const Executable &executable, int entry,
                                                    const std::vector<std::vector<emulator::HostTensor>> &inputs) {
  auto fabric = std::make_unique<Fabric>();
  fabric->executable = &executable;
  fabric->entry = &executable.entries[size_t(entry)];
  for (const Step &step : fabric->entry->steps)
    if (step.kind == StepKind::Run) {
      if (fabric->configuration)
        return absl::InvalidArgumentError(
            absl::StrCat("entry ", fabric->entry->name, " runs more than one configuration"));
      fabric->configuration = &executable.configurations[size_t(step.configuration)];
    }
  if (!fabric->configuration)
    return absl::InvalidArgumentError(absl::StrCat("entry ", fabric->entry->name, " runs no configuration"));
  if (absl::Status status = Builder(executable, *fabric->configuration, *fabric->entry, *fabric).build(inputs);
      !status.ok())
    return status;
  return fabric;
}

} // namespace wsc::fabric
