// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rows and columns of a mesh with defects to use: the whole lines that stay form a smaller mesh without any.
//
// Routers of lines that are taken out still pass words straight on, so a dead core costs its row or its column,
// whichever helps with more of the others; a dead horizontal link costs its row and a dead vertical one its column, for
// traffic along that line would cross it. The lines that cost fewest cores are a minimum weighted vertex cover of the
// bipartite graph rows – columns with an edge per dead core, found exactly by maximum flow (D. Kőnig 1931; E. A. Dinic
// 1970). Time: O(lines² · dead cores) at worst, near linear in practice.
#pragma once

#include "compiler/solver/Stats.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace wsc::solver::lines {

struct Cell {
  int32_t row = 0, col = 0;
};

struct Problem {
  int32_t rows = 0, cols = 0;
  std::vector<Cell> deadCores;
  std::vector<int32_t> deadRows, deadCols; // with a dead link along the line; may repeat

  // InvalidArgument: an empty mesh, or one with more than 2^26 cores; a cell or line outside it.
  absl::Status check() const;
};

struct Solution {
  std::vector<int32_t> rows, cols; // kept, ascending

  // FailedPrecondition: a line kept twice, out of order or outside the mesh; a dead core where kept lines cross; a kept
  // dead line.
  absl::Status verify(const Problem &problem) const;
};

// Errors: what check() says; ResourceExhausted when no row or no column stays.
absl::StatusOr<Solution> solve(const Problem &problem);

// Value: cores of the lines taken out, each line with all its cores (crossings count twice). Bound: lines that must go,
// and a fractional packing of the dead cores on others.
Stats evaluate(const Problem &problem, const Solution &solution);

// Text: `wsc-problem lines 1`, `mesh ROWS COLS`, then lines `dead ROW COL`, `dead-row ROW`, `dead-col COL`. Solutions:
// `wsc-solution lines 1`, then `row ROW` and `col COL`, those taken out.
absl::StatusOr<Problem> parseProblem(const std::string &text);
std::string printProblem(const Problem &problem);
absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem);
std::string printSolution(const Problem &problem, const Solution &solution);

} // namespace wsc::solver::lines
