// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lower bounds on the interval between samples that hold without any simulation, and what each kernel needs alone.
#pragma once

#include "runtime/emulator/Timing.h"
#include "runtime/emulator/timing/Links.h"
#include "runtime/emulator/timing/Model.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

struct Bounds {
  int64_t busiest = 0; // issue slots of a core, cycles per sample
  int64_t slowest = 0; // cycles that a thread which never waits needs for a sample, or the cores of its unit together
  int32_t busyUnit = -1, slowUnit = -1;
  int64_t io = 0; // cycles in which the wafer's ports pass a sample's words
  LinkLoad links;
  std::vector<KernelTiming> kernels; // without waits
  double macs = 0, fmaCycles = 0;    // executed by all cores, and the cycles they take at the full rate

  int64_t most() const { return std::max({busiest, slowest, io, links.maxWords}); }
};

Bounds findBounds(const format::Executable &executable, const format::Configuration &configuration,
                  const Networks &networks, const Model &model);

} // namespace wsc::emulator::timing
