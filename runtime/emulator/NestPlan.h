// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognised loop nests: Loop … one Fma or reduction … EndLoop, prepared once per role for the nest kernels.
#pragma once

#include "runtime/emulator/Kernels.h"
#include "runtime/format/Executable.h"

#include <optional>
#include <span>
#include <vector>

namespace wsc::emulator {

// The nest of one instruction under `loops` with fixed extents and trip counts, as tiles of accumulators and a list of
// taps in program order.
struct NestPlan {
  NestOp op = NestOp::Fma;
  bool swapped = false;    // the vector operand is b
  int32_t phases = 1;      // > 1: the vector operand is first deinterleaved into so many phases,
  int64_t phaseLength = 0; // each this long
  std::vector<NestTap> taps;
  // Dimensions in which both sources vary: one pass of all tiles per entry.
  struct Outer {
    int32_t acc, vec, scl;
  };
  std::vector<Outer> outer;
  std::vector<NestVector> wide, narrow;
  std::vector<NestScalar> scalars, laneScalarsWide, laneScalarsNarrow; // the latter two for FmaVectors, one per vector
};

struct NestLoop {
  int64_t trips;
  int level; // index into Operand::loopStep
};

// `extent` holds the instruction's extents. `vectorBytes(operand)`: size of the buffer an operand lies in, or 0 where
// it may not be copied. Nothing when the form is not one the kernels know.
std::optional<NestPlan> planNest(const format::Instruction &instruction,
                                 const std::array<int64_t, format::kMaxDims> &extent, std::span<const NestLoop> loops,
                                 int64_t aBufferBytes, int64_t bBufferBytes, int64_t aBase, int64_t bBase,
                                 bool wideVectors);

// Runs the plan. Pointers are those of element 0 in iteration 0.
void runNest(const Kernels &kernels, const NestPlan &plan, float *acc, const float *vec, const float *scl);

} // namespace wsc::emulator
