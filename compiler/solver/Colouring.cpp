// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The colouring problem judged: limits, an independent check of solutions, and the bound.
//
// verify() sorts the stretches of routers that items cover in each row by colour and place, and meets a conflict as two
// of different items that overlap. The bound counts items per router with two-dimensional differences over each
// item's rectangles made disjoint.
#include "compiler/solver/Colouring.h"

#include "compiler/solver/ColouringConflicts.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace wsc::solver::colouring {

namespace {
constexpr int64_t kMaxRouters = int64_t(1) << 26;
constexpr size_t kMaxColours = 64;
} // namespace

absl::Status Problem::check() const {
  if (rows < 1 || cols < 1 || int64_t(rows) * cols > kMaxRouters)
    return absl::InvalidArgumentError(
        absl::StrCat("colouring: mesh ", rows, "x", cols, " must have 1 to ", kMaxRouters, " routers"));
  std::set<int32_t> distinct;
  for (int32_t colour : colours) {
    if (colour < 0)
      return absl::InvalidArgumentError(absl::StrCat("colouring: colour ", colour, " is negative"));
    if (!distinct.insert(colour).second)
      return absl::InvalidArgumentError(absl::StrCat("colouring: colour ", colour, " is listed twice"));
  }
  for (const Item &item : items) {
    if (item.fixedColour) {
      if (*item.fixedColour < 0)
        return absl::InvalidArgumentError(absl::StrCat("colouring: item ", item.name, " is fixed to colour ",
                                                       *item.fixedColour, ", which is negative"));
      distinct.insert(*item.fixedColour);
    }
    for (const Rectangle &rect : item.rectangles)
      if (rect.rowBegin < 0 || rect.rowBegin >= rect.rowEnd || rect.rowEnd > rows || rect.colBegin < 0 ||
          rect.colBegin >= rect.colEnd || rect.colEnd > cols || rect.rowStep < 1)
        return absl::InvalidArgumentError(
            absl::StrCat("colouring: item ", item.name, " has rectangle rows [", rect.rowBegin, ", ", rect.rowEnd,
                         ") step ", rect.rowStep, ", columns [", rect.colBegin, ", ", rect.colEnd,
                         "); it must be non-empty, with step at least 1, inside mesh ", rows, "x", cols));
  }
  if (distinct.size() > kMaxColours)
    return absl::InvalidArgumentError(
        absl::StrCat("colouring: ", distinct.size(), " different colours, the limit is ", kMaxColours));
  return absl::OkStatus();
}

absl::Status Solution::verify(const Problem &problem) const {
  if (colourOf.size() != problem.items.size())
    return absl::FailedPreconditionError(
        absl::StrCat("colouring: solution has ", colourOf.size(), " colours for ", problem.items.size(), " items"));
  for (size_t i = 0; i < colourOf.size(); ++i) {
    const Item &item = problem.items[i];
    if (item.fixedColour) {
      if (colourOf[i] != *item.fixedColour)
        return absl::FailedPreconditionError(absl::StrCat("colouring: item ", item.name, " has colour ", colourOf[i],
                                                          ", but is fixed to ", *item.fixedColour));
    } else if (std::find(problem.colours.begin(), problem.colours.end(), colourOf[i]) == problem.colours.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("colouring: item ", item.name, " has colour ", colourOf[i], ", which is not available"));
    }
    for (const Rectangle &rect : item.rectangles)
      if (rect.rowBegin < 0 || rect.rowEnd > problem.rows)
        return absl::FailedPreconditionError(absl::StrCat("colouring: item ", item.name, " covers rows ", rect.rowBegin,
                                                          " to ", rect.rowEnd, " of ", problem.rows));
  }
  // Stretches of routers, row by row, in each row by colour and place: a conflict is one that begins before another
  // item's ends. Rectangles are put in that order once, and give every row its stretches in it.
  struct Stretch {
    int32_t colour, colBegin, colEnd, item;
  };
  struct Rows {
    Stretch stretch;
    int32_t begin, end, step;
  };
  std::vector<Rows> inOrder;
  for (size_t i = 0; i < colourOf.size(); ++i)
    for (const Rectangle &rect : problem.items[i].rectangles)
      inOrder.push_back(
          {{colourOf[i], rect.colBegin, rect.colEnd, int32_t(i)}, rect.rowBegin, rect.rowEnd, rect.rowStep});
  std::sort(inOrder.begin(), inOrder.end(), [](const Rows &x, const Rows &y) {
    const Stretch &a = x.stretch, &b = y.stretch;
    return std::tie(a.colour, a.colBegin, a.item) < std::tie(b.colour, b.colBegin, b.item);
  });
  auto forEachStretch = [&](auto visit) {
    for (const Rows &rows : inOrder)
      for (int64_t row = rows.begin; row < rows.end; row += rows.step)
        visit(row, rows.stretch);
  };
  std::vector<size_t> end(size_t(problem.rows) + 1, 0); // of each row's stretches; first, where the next one goes
  forEachStretch([&](int64_t row, const Stretch &) { ++end[row + 1]; });
  for (size_t row = 1; row < end.size(); ++row)
    end[row] += end[row - 1];
  std::vector<Stretch> stretches(end.back());
  forEachStretch([&](int64_t row, const Stretch &stretch) { stretches[end[row]++] = stretch; });
  for (int64_t row = 0, begin = 0; row < problem.rows; begin = int64_t(end[row++])) {
    for (size_t i = size_t(begin) + 1, furthest = size_t(begin); i < end[row]; ++i) {
      const Stretch &a = stretches[furthest], &b = stretches[i];
      if (a.colour == b.colour && b.colBegin < a.colEnd && a.item != b.item)
        return absl::FailedPreconditionError(
            absl::StrCat("colouring: items ", problem.items[std::min(a.item, b.item)].name, " and ",
                         problem.items[std::max(a.item, b.item)].name, " both have colour ", a.colour, " on router (",
                         row, ", ", b.colBegin, ")"));
      if (a.colour != b.colour || b.colEnd > a.colEnd)
        furthest = i;
    }
  }
  return absl::OkStatus();
}

