// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/timing/Phases.h"

#include "runtime/format/MemoryMap.h"

#include <algorithm>
#include <cmath>

namespace wsc::timing {

namespace {

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
  for (const format::Role &role : configuration.roles) {
    const int64_t code = wordsOf(format::codeBytes(target, role));
    words.largestCode = std::max(words.largestCode, code);
    words.code += code;
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

} // namespace wsc::timing
