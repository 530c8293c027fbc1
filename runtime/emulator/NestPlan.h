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
  int32_t phases = 1;      // > 1: the vector operand's first `copied` elements are deinterleaved into so many phases,
  int64_t phaseLength = 0; // each this long
  int64_t copied = 0;
  std::vector<NestTap> taps;
  // Dimensions in which both sources vary: one pass of all tiles per entry.
  struct Outer {
    int32_t acc, vec, scl;
    bool operator==(const Outer &) const = default;
  };
  std::vector<Outer> outer;
  std::vector<NestVector> wide, narrow;
  int64_t vecElements = 0, sclElements = 0; // from each source's first element to the last that is read
  bool shortRows = false, tapRun = false;   // as in NestTile
  bool isOneSum = false;                    // Add: a few elements that lie one behind the other onto one
  std::vector<NestScalar> scalars, laneScalarsWide, laneScalarsNarrow; // the latter two for FmaVectors, one per vector

  bool operator==(const NestPlan &) const = default;
};

struct NestLoop {
  int64_t trips;
  int level; // index into Operand::loopStep
};

// `extent` holds the instruction's extents. `aElements`, `bElements`: elements that the nest touches of a source, from
// element 0 of iteration 0 on, where it may work on a rearranged copy of them; else 0. dst and sources must lie apart.
// Nothing when the form is not one the kernels know.
std::optional<NestPlan> planNest(const format::Instruction &instruction,
                                 const std::array<int64_t, format::kMaxDims> &extent, std::span<const NestLoop> loops,
                                 int64_t aElements, int64_t bElements, bool wideVectors);

// What becomes of the accumulators before and behind a nest, where that is done along with it.
struct NestEnds {
  bool fresh = false;         // they begin as zeros
  const float *add = nullptr; // results are these plus the accumulators
  float *out = nullptr;       // where they go; null: to the accumulators
};

// Runs the plan. Pointers are those of element 0 in iteration 0.
void runNest(const Kernels &kernels, const NestPlan &plan, float *acc, const float *vec, const float *scl,
             const NestEnds &ends = {});

// The accumulators are elements 0 … n - 1 from `acc` on, each of them once.
bool fillsRow(const NestPlan &plan, int64_t n);

// Runs chains of a plan of short rows with one outer point.
void runNestChains(const Kernels &kernels, const NestPlan &plan, std::span<const NestChain> chains);

} // namespace wsc::emulator
