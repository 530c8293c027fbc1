// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the colouring algorithms share: colours as bits, disjoint rectangles, the conflict graph, and messages.
#pragma once

#include "compiler/solver/Colouring.h"

#include <cstdint>
#include <vector>

namespace wsc::solver::colouring {

// Colours numbered densely: those available first, in the problem's order, then those that only fixed items hold.
struct ColourBits {
  explicit ColourBits(const Problem &problem);
  uint64_t bitOf(int32_t colour) const;

  std::vector<int32_t> colours; // bit number → colour
  uint64_t available = 0;       // bits of Problem::colours
};

// The routers of an item as rectangles that have none in common.
std::vector<Rectangle> disjointRectangles(const Item &item);

// The items on a mesh where neighbouring rows, and neighbouring columns, between which no rectangle begins or ends are
// one: two items share a router there if and only if they do on the problem's mesh. Names are left out, steps are 1.
Problem compressed(const Problem &problem);

// Conflicts in compressed rows: the neighbours of item i are neighbours[first[i]] … neighbours[first[i + 1] − 1], each
// once, ascending.
//
// Built by a sweep over the mesh's rows. The rectangles alive in the current row are listed by the column where they
// begin and at every 32nd column that they cover, so that those overlapping a new rectangle are found without looking
// at the others.
struct ConflictGraph {
  explicit ConflictGraph(const Problem &problem);

  std::vector<int64_t> first;
  std::vector<int32_t> neighbours;
};

// What an algorithm that colours item by item comes to. Messages cost more than colouring, and where other algorithms
// are tried afterwards none is needed.
struct Attempt {
  Solution solution;
  int32_t stuck = -1; // the item that found no colour; -1: all did
};
// The algorithms on a problem that has passed check(). Errors: fixed items that conflict.
absl::StatusOr<Attempt> tryFirstFit(const Problem &problem);
absl::StatusOr<Attempt> tryWestFirst(const Problem &problem);
absl::StatusOr<Attempt> tryDsatur(const Problem &problem, const ConflictGraph &graph);
// The solution, or noColour().
absl::StatusOr<Solution> finish(const Problem &problem, absl::StatusOr<Attempt> attempt);

// ResourceExhausted: `item` found no colour. Names the most loaded router, its items and the limit.
absl::Status noColour(const Problem &problem, int32_t item);
// OK, or ResourceExhausted if a router is passed by more items than there are colours.
absl::Status checkLoad(const Problem &problem);
// A bound on the items that no colouring can serve: of those around item `stuck` that all conflict with each other, and
// of those on one router, no more than there are colours have one.
int64_t leastWithout(const Problem &problem, const ConflictGraph &graph, int32_t stuck);
// The tabu search of solvePartial(), which ends as soon as no more than `least` items are without a colour.
absl::StatusOr<Partial> searchTabu(const Problem &problem, const ConflictGraph &graph, int64_t least);
// OK, or the error of two fixed items that share a router and a colour.
absl::Status checkFixed(const Problem &problem);

} // namespace wsc::solver::colouring
