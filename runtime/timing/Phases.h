// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What changing the configuration of a wafer costs: the rule that sizing of phases, sessions and reports share.
//
// The cores of the configuration come to rest; the code of every role enters through the I/O ports and spreads to its
// cores, every core writing its own; routers are set; all start. Tensors stay where they are. Cycles:
//   max(code words of the largest core / configurationWordsPerCycle, words of all roles' code and routers' settings /
//   ioWordsPerCycle)
//   + configurationRoundTrips · 2 · (rows + columns) · hopLatency,
// where roles whose instructions differ in addresses and extents alone share their code, and each further one brings a
// word for every such number that is another; with the rows and columns from the mesh's first ones to the last that the
// configuration takes part of: cores beyond them have nothing to put in place and are not waited for.
#pragma once

#include "runtime/format/Executable.h"
#include "runtime/target/Target.h"

#include <cstdint>

namespace wsc::timing {

// 32-bit words that a configuration brings along, and how far they go.
struct ConfigurationWords {
  int64_t largestCode = 0;    // of one core: instructions and descriptors
  int64_t code = 0;           // of all roles; what several share counts once
  int64_t routes = 0;         // of all router roles' switch positions, each once
  int32_t rows = 0, cols = 0; // of the mesh, from the first on, up to the last that has a role or a set router
};
ConfigurationWords configurationWords(const target::Target &target, const format::Configuration &configuration);

int64_t configurationCycles(const target::Target &target, const ConfigurationWords &words);

/// Cycles of one sample of an entry by the compiler's cost model: its runs, by what their kernels are predicted to
/// take, and its changes of configuration.
int64_t predictedCycles(const format::Executable &executable, const format::Entry &entry);

/// Cycles of all entries' changes to configurations that were changed to before.
int64_t repeatedConfigurationCycles(const format::Executable &executable);

} // namespace wsc::timing
