// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase while its code is written: one configuration of the wafer.
#pragma once

#include "compiler/spmd/collectives/Collectives.h"
#include "compiler/spmd/network/Network.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wsc::spmd {

/// A tensor of the entry that crosses the wafer's edge in this phase, flat over rows [rowBegin, rowEnd).
struct PortUse {
  bool output = false;
  int32_t tensor = 0; // number among the entry's inputs or outputs
  int32_t rowBegin = 0, rowEnd = 0;
  int64_t elementsPerCore = 0;
  /// Of an input that arrives as boxes (PortBox.h).
  std::optional<Sharding> box;
};

struct Phase {
  Code code;
  std::map<TensorId, int16_t> buffers;  // of tensors at rest that the code names
  std::map<int32_t, int16_t> constants; // resident number → buffer
  std::map<int32_t, int16_t> states;    // state number → buffer
  std::vector<PortUse> ports;
  std::vector<std::string> layers;
  int64_t macs = 0, estimatedCycles = 0; // of one run
  int32_t count = 1;                     // runs
  int32_t loop = -1; // phases of one loop, which take turns if there are several: its number in the entry
};

} // namespace wsc::spmd
