// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First fit: every router keeps the set of colours held on it as bits; an item takes the first colour in none of its
// routers' sets.
//
// No conflict graph is needed, and the work is bounded: items that hold a colour cover each router at most once per
// colour. Routers that the same items pass are one (compressed()), so the sets grow with the items and not with the
// mesh.
#include "compiler/solver/ColouringConflicts.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace wsc::solver::colouring {

namespace {

class HeldColours {
public:
  explicit HeldColours(const Problem &compressed)
      : cols(compressed.cols), bits(size_t(compressed.rows) * compressed.cols, 0) {}

  // Colours held on any router of the item; stops early when all of `enough` are.
  uint64_t heldOn(const Item &item, uint64_t enough) const {
    uint64_t held = 0;
    for (const Rectangle &rect : item.rectangles)
      for (int32_t row = rect.rowBegin; row < rect.rowEnd; ++row) {
        const uint64_t *line = &bits[size_t(row) * cols];
        for (int32_t col = rect.colBegin; col < rect.colEnd; ++col)
          held |= line[col];
        if ((held & enough) == enough)
          return held;
      }
    return held;
  }
  void hold(const Item &item, uint64_t bit) {
    for (const Rectangle &rect : item.rectangles)
      for (int32_t row = rect.rowBegin; row < rect.rowEnd; ++row) {
        uint64_t *line = &bits[size_t(row) * cols];
        for (int32_t col = rect.colBegin; col < rect.colEnd; ++col)
          line[col] |= bit;
      }
  }

private:
  size_t cols;
  std::vector<uint64_t> bits;
};

absl::StatusOr<Attempt> firstFit(const Problem &problem, const std::vector<int32_t> &order) {
  ColourBits colours(problem);
  const Problem small = compressed(problem);
  HeldColours held(small);
  Attempt attempt;
  std::vector<int32_t> &colourOf = attempt.solution.colourOf;
  colourOf.assign(problem.items.size(), -1);
  for (size_t i = 0; i < problem.items.size(); ++i) {
    const Item &item = problem.items[i];
    if (!item.fixedColour)
      continue;
    uint64_t bit = colours.bitOf(*item.fixedColour);
    if (held.heldOn(small.items[i], bit) & bit)
      return absl::InvalidArgumentError(absl::StrCat("item ", item.name, " is fixed to colour ", *item.fixedColour,
                                                     ", and so is another item on one of its routers"));
    held.hold(small.items[i], bit);
    colourOf[i] = *item.fixedColour;
  }
  for (int32_t i : order) {
    const Item &item = problem.items[i];
    if (item.fixedColour)
      continue;
    uint64_t free = colours.available & ~held.heldOn(small.items[i], colours.available);
    if (!free) {
      attempt.stuck = i;
      return attempt;
    }
    int bit = std::countr_zero(free);
    held.hold(small.items[i], uint64_t(1) << bit);
    colourOf[i] = colours.colours[bit];
  }
  return attempt;
}

} // namespace

absl::StatusOr<Attempt> tryFirstFit(const Problem &problem) {
  std::vector<int32_t> order(problem.items.size());
  std::iota(order.begin(), order.end(), 0);
  return firstFit(problem, order);
}

absl::StatusOr<Attempt> tryWestFirst(const Problem &problem) {
  std::vector<std::pair<int32_t, int32_t>> westernmost; // column, item
  for (size_t i = 0; i < problem.items.size(); ++i) {
    int32_t col = problem.cols;
    for (const Rectangle &rect : problem.items[i].rectangles)
      col = std::min(col, rect.colBegin);
    westernmost.push_back({col, int32_t(i)});
  }
  std::sort(westernmost.begin(), westernmost.end());
  std::vector<int32_t> order;
  for (auto [col, item] : westernmost)
    order.push_back(item);
  return firstFit(problem, order);
}

absl::StatusOr<Solution> solveFirstFit(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  return finish(problem, tryFirstFit(problem));
}

absl::StatusOr<Solution> solveWestFirst(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  return finish(problem, tryWestFirst(problem));
}

} // namespace wsc::solver::colouring
