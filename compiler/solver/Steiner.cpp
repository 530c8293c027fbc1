// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// best[set][point]: links of a shortest tree that joins the pins of `set` and a point of the grid. Two such trees meet
// in a point; then trees spread over the grid as in a shortest-path search.
#include "compiler/solver/Steiner.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <vector>

namespace wsc::solver::routing {

namespace {

struct Pin {
  int32_t col, rowLo, rowHi;
};

// The runs of routers that a net must reach, its source's among them.
std::vector<Pin> pinsOf(const Net &net) {
  std::map<int32_t, std::vector<std::pair<int32_t, int32_t>>> ranges;
  ranges[net.colBegin].push_back({net.row, net.row});
  for (const Sink &sink : net.sinks)
    ranges[sink.col].push_back({sink.rowLo, sink.rowHi});
  std::vector<Pin> pins;
  for (auto &[col, rows] : ranges) {
    std::sort(rows.begin(), rows.end());
    const size_t first = pins.size();
    for (auto [lo, hi] : rows)
      if (pins.size() > first && lo <= pins.back().rowHi + 1)
        pins.back().rowHi = std::max(pins.back().rowHi, hi);
      else
        pins.push_back({col, lo, hi});
  }
  return pins;
}

std::vector<int32_t> sortedOnce(std::vector<int32_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

class Grid {
public:
  explicit Grid(const std::vector<Pin> &pins) {
    for (const Pin &pin : pins) {
      cols.push_back(pin.col);
      rows.insert(rows.end(), {pin.rowLo, pin.rowHi});
    }
    cols = sortedOnce(std::move(cols));
    rows = sortedOnce(std::move(rows));
    down.assign(size(), 0);
    for (size_t r = 0; r + 1 < rows.size(); ++r)
      for (size_t c = 0; c < cols.size(); ++c)
        down[r * cols.size() + c] = rows[r + 1] - rows[r];
    for (const Pin &pin : pins)
      forEachPoint(pin, [&](size_t point, int32_t row) { down[point] = row < pin.rowHi ? 0 : down[point]; });
  }

  size_t size() const { return rows.size() * cols.size(); }

  template <typename Visit> void forEachPoint(const Pin &pin, Visit visit) const {
    const size_t c = size_t(std::lower_bound(cols.begin(), cols.end(), pin.col) - cols.begin());
    for (size_t r = 0; r < rows.size(); ++r)
      if (rows[r] >= pin.rowLo && rows[r] <= pin.rowHi)
        visit(r * cols.size() + c, rows[r]);
  }

  // Lets every point be reached from the others.
  void spread(std::vector<int64_t> &best) const {
    using Entry = std::pair<int64_t, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    for (size_t point = 0; point < size(); ++point)
      if (best[point] < kFar)
        open.push({best[point], point});
    while (!open.empty()) {
      auto [links, point] = open.top();
      open.pop();
      if (links > best[point])
        continue;
      auto reach = [&](size_t to, int64_t length) {
        if (links + length < best[to])
          open.push({best[to] = links + length, to});
      };
      const size_t r = point / cols.size(), c = point % cols.size();
      if (r > 0)
        reach(point - cols.size(), down[point - cols.size()]);
      if (r + 1 < rows.size())
        reach(point + cols.size(), down[point]);
      if (c > 0)
        reach(point - 1, cols[c] - cols[c - 1]);
      if (c + 1 < cols.size())
        reach(point + 1, cols[c + 1] - cols[c]);
    }
  }

  static constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;

private:
  std::vector<int32_t> rows, cols;
  std::vector<int64_t> down; // links from a point to the one below it: 0 along a pin
};

} // namespace

std::optional<int64_t> shortestTree(const Net &net, int mostPins) {
  const std::vector<Pin> pins = pinsOf(net);
  if (pins.size() > size_t(std::min(mostPins, kMostPins)))
    return std::nullopt;
  int64_t along = 0;
  for (const Pin &pin : pins)
    along += pin.rowHi - pin.rowLo;
  if (pins.size() == 1)
    return along;
  const Grid grid(pins);
  const unsigned sets = 1u << (pins.size() - 1); // of all pins but the last, to which the tree of all of them reaches
  std::vector<std::vector<int64_t>> best(sets, std::vector<int64_t>(grid.size(), Grid::kFar));
  for (size_t p = 0; p + 1 < pins.size(); ++p)
    grid.forEachPoint(pins[p], [&](size_t point, int32_t) { best[1u << p][point] = 0; });
  for (unsigned set = 1; set < sets; ++set) {
    for (unsigned part = (set - 1) & set; part > set / 2;
         part = (part - 1) & set) // the half with the last pin of `set`
      for (size_t point = 0; point < grid.size(); ++point)
        best[set][point] = std::min(best[set][point], best[part][point] + best[set ^ part][point]);
    grid.spread(best[set]);
  }
  int64_t least = Grid::kFar;
  grid.forEachPoint(pins.back(), [&](size_t point, int32_t) { least = std::min(least, best[sets - 1][point]); });
  return along + least;
}

std::optional<int64_t> ShortestTrees::of(const Net &net) {
  std::vector<int32_t> shape;
  for (const Sink &sink : net.sinks)
    shape.insert(shape.end(), {sink.col - net.colBegin, sink.rowLo - net.row, sink.rowHi - net.row});
  auto [entry, isNew] = known.try_emplace(std::move(shape));
  if (isNew) {
    entry->second = shortestTree(net, kFewPins);
    if (!entry->second && searches > 0 && (entry->second = shortestTree(net)))
      --searches;
  }
  return entry->second;
}

} // namespace wsc::solver::routing
