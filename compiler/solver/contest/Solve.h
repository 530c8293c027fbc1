// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solves contest placements: slicing floorplans found by annealing, a population of them improved generation by
// generation, the best compacted.
#pragma once

#include "compiler/solver/contest/Contest.h"

namespace wsc::solver::contest {

// Annealing runs of a solve by default.
constexpr int32_t kDefaultSteps = 32;

struct SolveOptions {
  uint64_t seed = 1;
  int32_t threads = 2;
  int32_t steps = kDefaultSteps;  // annealing runs at most; a few more where nothing fits by then
  int64_t movesPerKernel = 25000; // of a run
  double seconds = 60;            // wall clock at most
  // The cost is minimised over placements whose time term exceeds its lower bound by no more than this share, if there
  // are any: the time term is the network's interval, wires only shorten its latency. Where a single kernel sets the
  // bound, not area, the time stays at the bound. Negative: no limit, the least cost wherever it is.
  double timeSlack = 0.05;
};

struct Solved {
  Solution solution; // verifies
  int32_t steps = 0; // completed, in order
};

// Determined by problem, seed, timeSlack and the number of completed steps: threads change nothing, and the limit of
// wall clock only decides how many steps are completed. Steps are numbered; where time runs out, those after the first
// unfinished one are dropped. (Should not even the first be finished, what it had found counts.)
// Errors: those of ShapeTable::create; ResourceExhausted: no legal placement found.
absl::StatusOr<Solved> solve(const Problem &problem, const SolveOptions &options);

// No legal placement has a smaller time term: the least time at which the kernels' least areas sum to no more than the
// grid. Errors: those of ShapeTable::create.
absl::StatusOr<Fraction> timeBound(const Problem &problem);

} // namespace wsc::solver::contest
