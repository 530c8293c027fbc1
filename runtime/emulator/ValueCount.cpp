// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Roles with the same extents everywhere are counted once and multiplied by their size.
#include "runtime/emulator/ValueCount.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/QueueTraffic.h"

namespace wsc::emulator {

using namespace format;

namespace {

int64_t coreMacs(const Role &role, const LatticeIndex &index) {
  int64_t macs = 0;
  for (const Thread &thread : role.threads) {
    std::vector<int64_t> trips{1};
    for (const Instruction &instruction : thread) {
      if (instruction.opcode == Opcode::Loop)
        trips.push_back(trips.back() * std::max<int64_t>(0, instruction.extent[0].at(index)));
      else if (instruction.opcode == Opcode::EndLoop)
        trips.pop_back();
      else if (instruction.opcode == Opcode::Fma)
        macs += trips.back() * instructionElements(instruction, index);
    }
  }
  return macs;
}

} // namespace

ValueCounters countValues(const Executable &executable, std::span<const EntryRun> runs) {
  const target::Target &target = executable.target;
  ValueCounters counters;
  std::vector<bool> used(size_t(target.numCores()), false);
  for (const EntryRun &run : runs) {
    const Configuration *configuration = &executable.configurations[size_t(run.configuration)];
    const size_t base = counters.kernelMacs.size();
    counters.kernelMacs.resize(base + configuration->kernels.size(), 0);
    for (const Role &role : configuration->roles) {
      const bool uniform = trafficIsUniform(role);
      const int64_t common = uniform ? coreMacs(role, LatticeIndex{}) : 0;
      if (uniform && common == 0)
        continue;
      int64_t macs = 0;
      forEachPoint(role.cores, [&](const LatticeIndex &index, int32_t row, int32_t col) {
        const int64_t here = uniform ? common : coreMacs(role, index);
        macs += here;
        if (here > 0 && row >= 0 && row < target.rows && col >= 0 && col < target.cols)
          used[size_t(row) * target.cols + col] = true;
        return true;
      });
      macs *= run.count;
      counters.macs += macs;
      if (role.kernel >= 0 && role.kernel < int32_t(configuration->kernels.size()))
        counters.kernelMacs[base + role.kernel] += macs;
    }
  }
  for (bool core : used)
    counters.coresFma += core;
  return counters;
}

} // namespace wsc::emulator
