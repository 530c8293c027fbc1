// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colours for streams: streams that share a router need different colours.
//
// An item is a stream (or one lane of a bundle) with the rectangles of routers that it passes. Two items conflict if
// any of their rectangles have a router in common. Algorithms: first fit in the given order, which keeps the periodic
// pattern of consecutive lanes; where that runs out of colours, first fit from west to east, then DSATUR (D. Brélaz,
// "New methods to color the vertices of a graph", CACM 22, 1979), then tabu search (ColouringTabu.cpp).
#pragma once

#include "compiler/solver/Stats.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wsc::solver::colouring {

// Routers (row, col) with row in {rowBegin, rowBegin + rowStep, …} below rowEnd and colBegin ≤ col < colEnd.
struct Rectangle {
  int32_t rowBegin = 0, rowEnd = 0, colBegin = 0, colEnd = 0;
  int32_t rowStep = 1;
};

struct Item {
  std::string name;                   // for messages; need not be unique
  std::vector<Rectangle> rectangles;  // may overlap; none: the item conflicts with nothing
  std::optional<int32_t> fixedColour; // any colour ≥ 0, also one that is not in Problem::colours
};

// At most 64 different colours in all (those available and those fixed), at most 2^26 routers.
struct Problem {
  int32_t rows = 0, cols = 0;   // of the mesh, routers
  std::vector<int32_t> colours; // available to items without a fixed colour, in order of preference
  std::vector<Item> items;

  // InvalidArgument: empty or excessive mesh, empty rectangle or one outside the mesh, step < 1, negative or repeated
  // colour, too many colours.
  absl::Status check() const;
};

struct Solution {
  std::vector<int32_t> colourOf; // per item

  // FailedPrecondition: an item without a permitted colour, or a router where two items have the same one (both named).
  absl::Status verify(const Problem &problem) const;
};

// Number of items over one router, and the first such router (in row-major order) where it is largest.
struct Load {
  int32_t row = 0, col = 0;
  int64_t items = 0;
};
// The items that pass a router, in order.
std::vector<int32_t> itemsAt(const Problem &problem, int32_t row, int32_t col);
// The router passed by most items; with `freeOnly`, counting only items that must take one of Problem::colours or hold
// one.
Load mostLoadedRouter(const Problem &problem, bool freeOnly = false);

// The algorithms. Errors: what check() says; ResourceExhausted with the most loaded router, how many items need it, the
// limit and the names of the items that hold it, or the item that found no colour.
//
// First fit: items in order, each the first of `colours` that no item before it holds on any of its routers. Time:
// total area of the items.
absl::StatusOr<Solution> solveFirstFit(const Problem &problem);
// The item with most colours around it first (ties: most conflicts, then input order). Time: (conflicts + items) log
// items.
absl::StatusOr<Solution> solveDsatur(const Problem &problem);
// First fit with the items in order of their westernmost column: uses the fewest colours where all items are lanes on
// single rows and none is fixed (the conflicts on each row are then those of intervals).
absl::StatusOr<Solution> solveWestFirst(const Problem &problem);
// Tabu search over partial colourings. Finds colourings that the others miss, but whose colours follow no pattern.
// Time: at most 30,000 steps, each that of the colours of the items that are without one.
absl::StatusOr<Solution> solveTabu(const Problem &problem);
// First fit in the given order; if that runs out of colours, from the west; if that does too, DSATUR; then tabu search.
absl::StatusOr<Solution> solve(const Problem &problem);
// The same, where colours need not suffice: the best colouring met, and the items that it leaves without (colour -1).
// Errors: what check() says, and fixed items that conflict.
struct Partial {
  Solution solution;
  std::vector<int32_t> without; // ascending
};
absl::StatusOr<Partial> solvePartial(const Problem &problem);

// Value: different colours in use. Bound: most items over one router.
Stats evaluate(const Problem &problem, const Solution &solution);

// Text: `wsc-problem colouring 1`, `mesh ROWS COLS`, `colours C…`, then `item NAME [fixed C]`, each followed by its
// `rect ROWBEGIN ROWEND COLBEGIN COLEND [step N]` lines. Solutions: `wsc-solution colouring 1`, then `item NAME COLOUR`
// per item in order.
absl::StatusOr<Problem> parseProblem(const std::string &text);
std::string printProblem(const Problem &problem);
absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem);
std::string printSolution(const Problem &problem, const Solution &solution);

} // namespace wsc::solver::colouring
