// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/timing/Phases.h"

#include "runtime/format/MemoryMap.h"
#include "runtime/timing/Cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace wsc::timing {

namespace {

/// What roles with the same code have in common: all of their instructions but affine numbers.
std::vector<int64_t> sharedCode(const format::Role &role) {
  std::vector<int64_t> code;
  auto add = [&](auto... numbers) { (code.push_back(int64_t(numbers)), ...); };
  auto addOperand = [&](const format::Operand &operand) {
    add(operand.kind, std::bit_cast<int64_t>(operand.immediate));
    if (operand.buffer >= 0)
      add(role.buffers[size_t(operand.buffer)].address);
    if (operand.queue >= 0) {
      const format::Queue &queue = role.queues[size_t(operand.queue)];
      add(queue.output, queue.colour, queue.index);
    }
    for (int d = 0; d < format::kMaxDims; ++d)
      add(operand.stride[size_t(d)], operand.loopStep[size_t(d)]);
  };
  for (const format::Thread &thread : role.threads) {
    add(thread.size());
    for (const format::Instruction &instruction : thread) {
      add(instruction.opcode, instruction.type, instruction.sourceType, instruction.controlCount, instruction.priority,
          instruction.mixed);
      for (const format::Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        addOperand(*operand);
    }
  }
  return code;
}

/// The affine numbers of a role's instructions.
std::vector<format::Affine> placesOf(const format::Role &role) {
  std::vector<format::Affine> places;
  for (const format::Thread &thread : role.threads)
    for (const format::Instruction &instruction : thread) {
      for (const format::Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        places.push_back(operand->base);
      places.insert(places.end(), instruction.extent.begin(), instruction.extent.end());
    }
  return places;
}

void extend(ConfigurationWords &words, const format::Lattice &lattice) {
  int32_t row = lattice.row, col = lattice.col;
  for (const format::Lattice::Dim &dim : lattice.dims) {
    row += (dim.count - 1) * std::max(0, dim.rowStep);
    col += (dim.count - 1) * std::max(0, dim.colStep);
  }
  words.rows = std::max(words.rows, row + 1);
  words.cols = std::max(words.cols, col + 1);
}

} // namespace

ConfigurationWords configurationWords(const target::Target &target, const format::Configuration &configuration) {
  const auto wordsOf = [](int64_t bytes) { return (bytes + 3) / 4; };
  ConfigurationWords words;
  std::map<std::vector<int64_t>, const format::Role *> seen; // the first one of those that share code
  for (const format::Role &role : configuration.roles) {
    const int64_t code = wordsOf(format::codeBytes(target, role));
    words.largestCode = std::max(words.largestCode, code);
    auto [first, isNew] = seen.try_emplace(sharedCode(role), &role);
    if (isNew) {
      words.code += code;
    } else {
      const std::vector<format::Affine> places = placesOf(role), others = placesOf(*first->second);
      for (size_t i = 0; i < places.size(); ++i)
        words.code += places[i] != others[i];
    }
    extend(words, role.cores);
  }
  for (const format::RouterRole &router : configuration.routers) {
    words.routes += wordsOf(int64_t(router.positions.size()) * target.routerSettingBytes);
    extend(words, router.routers);
  }
  return words;
}

int64_t configurationCycles(const target::Target &target, const ConfigurationWords &words) {
  const auto cyclesOf = [](int64_t count, double perCycle) { return int64_t(std::ceil(double(count) / perCycle)); };
  const int64_t writing = std::max(cyclesOf(words.largestCode, target.configurationWordsPerCycle),
                                   cyclesOf(words.code + words.routes, target.ioWordsPerCycle()));
  return writing +
         int64_t(target.configurationRoundTrips) * 2 * (int64_t(words.rows) + words.cols) * target.hopLatencyCycles;
}

int64_t predictedCycles(const format::Executable &executable, const format::Entry &entry) {
  int64_t cycles = 0;
  for (const format::Step &step : entry.steps) {
    const format::Configuration &configuration = executable.configurations[size_t(step.configuration)];
    if (step.kind == format::StepKind::Configure)
      cycles += configurationCycles(executable.target, configurationWords(executable.target, configuration));
    else
      for (const format::Kernel &kernel : configuration.kernels)
        cycles += step.count * kernel.predictedIntervalCycles;
  }
  return cycles;
}

int64_t repeatedConfigurationCycles(const format::Executable &executable) {
  int64_t cycles = 0;
  std::set<int32_t> seen;
  for (const format::Entry &entry : executable.entries)
    for (const format::Step &step : entry.steps)
      if (step.kind == format::StepKind::Configure && !seen.insert(step.configuration).second)
        cycles += configurationCycles(
            executable.target,
            configurationWords(executable.target, executable.configurations[size_t(step.configuration)]));
  return cycles;
}

} // namespace wsc::timing