std::vector<int32_t> itemsAt(const Problem &problem, int32_t row, int32_t col) {
  std::vector<int32_t> result;
  for (size_t i = 0; i < problem.items.size(); ++i)
    for (const Rectangle &rect : problem.items[i].rectangles)
      if (row >= rect.rowBegin && row < rect.rowEnd && (row - rect.rowBegin) % rect.rowStep == 0 &&
          col >= rect.colBegin && col < rect.colEnd) {
        result.push_back(int32_t(i));
        break;
      }
  return result;
}

Load mostLoadedRouter(const Problem &problem, bool freeOnly) {
  // One row and one column more than the mesh, for the differences that end at its edges.
  size_t pitch = size_t(problem.cols) + 1;
  std::vector<int32_t> count((size_t(problem.rows) + 1) * pitch, 0);
  for (const Item &item : problem.items) {
    if (freeOnly && item.fixedColour &&
        std::find(problem.colours.begin(), problem.colours.end(), *item.fixedColour) == problem.colours.end())
      continue;
    for (const Rectangle &rect : disjointRectangles(item)) {
      auto add = [&](size_t rowBegin, size_t rowEnd) {
        ++count[rowBegin * pitch + rect.colBegin];
        --count[rowBegin * pitch + rect.colEnd];
        --count[rowEnd * pitch + rect.colBegin];
        ++count[rowEnd * pitch + rect.colEnd];
      };
      if (rect.rowStep == 1)
        add(rect.rowBegin, rect.rowEnd);
      else
        for (int64_t row = rect.rowBegin; row < rect.rowEnd; row += rect.rowStep)
          add(row, row + 1);
    }
  }
  Load load;
  for (int32_t row = 0; row < problem.rows; ++row) {
    int32_t along = 0;
    for (int32_t col = 0; col < problem.cols; ++col) {
      size_t at = size_t(row) * pitch + col;
      along += count[at]; // differences of this row, summed from the west
      count[at] = along + (row > 0 ? count[at - pitch] : 0);
      if (count[at] > load.items)
        load = {row, col, count[at]};
    }
  }
  return load;
}

Stats evaluate(const Problem &problem, const Solution &solution) {
  std::set<int32_t> used(solution.colourOf.begin(), solution.colourOf.end());
  // An item without rectangles needs a colour too.
  int64_t bound = std::max(mostLoadedRouter(problem).items, int64_t(!problem.items.empty()));
  return {int64_t(used.size()), bound};
}

// Colours item by item, with one algorithm after the other until one succeeds; where `least` items stay without a
// colour whatever is done, the first failure stands. `graph` is made when the first fails.
static absl::StatusOr<Attempt> tryItemByItem(const Problem &problem, std::optional<ConflictGraph> &graph,
                                             int64_t &least) {
  absl::StatusOr<Attempt> attempt = tryFirstFit(problem);
  if (!attempt.ok() || attempt->stuck < 0)
    return attempt;
  graph.emplace(problem);
  least = leastWithout(problem, *graph, attempt->stuck);
  if (least > 0)
    return attempt;
  attempt = tryWestFirst(problem);
  return !attempt.ok() || attempt->stuck < 0 ? std::move(attempt) : tryDsatur(problem, *graph);
}

absl::StatusOr<Partial> solvePartial(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  std::optional<ConflictGraph> graph;
  int64_t least = 0;
  absl::StatusOr<Attempt> attempt = tryItemByItem(problem, graph, least);
  if (!attempt.ok())
    return attempt.status();
  return attempt->stuck < 0 ? Partial{std::move(attempt->solution), {}} : searchTabu(problem, *graph, least);
}

absl::StatusOr<Solution> solve(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  std::optional<ConflictGraph> graph;
  int64_t least = 0;
  absl::StatusOr<Attempt> attempt = tryItemByItem(problem, graph, least);
  if (!attempt.ok() || attempt->stuck < 0)
    return finish(problem, std::move(attempt));
  return solveTabu(problem);
}

} // namespace wsc::solver::colouring
