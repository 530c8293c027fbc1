// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the columns are spent on that the least interval leaves over: receivers that take each lane once, then speed,
// then simple shapes. The solver's solution takes the fewest columns, and so prefers shapes that save columns at the
// price of many kinds of cores: bands one below the other, lanes of few channels. Where there are columns enough these
// buy nothing, and every kind of core is a program to write, to verify and to load.
#pragma once

#include "compiler/kernels/network/Spec.h"
#include "compiler/solver/Sizing.h"

#include <vector>

namespace wsc::kernels {

// What matters of a candidate beside its columns and predicted interval.
struct CandidateTraits {
  bool aligned = false; // its channel blocks end between the slices of every receiver
  // Shares and lanes per tile: each has feeders, ends of chains and colours of its own, so roles grow with their sum.
  int64_t parts = 1;
  int64_t leastCycles = 0;  // between samples, if nothing ever waits
  bool fewerSlices = false; // than there are rows for: only where links ask for it
};
using NetworkTraits = std::vector<std::vector<CandidateTraits>>; // by kernel and candidate

// `least`: the same problem with the intervals that nothing makes worse. Changes the mappings and blocks in `network`.
NetworkTraits traitsOf(NetworkPlan &network, const solver::sizing::Problem &problem,
                       const solver::sizing::Problem &least);

// Where the chosen columns make receivers take lanes twice, a quarter of them more may not; as far as there are columns
// left. No kernel gets slower.
void alignColumns(const solver::sizing::Problem &problem, const NetworkTraits &traits,
                  solver::sizing::Solution &solution);

// Makes kernels quicker one by one, most cycles per column first, those above all that are near `limitCycles`: the
// first sample arrives sooner, and kernels that take little less than the interval wait less for each other.
void spendColumns(const solver::sizing::Problem &problem, const NetworkTraits &traits, int64_t limitCycles,
                  solver::sizing::Solution &solution);

// Gives kernels candidates of fewer parts while columns are left. `limitCycles`, the network's interval, stays: a
// candidate is within it, or takes no more issue slots than the one it replaces and is expected to wait little more.
// The first sample stays: all kernels together get slower by a small part of their intervals at most.
void simplifyShapes(const solver::sizing::Problem &problem, const NetworkTraits &traits, int64_t limitCycles,
                    solver::sizing::Solution &solution);

// All of these, with repairs in between (Repair.h). What the columns buy does not cost the network's interval among its
// neighbours, nor what links carry: else it is taken back. Without `simplify`, shapes stay as they are. Where the
// number of columns sets the interval (`network.bounds`), all of them go to speed.
void useLeftoverColumns(const target::Target &target, NetworkPlan &network, const solver::sizing::Problem &problem,
                        const solver::sizing::Problem &least, int64_t limitCycles, bool simplify,
                        solver::sizing::Solution &solution);

} // namespace wsc::kernels
