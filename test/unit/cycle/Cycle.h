// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs hand-written configurations on the cycle engine. The target is Builder.h's: set-up 14, loop 4, task start 0, one
// element per slot; hop 1, ramp 2, credit 1; router queues of 2 words.
#pragma once

#include "../timing/Builder.h"

#include "runtime/emulator/cycle/CycleEngine.h"

#include <gmock/gmock.h>

namespace wsc::test {

using emulator::CycleOptions;
using emulator::CycleResult;
using emulator::runCycles;

inline absl::StatusOr<CycleResult> cycles(const Executable &executable, int samples = 1, int threads = 1) {
  CycleOptions options;
  options.samples = samples;
  options.threads = threads;
  options.perCore = true;
  return runCycles(executable, 0, options);
}

// A row of `cols` cores on which core 0 sends `words` words eastward to the last on colour 0.
inline Executable sendAlongRow(int32_t cols, int64_t words) {
  Executable e = executable("mesh-1x" + std::to_string(cols));
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("send", rectangle(0, 0, 1, 1), {out(0)}, {{move(words, queue(0), memory())}}));
  c.roles.push_back(role("take", rectangle(0, cols - 1, 1, 1), {in(0)}, {{move(words, memory(), queue(0))}}));
  eastRoute(c, 0, 0, 0, cols - 1);
  return e;
}

// An input or output binding at one port, of `words` words of one entry's tensor.
inline void bind(Executable &e, bool output, int32_t row, int32_t col, Port side, uint8_t colour, int64_t words) {
  IoBinding binding;
  binding.output = output;
  binding.ports = rectangle(row, col, 1, 1);
  binding.side = side;
  binding.colour = colour;
  binding.extent[3] = Affine(words);
  binding.stride[3] = 1;
  e.configurations[0].io.push_back(binding);
}

// Per cycle as many words in and out of the wafer as said.
inline void allowWordsPerCycle(Executable &e, double words) {
  e.target.ioTerabitsPerSecond = words * 32 * e.target.clockGHz * 1e9 / 1e12;
}

} // namespace wsc::test
