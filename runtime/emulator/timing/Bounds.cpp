// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/timing/Bounds.h"

#include <cmath>

namespace wsc::emulator::timing {

using namespace format;

namespace {

// What a thread needs for a sample when it never waits; the cores of a unit that send one after another need it
// together.
int64_t alone(const Model &model, const Process &process) {
  const Unit &unit = model.units[process.unit];
  const ThreadProgram &program = model.program(process);
  std::vector<int64_t> times{1};
  int64_t sum = program.tail + program.carry;
  for (const Item &item : program.items) {
    if (item.kind == ItemKind::LoopBegin) {
      times.push_back(times.back() * item.trips);
    } else if (item.kind == ItemKind::LoopEnd) {
      times.pop_back();
    } else {
      const int64_t cores = item.out.slot >= 0 ? model.slots[unit.firstSlot + item.out.slot].cores : 1;
      sum += times.back() *
             (item.before + item.setup +
              std::max(item.stream + item.controls, cores > 1 && item.out.count > 0 ? item.turnsOf(cores, false) : 0));
    }
  }
  return sum;
}

} // namespace

Bounds findBounds(const Executable &executable, const Configuration &configuration, const Networks &networks,
                  const Model &model) {
  Bounds bounds;
  bounds.kernels.resize(configuration.kernels.size());
  for (size_t u = 0; u < model.units.size(); ++u) {
    const Unit &unit = model.units[u];
    if (unit.role < 0)
      continue;
    int64_t interval = unit.busy;
    for (int32_t t = 0; t < unit.numProcesses; ++t) {
      const Process &process = model.processes[unit.firstProcess + t];
      interval = std::max(interval, alone(model, process));
      const ThreadProgram &program = model.program(process);
      bounds.macs += double(program.fmaElements) * unit.cores;
      bounds.fmaCycles += program.fmaCycles * unit.cores;
    }
    if (unit.busy > bounds.busiest) {
      bounds.busiest = unit.busy;
      bounds.busyUnit = int32_t(u);
    }
    if (interval > bounds.slowest) {
      bounds.slowest = interval;
      bounds.slowUnit = int32_t(u);
    }
    if (unit.kernel >= 0 && unit.kernel < int32_t(bounds.kernels.size())) {
      KernelTiming &kernel = bounds.kernels[unit.kernel];
      kernel.busyCycles = std::max(kernel.busyCycles, unit.busy);
      kernel.fmaCycles = std::max(kernel.fmaCycles, unit.fma);
      kernel.intervalCycles = std::max(kernel.intervalCycles, interval);
    }
  }
  bounds.links = linkLoad(executable.target, configuration, networks);
  bounds.io = int64_t(std::ceil(double(model.inputWords + model.outputWords) / executable.target.ioWordsPerCycle()));
  return bounds;
}

} // namespace wsc::emulator::timing
