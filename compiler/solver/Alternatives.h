// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Alternatives: each item takes one of several ways given in advance, so that no link of the mesh carries more words
// than it can.
//
// Where routes must stay regular (bundles of lanes that repeat over the wafer, so that their settings are stored once
// and not lane by lane) a way is a whole bundle's, and only its listed variants come into question. Routing.h is for
// nets that may go anywhere.
#pragma once

#include "compiler/solver/Routing.h"
#include "compiler/solver/Stats.h"

namespace wsc::solver::alternatives {

// Words over a straight run of links.
struct Load {
  routing::Segment segment;
  int64_t wordsPerSample = 0;
  int32_t rowsAlike = 1; // of a run along a row: it and so many less one below it carry the same
};

struct Option {
  std::string tag;         // the caller's name for it
  int64_t cost = 0;        // beside the links it takes, in links
  std::vector<Load> loads; // words over runs of links
};

struct Item {
  std::string name;
  std::vector<Option> options; // at least one; the first is what is wanted where links have space
};

// At most 2^24 routers, 2^40 words per load and 2^60 over all of them.
struct Problem {
  int32_t rows = 0, cols = 0;    // of the mesh, routers
  int64_t linkCapacityWords = 0; // words per sample that a link should carry at most
  std::vector<Load> fixed;
  std::vector<Item> items;

  // InvalidArgument: sizes outside their limits, an item without options, loads that are not straight or leave the
  // mesh.
  absl::Status check() const;
};

struct Solution {
  std::vector<int32_t> optionOf; // per item

  // FailedPrecondition: an item without an option, or with one it does not have.
  absl::Status verify(const Problem &problem) const;
};

// Negotiation: items on links over their capacity choose again, one after the other, by the price of each option's
// links (their excess now and in the rounds before). The best choice met counts: fewest words over capacity, then the
// lesser peak. Then items go back to their first options as far as that makes no link the busiest. If links stay over
// capacity, the least capacity that negotiation reaches is looked for by bisection, and its choice is the solution;
// evaluate() tells. Errors: what check() says.
absl::StatusOr<Solution> solve(const Problem &problem, int rounds = 40);

// Value: words over the busiest link. Bound: the most that a link carries if every item takes, for that link, the
// option with the fewest words on it.
struct AlternativesStats : Stats {
  int64_t linksOverCapacity = 0;
  int64_t itemsOffFirst = 0; // whose option is not their first
};
AlternativesStats evaluate(const Problem &problem, const Solution &solution);

// Text: `wsc-problem alternatives 1`, `mesh ROWS COLS`, `capacity WORDS`, any `fixed ROW COL ROWEND COLEND WORDS`, then
// `item NAME`, each followed by its options `option TAG COST` and their `load ROW COL ROWEND COLEND WORDS` lines.
// (one for each of rows alike). Solutions: `wsc-solution alternatives 1`, then `item NAME OPTION` per item in order
// (options counted from 0).
absl::StatusOr<Problem> parseProblem(const std::string &text);
std::string printProblem(const Problem &problem);
absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem);
std::string printSolution(const Problem &problem, const Solution &solution);

} // namespace wsc::solver::alternatives
