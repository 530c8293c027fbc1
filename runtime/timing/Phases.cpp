// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/timing/Phases.h"

#include "runtime/format/MemoryMap.h"

#include <algorithm>
#include <cmath>

namespace wsc::timing {

ConfigurationWords configurationWords(const target::Target &target, const format::Configuration &configuration) {
  const auto wordsOf = [](int64_t bytes) { return (bytes + 3) / 4; };
  ConfigurationWords words;
  for (const format::Role &role : configuration.roles) {
    const int64_t code = wordsOf(format::codeBytes(target, role));
    words.largestCode = std::max(words.largestCode, code);
    words.code += code;
  }
  for (const format::RouterRole &router : configuration.routers)
    words.routes += wordsOf(int64_t(router.positions.size()) * target.routerSettingBytes);
  return words;
}

int64_t configurationCycles(const target::Target &target, const ConfigurationWords &words) {
  const auto cyclesOf = [](int64_t count, double perCycle) { return int64_t(std::ceil(double(count) / perCycle)); };
  const int64_t writing = std::max(cyclesOf(words.largestCode, target.configurationWordsPerCycle),
                                   cyclesOf(words.code + words.routes, target.ioWordsPerCycle()));
  return writing +
         int64_t(target.configurationRoundTrips) * 2 * (int64_t(target.rows) + target.cols) * target.hopLatencyCycles;
}

} // namespace wsc::timing
