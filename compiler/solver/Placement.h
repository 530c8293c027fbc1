// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places for kernels: full-height column strips side by side, so that streams flow east and stay short.
//
// Every kernel owns the columns it stands on, over the full height of the mesh. A stream leaves the last column of its
// kernel and enters the first column of the next, so an edge costs  words × |colTo − (colFrom + colsFrom − 1)|
// (word-hops per sample): 1 hop between neighbours flowing east, and both kernels' widths when it must flow back west.
#pragma once

#include "compiler/solver/Stats.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wsc::solver::placement {

struct Kernel {
  std::string name;
  int32_t rows = 0, cols = 0;       // cores; rows may be less than the mesh's
  std::optional<int32_t> pinnedCol; // first column, where it is given
};

struct Edge {
  int32_t from = 0, to = 0;   // kernels; from ≠ to
  int64_t wordsPerSample = 0; // ≥ 0
  bool eastward = false;      // must flow east: `to` stands wholly east of `from`
};

// Kernels are listed in dataflow order. At most 2^16 kernels, 2^20 edges, 2^16 rows and columns, 2^24 words per edge.
struct Problem {
  int32_t rows = 0, cols = 0; // of the mesh, cores
  std::vector<Kernel> kernels;
  std::vector<Edge> edges;

  // InvalidArgument: sizes outside their limits, kernel larger than the mesh, edge between no kernels, a pin outside
  // the mesh or two pins that overlap, eastward edges in a circle.
  absl::Status check() const;
};

struct Place {
  int32_t row = 0, col = 0; // of the north-western core
};

struct Solution {
  std::vector<Place> places; // per kernel

  // FailedPrecondition: a kernel outside the mesh or off its pin, two kernels on one column (both named), an eastward
  // edge that flows west.
  absl::Status verify(const Problem &problem) const;
};

// The order of the kernels in which edges point forward (where some are eastward: those); the listed order wherever it
// already does, and where cycles leave no choice.
std::vector<int32_t> dataflowOrder(const Problem &problem);

// The algorithms; all put kernels at row 0. Errors: what check() says; ResourceExhausted with the kernel that found no
// columns, the columns all need, those there are, and the widest kernels, or with the eastward edge that pins turn
// west.
//
// Strips in dataflow order packed from the west; pinned strips stand where they must and the others flow around them.
absl::StatusOr<Solution> solveInOrder(const Problem &problem);
// The same with the order improved by swaps of neighbours and moves of one strip while that lowers the cost; stops
// after `effort` passes over the kernels. Never worse than solveInOrder. Time: effort × (kernels + edges)².
absl::StatusOr<Solution> solveLocalSearch(const Problem &problem, int32_t effort = 8);

// The cheapest of local searches from the dataflow order and from `starts` random orders that respect eastward edges;
// the same for the same seed, and never worse for more starts.
absl::StatusOr<Solution> solveRestarts(const Problem &problem, uint64_t seed, int32_t starts = 8);

// The cheapest order of all, by dynamic programming; InvalidArgument if there are more than 16 kernels or a pin. Time:
// 2^kernels · kernels².
absl::StatusOr<Solution> solveExact(const Problem &problem);
// solveExact for up to 12 kernels without pins, else solveLocalSearch.
absl::StatusOr<Solution> solve(const Problem &problem);

// Value: Σ words × distance, word-hops per sample. Bound: the larger of each kernel's edges at the distances they would
// have if only that kernel had to be near its neighbours, and groups of 12 kernels in their cheapest order; exact for
// up to 12 kernels without pins.
Stats evaluate(const Problem &problem, const Solution &solution);

// Text: `wsc-problem placement 1`, `mesh ROWS COLS`, `kernel NAME ROWS COLS [pin COL]`…, `edge FROM TO WORDS [east]`…
// (kernels by index). Solutions: `wsc-solution placement 1`, then `kernel NAME ROW COL` per kernel in order.
absl::StatusOr<Problem> parseProblem(const std::string &text);
std::string printProblem(const Problem &problem);
absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem);
std::string printSolution(const Problem &problem, const Solution &solution);

} // namespace wsc::solver::placement
