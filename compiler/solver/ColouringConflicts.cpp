// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Disjoint rectangles, the sweep that builds the conflict graph, and the message of a failure.
#include "compiler/solver/ColouringConflicts.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <numeric>

namespace wsc::solver::colouring {

ColourBits::ColourBits(const Problem &problem) : colours(problem.colours) {
  for (const Item &item : problem.items)
    if (item.fixedColour && std::find(colours.begin(), colours.end(), *item.fixedColour) == colours.end())
      colours.push_back(*item.fixedColour);
  available = problem.colours.size() == 64 ? ~uint64_t(0) : (uint64_t(1) << problem.colours.size()) - 1;
}

uint64_t ColourBits::bitOf(int32_t colour) const {
  return uint64_t(1) << (std::find(colours.begin(), colours.end(), colour) - colours.begin());
}

std::vector<Rectangle> disjointRectangles(const Item &item) {
  if (item.rectangles.size() <= 1)
    return item.rectangles;
  // Rows of a stepped rectangle become rectangles of their own, then slabs between row boundaries hold merged column
  // intervals.
  std::vector<Rectangle> pieces;
  for (const Rectangle &rect : item.rectangles) {
    if (rect.rowStep == 1)
      pieces.push_back(rect);
    else
      for (int64_t row = rect.rowBegin; row < rect.rowEnd; row += rect.rowStep)
        pieces.push_back({int32_t(row), int32_t(row) + 1, rect.colBegin, rect.colEnd, 1});
  }
  std::vector<int32_t> boundaries;
  for (const Rectangle &rect : pieces) {
    boundaries.push_back(rect.rowBegin);
    boundaries.push_back(rect.rowEnd);
  }
  std::sort(boundaries.begin(), boundaries.end());
  boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
  std::sort(pieces.begin(), pieces.end(),
            [](const Rectangle &a, const Rectangle &b) { return a.rowBegin < b.rowBegin; });

  std::vector<Rectangle> result, alive;
  size_t nextPiece = 0;
  for (size_t slab = 0; slab + 1 < boundaries.size(); ++slab) {
    int32_t row = boundaries[slab], rowEnd = boundaries[slab + 1];
    alive.erase(std::remove_if(alive.begin(), alive.end(), [&](const Rectangle &rect) { return rect.rowEnd <= row; }),
                alive.end());
    while (nextPiece < pieces.size() && pieces[nextPiece].rowBegin == row)
      alive.push_back(pieces[nextPiece++]);
    std::sort(alive.begin(), alive.end(),
              [](const Rectangle &a, const Rectangle &b) { return a.colBegin < b.colBegin; });
    size_t slabBegin = result.size();
    for (const Rectangle &rect : alive) {
      if (result.size() > slabBegin && rect.colBegin <= result.back().colEnd)
        result.back().colEnd = std::max(result.back().colEnd, rect.colEnd);
      else
        result.push_back({row, rowEnd, rect.colBegin, rect.colEnd, 1});
    }
  }
  return result;
}

namespace {

// Where rectangles begin or end in one direction, numbered in order.
class Boundaries {
public:
  explicit Boundaries(int32_t extent) : numbers(size_t(extent) + 1, -1) {}
  void add(int32_t place) { numbers[place] = 0; }
  // Returns the number of stretches between boundaries.
  int32_t number() {
    int32_t next = 0;
    for (int32_t &number : numbers)
      if (number == 0)
        number = next++;
    return std::max(1, next - 1);
  }
  int32_t of(int32_t place) const { return numbers[place]; }

private:
  std::vector<int32_t> numbers;
};

template <typename Visit> void forEachPiece(const Rectangle &rect, Visit visit) {
  if (rect.rowStep == 1)
    return visit(rect.rowBegin, rect.rowEnd);
  for (int64_t row = rect.rowBegin; row < rect.rowEnd; row += rect.rowStep)
    visit(int32_t(row), int32_t(row) + 1);
}

} // namespace

Problem compressed(const Problem &problem) {
  Boundaries rows(problem.rows), cols(problem.cols);
  for (const Item &item : problem.items)
    for (const Rectangle &rect : item.rectangles) {
      cols.add(rect.colBegin);
      cols.add(rect.colEnd);
      forEachPiece(rect, [&](int32_t rowBegin, int32_t rowEnd) {
        rows.add(rowBegin);
        rows.add(rowEnd);
      });
    }
  Problem result{rows.number(), cols.number(), problem.colours, {}};
  for (const Item &item : problem.items) {
    Item &small = result.items.emplace_back();
    small.fixedColour = item.fixedColour;
    for (const Rectangle &rect : item.rectangles)
      forEachPiece(rect, [&](int32_t rowBegin, int32_t rowEnd) {
        small.rectangles.push_back(
            {rows.of(rowBegin), rows.of(rowEnd), cols.of(rect.colBegin), cols.of(rect.colEnd), 1});
      });
  }
  return result;
}

namespace {

constexpr int32_t kBlockCols = 32;

struct Span {
  int32_t item, rowBegin, rowEnd, colBegin, colEnd;
};

// The spans alive in one row.
class AliveSpans {
public:
  explicit AliveSpans(int32_t cols) : beginning(cols), covering(cols / kBlockCols + 1) {}

