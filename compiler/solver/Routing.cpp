// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The routing problem judged: limits, an independent check of trees, wire length with its bound, and link loads.
//
// verify() lays a net's links into a grid of routers (which neighbours it feeds, whether it is fed), then walks from
// the source.
#include "compiler/solver/Routing.h"
#include "compiler/solver/Steiner.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>

namespace wsc::solver::routing {

namespace {
constexpr int64_t kMostRouters = int64_t(1) << 24;
constexpr int64_t kMostWords = int64_t(1) << 40;
constexpr int64_t kMostWordsTogether = int64_t(1) << 60;
} // namespace

const char *name(Direction direction) {
  switch (direction) {
  case Direction::North:
    return "north";
  case Direction::South:
    return "south";
  case Direction::East:
    return "east";
  case Direction::West:
    return "west";
  }
  return "";
}

absl::Status checkLoad(int32_t rows, int32_t cols, const FixedLoad &load, int32_t rowsAlike, int64_t &together) {
  const Segment &s = load.segment;
  auto isInside = [&](int64_t row, int32_t col) { return row >= 0 && row < rows && col >= 0 && col < cols; };
  auto refuse = [&](auto &&...what) {
    return absl::InvalidArgumentError(absl::StrCat("routing: fixed load from (", s.row, ", ", s.col, ") to (", s.rowEnd,
                                                   ", ", s.colEnd, ")", what...));
  };
  if (!isInside(s.row, s.col) || !isInside(s.rowEnd, s.colEnd))
    return refuse(" leaves mesh ", rows, "x", cols);
  if ((s.row == s.rowEnd) == (s.col == s.colEnd))
    return refuse(" is not a straight run of links");
  if (rowsAlike != 1 && (rowsAlike < 1 || s.row != s.rowEnd || !isInside(int64_t(s.row) + rowsAlike - 1, s.col)))
    return refuse(" has ", rowsAlike, " rows alike, must be 1 or, along a row, 1 to ", rows - s.row);
  if (load.wordsPerSample < 0 || load.wordsPerSample > kMostWords)
    return refuse(" carries ", load.wordsPerSample, " words, must be 0 to ", kMostWords);
  if (load.wordsPerSample > (kMostWordsTogether - together) / rowsAlike)
    return refuse(": nets and fixed loads carry more than ", kMostWordsTogether, " words");
  together += load.wordsPerSample * rowsAlike;
  return absl::OkStatus();
}

absl::Status Problem::check() const {
  if (rows < 1 || cols < 1 || int64_t(rows) * cols > kMostRouters)
    return absl::InvalidArgumentError(
        absl::StrCat("routing: mesh ", rows, "x", cols, " must have 1 to ", kMostRouters, " routers"));
  if (linkCapacityWords && *linkCapacityWords < 0)
    return absl::InvalidArgumentError(absl::StrCat("routing: link capacity ", *linkCapacityWords, " is negative"));
  int64_t together = 0;
  for (const Net &net : nets) {
    auto refuse = [&](auto &&...what) {
      return absl::InvalidArgumentError(absl::StrCat("routing: net ", net.name, what...));
    };
    if (net.row < 0 || net.row >= rows || net.colBegin < 0 || net.colBegin >= cols)
      return refuse(" begins at router (", net.row, ", ", net.colBegin, "), outside mesh ", rows, "x", cols);
    if (net.wordsPerSample < 0 || net.wordsPerSample > kMostWords)
      return refuse(" carries ", net.wordsPerSample, " words, must be 0 to ", kMostWords);
    together += net.wordsPerSample;
    if (together > kMostWordsTogether)
      return refuse(": the nets up to here carry more than ", kMostWordsTogether, " words");
    if (net.sinks.empty())
      return refuse(" has no sinks");
    for (const Sink &sink : net.sinks)
      if (sink.col < 0 || sink.col >= cols || sink.rowLo < 0 || sink.rowLo > sink.rowHi || sink.rowHi >= rows)
        return refuse(" has sink column ", sink.col, " rows ", sink.rowLo, " to ", sink.rowHi,
                      "; it must be non-empty, inside mesh ", rows, "x", cols);
  }
  for (const FixedLoad &load : fixed)
    if (absl::Status status = checkLoad(rows, cols, load, 1, together); !status.ok())
      return status;
  return absl::OkStatus();
}

absl::Status Solution::verify(const Problem &problem) const {
  if (segmentsOf.size() != problem.nets.size())
    return absl::FailedPreconditionError(
        absl::StrCat("routing: solution has ", segmentsOf.size(), " trees for ", problem.nets.size(), " nets"));
  struct Router {
    int32_t net = -1; // the marks below are this net's
    bool fed = false, reached = false;
    std::array<bool, 4> feeds{}; // per Direction
  };
  constexpr std::array<std::pair<int, int>, 4> kSteps{{{-1, 0}, {1, 0}, {0, 1}, {0, -1}}};
  std::vector<Router> grid(size_t(problem.rows) * problem.cols);
  for (size_t n = 0; n < problem.nets.size(); ++n) {
    const Net &net = problem.nets[n];
    auto at = [&](int32_t row, int32_t col) -> Router & {
      Router &router = grid[size_t(row) * problem.cols + col];
      if (router.net != int32_t(n))
        router = Router{int32_t(n), false, false, {}};
      return router;
    };
    auto inside = [&](int32_t row, int32_t col) {
      return row >= 0 && row < problem.rows && col >= 0 && col < problem.cols;
    };
    auto error = [&](const std::string &what, int32_t row, int32_t col) {
      return absl::FailedPreconditionError(
          absl::StrCat("routing: net ", net.name, ": router (", row, ", ", col, ") ", what));
    };
    int64_t links = 0;
    for (const Segment &segment : segmentsOf[n]) {
      if (!inside(segment.row, segment.col))
        return error("is outside the mesh", segment.row, segment.col);
      if (!inside(segment.rowEnd, segment.colEnd))
        return error("is outside the mesh", segment.rowEnd, segment.colEnd);
      if ((segment.row == segment.rowEnd) == (segment.col == segment.colEnd))
        return error(absl::StrCat("and (", segment.rowEnd, ", ", segment.colEnd, ") do not bound a straight segment"),
                     segment.row, segment.col);
      size_t d = 0;
      int rowSign = (segment.rowEnd > segment.row) - (segment.rowEnd < segment.row);
      int colSign = (segment.colEnd > segment.col) - (segment.colEnd < segment.col);
      while (kSteps[d] != std::pair(rowSign, colSign))
        ++d;
      for (int32_t row = segment.row, col = segment.col; row != segment.rowEnd || col != segment.colEnd;) {
        at(row, col).feeds[d] = true;
        row += rowSign;
        col += colSign;
        if (row == net.row && col == net.colBegin)
          return error("is the source and is fed by the tree", row, col);
        if (at(row, col).fed)
          return error("is fed twice", row, col);
        at(row, col).fed = true;
        ++links;
      }
    }
    std::vector<std::pair<int32_t, int32_t>> walk{{net.row, net.colBegin}};
    at(net.row, net.colBegin).reached = true;
    for (size_t next = 0; next < walk.size(); ++next) {
      auto [row, col] = walk[next];
      for (size_t d = 0; d < kSteps.size(); ++d)
        if (at(row, col).feeds[d]) {
          auto to = std::pair(row + kSteps[d].first, col + kSteps[d].second);
          at(to.first, to.second).reached = true;
          walk.push_back(to);
        }
    }
    if (int64_t(walk.size()) - 1 != links)
      for (const Segment &segment : segmentsOf[n])
        if (!at(segment.row, segment.col).reached)
          return error("begins a segment that the source does not reach", segment.row, segment.col);
    for (const Sink &sink : net.sinks)
      for (int32_t row = sink.rowLo; row <= sink.rowHi; ++row)
        if (!at(row, sink.col).reached)
          return error("is a sink that the tree does not reach", row, sink.col);
  }
  return absl::OkStatus();
}

int64_t lowerBound(const Net &net) {
  // A tree has one link less than routers. It holds the required routers, and at least one in each column (row) between
  // the outermost.
  std::map<int32_t, std::vector<std::pair<int32_t, int32_t>>> required; // column → row ranges
  required[net.colBegin].push_back({net.row, net.row});
  for (const Sink &sink : net.sinks)
    required[sink.col].push_back({sink.rowLo, sink.rowHi});
  int64_t width = required.rbegin()->first - required.begin()->first;
  int64_t byColumns = width + 1 - int64_t(required.size());
  int32_t top = net.row, bottom = net.row;
  int64_t routers = 0;
  std::map<int32_t, int64_t> changes; // row → required routers beginning minus ending there
  for (auto &[col, ranges] : required) {
    std::sort(ranges.begin(), ranges.end());
    int32_t next = 0; // rows below it are counted
    for (auto [lo, hi] : ranges) {
      top = std::min(top, lo);
      bottom = std::max(bottom, hi);
      lo = std::max(lo, next);
      if (lo > hi)
        continue;
      routers += hi - lo + 1;
      ++changes[lo];
      --changes[hi + 1];
      next = hi + 1;
    }
  }
  byColumns += routers;
  int64_t byRows = routers, alive = 0;
  for (auto it = changes.begin(); std::next(it) != changes.end(); ++it) {
    alive += it->second;
    if (alive == 0)
      byRows += std::next(it)->first - it->first;
  }
  return std::max({width + bottom - top, byColumns - 1, byRows - 1});
}

Direction directionOf(const Segment &segment) {
  if (segment.row == segment.rowEnd)
    return segment.colEnd > segment.col ? Direction::East : Direction::West;
  return segment.rowEnd > segment.row ? Direction::South : Direction::North;
}

namespace {

// The routers whose outgoing link in `directionOf(segment)` the segment takes, both ends included.
Segment links(const Segment &segment) {
  switch (directionOf(segment)) {
  case Direction::East:
    return {segment.row, segment.col, segment.row, segment.colEnd - 1};
  case Direction::West:
    return {segment.row, segment.colEnd + 1, segment.row, segment.col};
  case Direction::South:
    return {segment.row, segment.col, segment.rowEnd - 1, segment.col};
  case Direction::North:
    return {segment.rowEnd + 1, segment.col, segment.row, segment.col};
  }
  return segment;
}

} // namespace

LinkWords linkWords(const Problem &problem, const Solution *solution) {
  LinkWords loads;
  for (auto &words : loads)
    words.assign(size_t(problem.rows) * problem.cols, 0);
  auto at = [&](int32_t row, int32_t col) { return size_t(row) * problem.cols + col; };
  // Differences along the segments, then sums.
  auto add = [&](const Segment &segment, int64_t wordsPerSample) {
    Segment run = links(segment);
    auto &words = loads[size_t(directionOf(segment))];
    bool horizontal = segment.row == segment.rowEnd;
    words[at(run.row, run.col)] += wordsPerSample;
    if (horizontal && run.colEnd + 1 < problem.cols)
      words[at(run.row, run.colEnd + 1)] -= wordsPerSample;
    if (!horizontal && run.rowEnd + 1 < problem.rows)
      words[at(run.rowEnd + 1, run.col)] -= wordsPerSample;
  };
  for (const FixedLoad &load : problem.fixed)
    add(load.segment, load.wordsPerSample);
  for (size_t n = 0; solution && n < problem.nets.size(); ++n)
    for (const Segment &segment : solution->segmentsOf[n])
      add(segment, problem.nets[n].wordsPerSample);
  for (int32_t row = 0; row < problem.rows; ++row)
    for (int32_t col = 0; col < problem.cols; ++col) {
      if (col > 0)
        for (Direction d : {Direction::East, Direction::West})
          loads[size_t(d)][at(row, col)] += loads[size_t(d)][at(row, col - 1)];
      if (row > 0)
        for (Direction d : {Direction::North, Direction::South})
          loads[size_t(d)][at(row, col)] += loads[size_t(d)][at(row - 1, col)];
    }
  return loads;
}

RoutingStats evaluate(const Problem &problem, const Solution &solution) {
  RoutingStats stats;
  ShortestTrees shortest;
  for (size_t n = 0; n < problem.nets.size(); ++n) {
    for (const Segment &segment : solution.segmentsOf[n])
      stats.value += std::abs(segment.rowEnd - segment.row) + std::abs(segment.colEnd - segment.col);
    const std::optional<int64_t> exact = shortest.of(problem.nets[n]);
    stats.netsExact += exact.has_value();
    stats.lowerBound += exact ? *exact : lowerBound(problem.nets[n]);
  }
  LinkWords loads = linkWords(problem, &solution);
  for (int32_t row = 0; row < problem.rows; ++row)
    for (int32_t col = 0; col < problem.cols; ++col)
      for (size_t d = 0; d < 4; ++d) {
        int64_t words = loads[d][size_t(row) * problem.cols + col];
        stats.linksUsed += words > 0;
        stats.linksOverCapacity += problem.linkCapacityWords && words > *problem.linkCapacityWords;
        if (words > stats.mostWords) {
          stats.mostWords = words;
          stats.row = row;
          stats.col = col;
          stats.direction = Direction(d);
        }
      }
  return stats;
}

absl::Status checkCapacity(const Problem &problem, const Solution &solution) {
  RoutingStats stats = evaluate(problem, solution);
  if (stats.linksOverCapacity == 0)
    return absl::OkStatus();
  constexpr int kMostNames = 20;
  std::string names;
  int count = 0;
  auto takesWorst = [&](const Segment &segment) {
    Segment run = links(segment);
    return directionOf(segment) == stats.direction && stats.row >= run.row && stats.row <= run.rowEnd &&
           stats.col >= run.col && stats.col <= run.colEnd;
  };
  for (size_t n = 0; n < problem.nets.size(); ++n)
    for (const Segment &segment : solution.segmentsOf[n])
      if (takesWorst(segment) && count++ < kMostNames)
        absl::StrAppend(&names, count > 1 ? ", " : "", problem.nets[n].name, " ", problem.nets[n].wordsPerSample);
  if (count > kMostNames)
    absl::StrAppend(&names, " and ", count - kMostNames, " more");
  int64_t fixed = 0;
  for (const FixedLoad &load : problem.fixed)
    if (takesWorst(load.segment))
      fixed += load.wordsPerSample;
  if (fixed > 0)
    absl::StrAppend(&names, count > 0 ? ", " : "", "fixed ", fixed);
  return absl::ResourceExhaustedError(absl::StrCat(
      stats.linksOverCapacity, " links carry more than ", *problem.linkCapacityWords, " words per sample; the worst, ",
      name(stats.direction), " out of router (", stats.row, ", ", stats.col, "), carries ", stats.mostWords, ": ",
      names, "; spread the nets over more rows or allow a longer interval"));
}

} // namespace wsc::solver::routing
