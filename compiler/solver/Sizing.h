// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes for kernels: how many columns each kernel of a pipeline gets, so that the slowest one is as fast as possible.
//
// Each kernel has candidates (implementations at several widths). For a given interval every kernel takes its narrowest
// candidate that is fast enough; the least interval whose columns fit is found by binary search over the candidates'
// intervals, which is exact.
#pragma once

#include "compiler/solver/Stats.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wsc::solver::sizing {

struct Candidate {
  int64_t columns = 0;        // of the mesh, full height
  int64_t intervalCycles = 0; // between samples
  int64_t sramBytes = 0;      // on its fullest core
  std::string tag;            // the caller's name for it, not interpreted
};

struct Kernel {
  std::string name;
  std::vector<Candidate> candidates;
};

struct Problem {
  int64_t columnLimit = 0;               // columns all kernels may take together
  std::optional<int64_t> sramLimitBytes; // candidates above it are not eligible
  std::vector<Kernel> kernels;

  // InvalidArgument: negative limit, kernel without candidates, columns, cycles or bytes negative or above 2^40.
  absl::Status check() const;
};

struct Solution {
  std::vector<int32_t> candidateOf; // per kernel, index into Kernel::candidates

  // FailedPrecondition: no such candidate, one above the SRAM limit, or more columns than the limit.
  absl::Status verify(const Problem &problem) const;
};

// The least largest interval and, for it, the fewest columns; ties: shorter interval, fewer bytes, earlier candidate.
// Errors: what check() says; ResourceExhausted naming the kernel with no eligible candidate, or the columns needed at
// least, the limit and the widest kernels.
absl::StatusOr<Solution> solve(const Problem &problem);

// Value: largest interval, cycles. Bound: the optimum (exact), found by a scan that shares nothing with solve().
struct SizingStats : Stats {
  int64_t columns = 0;           // taken together
  int64_t columnsLowerBound = 0; // fewest columns with which lowerBound can be met
  int32_t slowestKernel = -1;    // first kernel whose interval is the largest
};
SizingStats evaluate(const Problem &problem, const Solution &solution);

// Text: `wsc-problem sizing 1`, `columns LIMIT`, optional `sram LIMIT`, then `kernel NAME`, each followed by its
// `candidate COLUMNS CYCLES BYTES TAG` lines. Solutions: `wsc-solution sizing 1`, then `kernel NAME CANDIDATE` (an
// index) per kernel in order.
absl::StatusOr<Problem> parseProblem(const std::string &text);
std::string printProblem(const Problem &problem);
absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem);
std::string printSolution(const Problem &problem, const Solution &solution);

} // namespace wsc::solver::sizing
