// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How good a mapping is predicted to be: what the search compares.
#pragma once

#include "compiler/kernels/network/Spec.h"
#include "runtime/target/Target.h"

#include "absl/status/statusor.h"

namespace wsc::kernels {

struct MappingScore {
  // Cycles between samples: of the slowest kernel, of the words over the busiest link, and of those over the wafer's
  // edge, whichever are most.
  int64_t intervalCycles = 0;
  int64_t wordHops = 0; // weighted wire length: words times links, per sample, of all that moves
  // The streams over the busiest link where that takes intervalCycles; else those at the slowest kernel.
  std::vector<int32_t> bottleneck;

  bool isBetterThan(const MappingScore &other) const {
    return intervalCycles != other.intervalCycles ? intervalCycles < other.intervalCycles : wordHops < other.wordHops;
  }
};

// Cycles that the words over the wafer's edge take.
int64_t ioCycles(const target::Target &target, const NetworkPlan &network);

// Of a placed network with its turns.
MappingScore scoreOf(const target::Target &target, const NetworkPlan &network);
// A bound on both numbers of scoreOf(), whatever turns the lanes of a placed network take: the slowest kernel and I/O,
// and the words over straight combs. (A turn saves its trunk at most as many links as each row that takes the lane then
// needs.) Without a bottleneck.
MappingScore leastScoreOf(const target::Target &target, const NetworkPlan &network);

} // namespace wsc::kernels
