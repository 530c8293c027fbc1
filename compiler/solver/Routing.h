// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Routes for lanes: each net is a tree of links from its source to its sinks.
//
// Nets do not block each other by being there: links are shared in time, and routers that carry several nets tell them
// apart by colour (Colouring.h). What a link carries is counted, words per sample, and may be limited. Two algorithms:
// combs, one horizontal trunk on the source's row and a vertical branch at every column that must be reached, whatever
// that does to links; and trees that negotiate for links (RoutingNegotiated.cpp).
#pragma once

#include "compiler/solver/Stats.h"

#include "absl/status/statusor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wsc::solver::routing {

// All routers (rowLo … rowHi, col), both ends included, must be reached.
struct Sink {
  int32_t col = 0, rowLo = 0, rowHi = 0;
};

struct Net {
  std::string name;
  int32_t row = 0, colBegin = 0; // the first router that the net passes: where the lane leaves its kernel
  int64_t wordsPerSample = 0;    // over every link of the tree
  std::vector<Sink> sinks;       // at least one; may overlap
};

// A straight run of links from router (row, col) to router (rowEnd, colEnd), in that direction; at least one link.
struct Segment {
  int32_t row = 0, col = 0, rowEnd = 0, colEnd = 0;
};

// Words that links carry whatever the solution is: of routes that are not up for choice.
struct FixedLoad {
  Segment segment;
  int64_t wordsPerSample = 0;
};

// InvalidArgument: a load on a mesh that is not straight or leaves it, or carries too much. `rowsAlike`: the run and so
// many less one below it. `together`: words so far.
absl::Status checkLoad(int32_t rows, int32_t cols, const FixedLoad &load, int32_t rowsAlike, int64_t &together);

// At most 2^24 routers, 2^40 words per net or fixed load and 2^60 over all of them.
struct Problem {
  int32_t rows = 0, cols = 0; // of the mesh, routers
  std::optional<int64_t>
      linkCapacityWords; // words per sample a link can carry: the interval in cycles at one word per cycle
  std::vector<Net> nets;
  std::vector<FixedLoad> fixed;

  // InvalidArgument: sizes outside their limits, source or sink outside the mesh, net without sinks, rowLo > rowHi,
  // fixed loads that are not straight or leave the mesh.
  absl::Status check() const;
};

struct Solution {
  std::vector<std::vector<Segment>> segmentsOf; // per net; empty where the source is the only sink

  // FailedPrecondition: a segment that is not straight or leaves the mesh, a router fed twice, links the source does
  // not reach, a sink not reached.
  absl::Status verify(const Problem &problem) const;
};

// Combs: trunk on the source's row between the outermost columns, one branch each way per sink column. Errors: what
// check() says.
absl::StatusOr<Solution> solveCombs(const Problem &problem);

struct NegotiationOptions {
  int64_t steps = 200'000'000; // routers looked at, over all searches
};

// Trees that keep every link within Problem::linkCapacityWords, found by negotiation (see RoutingNegotiated.cpp);
// without a capacity, short trees. Errors: what check() says; ResourceExhausted if links stay over their capacity: how
// many, the worst one, what it carries and what would help.
absl::StatusOr<Solution> solveNegotiated(const Problem &problem, const NegotiationOptions &options = {});

enum class Direction { North, South, East, West };
const char *name(Direction direction);
Direction directionOf(const Segment &segment);

// Words on the link out of router (row, col) in each direction, [direction][row · cols + col]: fixed, and of the trees
// of `solution` if there is one.
using LinkWords = std::array<std::vector<int64_t>, 4>;
LinkWords linkWords(const Problem &problem, const Solution *solution);

// Value: links of all trees (wire length). Bound: per net the shortest tree (Steiner.h) where that is known; else the
// largest of the bounding box's half perimeter and, counted by columns and by rows, the routers that any tree needs.
struct RoutingStats : Stats {
  int64_t netsExact = 0; // whose shortest tree is known

  // The link with most words per sample (first in order of row, column, direction): out of router (row, col) in
  // `direction`.
  int64_t mostWords = 0;
  int32_t row = 0, col = 0;
  Direction direction = Direction::East;
  int64_t linksUsed = 0;
  int64_t linksOverCapacity = 0; // 0 where no capacity is given
};
RoutingStats evaluate(const Problem &problem, const Solution &solution);
// No tree of this net has fewer links.
int64_t lowerBound(const Net &net);

// ResourceExhausted if any link carries more than Problem::linkCapacityWords: the worst one, its words, the nets on it
// and what would help.
absl::Status checkCapacity(const Problem &problem, const Solution &solution);

// Text: `wsc-problem routing 1`, `mesh ROWS COLS`, optional `capacity WORDS`, any `fixed ROW COL ROWEND COLEND
// WORDS`, then `net NAME ROW COL WORDS`, each followed by its `sink COL ROWLO ROWHI` lines. Solutions: `wsc-solution
// routing 1`, then `net NAME` per net in order, each followed by its `segment ROW COL ROWEND COLEND` lines.
absl::StatusOr<Problem> parseProblem(const std::string &text);
std::string printProblem(const Problem &problem);
absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem);
std::string printSolution(const Problem &problem, const Solution &solution);

} // namespace wsc::solver::routing
