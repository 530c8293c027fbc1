// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What changing the configuration of a wafer costs: the rule that sizing of phases, sessions and reports share.
//
// All cores come to rest; the code of every role enters through the I/O ports and spreads to its cores, every core
// writing its own; routers are set; all start. Tensors stay where they are. Cycles:
//   max(code words of the largest core / configurationWordsPerCycle, words of all roles' code and routers' settings /
//   ioWordsPerCycle)
//   + configurationRoundTrips · 2 · (rows + columns) · hopLatency.
#pragma once

#include "runtime/format/Executable.h"
#include "runtime/target/Target.h"

#include <cstdint>

namespace wsc::timing {

// 32-bit words that a configuration brings along.
struct ConfigurationWords {
  int64_t largestCode = 0; // of one core: instructions and descriptors
  int64_t code = 0;        // of all roles, each once
  int64_t routes = 0;      // of all router roles' switch positions, each once
};
ConfigurationWords configurationWords(const target::Target &target, const format::Configuration &configuration);

int64_t configurationCycles(const target::Target &target, const ConfigurationWords &words);

} // namespace wsc::timing