  void insert(const Span &span, int32_t index) {
    beginning[span.colBegin].push_back(index);
    forBlocks(span, [&](std::vector<int32_t> &list) { list.push_back(index); });
  }
  void erase(const Span &span, int32_t index) {
    auto take = [&](std::vector<int32_t> &list) { list.erase(std::find(list.begin(), list.end(), index)); };
    take(beginning[span.colBegin]);
    forBlocks(span, take);
  }
  template <typename Visit> void forOverlapping(const std::vector<Span> &spans, const Span &span, Visit visit) const {
    int32_t block = span.colBegin / kBlockCols;
    for (int32_t other : covering[block])
      if (spans[other].colEnd > span.colBegin)
        visit(other);
    for (int32_t col = block * kBlockCols + 1; col < span.colEnd; ++col)
      for (int32_t other : beginning[col])
        if (spans[other].colEnd > span.colBegin)
          visit(other);
  }

private:
  // Lists of the multiples of kBlockCols in [colBegin, colEnd).
  template <typename Visit> void forBlocks(const Span &span, Visit visit) {
    for (int32_t block = (span.colBegin + kBlockCols - 1) / kBlockCols; block * kBlockCols < span.colEnd; ++block)
      visit(covering[block]);
  }

  std::vector<std::vector<int32_t>> beginning, covering;
};

} // namespace

ConflictGraph::ConflictGraph(const Problem &problem) {
  std::vector<Span> spans;
  for (size_t i = 0; i < problem.items.size(); ++i)
    for (const Rectangle &rect : disjointRectangles(problem.items[i])) {
      if (rect.rowStep == 1)
        spans.push_back({int32_t(i), rect.rowBegin, rect.rowEnd, rect.colBegin, rect.colEnd});
      else
        for (int64_t row = rect.rowBegin; row < rect.rowEnd; row += rect.rowStep)
          spans.push_back({int32_t(i), int32_t(row), int32_t(row) + 1, rect.colBegin, rect.colEnd});
    }
  std::vector<std::vector<int32_t>> startingAt(problem.rows), endingAt(problem.rows + 1);
  for (size_t s = 0; s < spans.size(); ++s) {
    startingAt[spans[s].rowBegin].push_back(int32_t(s));
    endingAt[spans[s].rowEnd].push_back(int32_t(s));
  }

  std::vector<std::pair<int32_t, int32_t>> pairs;
  AliveSpans alive(problem.cols);
  for (int32_t row = 0; row < problem.rows; ++row) {
    for (int32_t s : endingAt[row])
      alive.erase(spans[s], s);
    for (int32_t s : startingAt[row]) {
      alive.forOverlapping(spans, spans[s], [&](int32_t other) {
        if (spans[other].item != spans[s].item)
          pairs.push_back({spans[s].item, spans[other].item});
      });
      alive.insert(spans[s], s);
    }
  }

  // Compressed rows by counting. Items that hand themselves to their neighbours one after the other come to them in
  // order, each time one after the other: repetitions are next to each other.
  const size_t items = problem.items.size();
  std::vector<int64_t> begin(items + 1, 0);
  for (auto [a, b] : pairs) {
    ++begin[size_t(a) + 1];
    ++begin[size_t(b) + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int32_t> met(pairs.size() * 2); // the items that each meets, in no order
  std::vector<int64_t> fill(begin.begin(), begin.end() - 1);
  for (auto [a, b] : pairs) {
    met[size_t(fill[size_t(a)]++)] = b;
    met[size_t(fill[size_t(b)]++)] = a;
  }
  std::vector<int32_t> ordered(met.size()), last(items, -1);
  fill.assign(begin.begin(), begin.end() - 1);
  for (size_t i = 0; i < items; ++i)
    for (int64_t m = begin[i]; m < begin[i + 1]; ++m)
      if (const auto other = size_t(met[size_t(m)]); last[other] != int32_t(i)) {
        last[other] = int32_t(i);
        ordered[size_t(fill[other]++)] = int32_t(i);
      }
  first.assign(1, 0);
  for (size_t i = 0; i < items; ++i) {
    neighbours.insert(neighbours.end(), ordered.begin() + begin[i], ordered.begin() + fill[i]);
    first.push_back(int64_t(neighbours.size()));
  }
}

namespace {

std::string describeRouter(const Problem &problem, const Load &load) {
  constexpr size_t kMostNames = 40;
  std::string names;
  std::vector<int32_t> items = itemsAt(problem, load.row, load.col);
  for (size_t i = 0; i < items.size() && i < kMostNames; ++i) {
    const Item &item = problem.items[items[i]];
    absl::StrAppend(&names, i ? ", " : "", item.name);
    if (item.fixedColour)
      absl::StrAppend(&names, " (fixed to ", *item.fixedColour, ")");
  }
  if (items.size() > kMostNames)
    absl::StrAppend(&names, " and ", items.size() - kMostNames, " more");
  return names;
}

} // namespace

absl::Status checkLoad(const Problem &problem) {
  Load load = mostLoadedRouter(problem, /*freeOnly=*/true);
  if (load.items <= int64_t(problem.colours.size()))
    return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("router (", load.row, ", ", load.col, ") needs ", load.items,
                                                   " colours, ", problem.colours.size(),
                                                   " are available; it is passed by ", describeRouter(problem, load),
                                                   "; route some of them elsewhere, or merge streams"));
}

absl::Status checkFixed(const Problem &problem) {
  Problem fixed{problem.rows, problem.cols, problem.colours, {}};
  for (const Item &item : problem.items)
    if (item.fixedColour)
      fixed.items.push_back(item);
  return solveFirstFit(fixed).status();
}

absl::StatusOr<Solution> finish(const Problem &problem, absl::StatusOr<Attempt> attempt) {
  if (!attempt.ok())
    return attempt.status();
  if (attempt->stuck >= 0)
    return noColour(problem, attempt->stuck);
  return std::move(attempt->solution);
}

namespace {

// Items around `item`, itself among them, that all conflict with each other and want one of Problem::colours. Greedy:
// always the candidate that conflicts with most others.
size_t cliqueAround(const Problem &problem, const ConflictGraph &graph, int32_t item) {
  std::vector<uint8_t> candidate(problem.items.size(), 0);
  std::vector<int32_t> candidates;
  auto forNeighbours = [&](int32_t of, auto visit) {
    for (int64_t n = graph.first[size_t(of)]; n < graph.first[size_t(of) + 1]; ++n)
      visit(graph.neighbours[size_t(n)]);
  };
  forNeighbours(item, [&](int32_t other) {
    const std::optional<int32_t> &fixed = problem.items[size_t(other)].fixedColour;
    if (fixed && std::find(problem.colours.begin(), problem.colours.end(), *fixed) == problem.colours.end())
      return;
    candidate[size_t(other)] = 1;
    candidates.push_back(other);
  });
  size_t size = 1;
  for (; !candidates.empty(); ++size) {
    int32_t best = -1;
    int64_t most = -1;
    for (int32_t other : candidates) {
      int64_t common = 0;
      forNeighbours(other, [&](int32_t next) { common += candidate[size_t(next)]; });
      if (common > most) {
        most = common;
        best = other;
      }
    }
    for (int32_t other : candidates)
      candidate[size_t(other)] = 0;
    std::vector<int32_t> left;
    forNeighbours(best, [&](int32_t other) {
      if (std::binary_search(candidates.begin(), candidates.end(), other))
        left.push_back(other);
    });
    candidates = std::move(left);
    for (int32_t other : candidates)
      candidate[size_t(other)] = 1;
  }
  return size;
}

} // namespace

int64_t leastWithout(const Problem &problem, const ConflictGraph &graph, int32_t stuck) {
  const auto colours = int64_t(problem.colours.size());
  if (const auto clique = int64_t(cliqueAround(problem, graph, stuck)); clique > colours)
    return clique - colours;
  return std::max<int64_t>(0, mostLoadedRouter(problem, /*freeOnly=*/true).items - colours);
}

absl::Status noColour(const Problem &problem, int32_t item) {
  absl::Status load = checkLoad(problem);
  if (!load.ok())
    return load;
  Load most = mostLoadedRouter(problem);
  return absl::ResourceExhaustedError(
      absl::StrCat("item ", problem.items[item].name, " finds none of ", problem.colours.size(),
                   " colours free; no router needs more than that, the most loaded is (", most.row, ", ", most.col,
                   ") with ", most.items, " items: ", describeRouter(problem, most),
                   "; route some of them elsewhere, or leave more colours available"));
}

} // namespace wsc::solver::colouring
