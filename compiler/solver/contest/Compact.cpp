// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Along one axis the wire length is an L♮-convex function of the coordinates, constraints x_b >= x_a + width_a
// included: a point is optimal if no set of rectangles shortens the wires by moving one tile together, either way
// (Murota, "Discrete Convex Analysis", 2003). The best set is a minimum cut: what is shoved moves along, and a wire
// costs or saves where just one end moves. The axes take turns until neither improves.
#include "compiler/solver/contest/Compact.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace wsc::solver::contest {

namespace {

constexpr int64_t kInfinite = int64_t(1) << 40;

// Maximum flow by shortest augmenting paths (Dinic).
class Cut {
public:
  explicit Cut(int32_t nodes) : heads(size_t(nodes), -1) {}

  void arc(int32_t from, int32_t to, int64_t capacity) {
    arcs.push_back({to, heads[from], capacity});
    heads[from] = int32_t(arcs.size()) - 1;
    arcs.push_back({from, heads[to], 0});
    heads[to] = int32_t(arcs.size()) - 1;
  }
  // Nodes on the source's side of a minimum cut, the fewest.
  std::vector<bool> sourceSide(int32_t source, int32_t sink) {
    while (level(source), levels[sink] >= 0) {
      next = heads;
      while (push(source, sink, kInfinite * 1000) > 0) {
      }
    }
    std::vector<bool> side;
    for (int32_t l : levels)
      side.push_back(l >= 0);
    return side;
  }

private:
  struct Arc {
    int32_t to = 0, next = -1;
    int64_t capacity = 0;
  };
  void level(int32_t source) {
    levels.assign(heads.size(), -1);
    levels[source] = 0;
    std::vector<int32_t> queue{source};
    for (size_t i = 0; i < queue.size(); ++i)
      for (int32_t a = heads[queue[i]]; a >= 0; a = arcs[a].next)
        if (arcs[a].capacity > 0 && levels[arcs[a].to] < 0) {
          levels[arcs[a].to] = levels[queue[i]] + 1;
          queue.push_back(arcs[a].to);
        }
  }
  int64_t push(int32_t node, int32_t sink, int64_t limit) {
    if (node == sink)
      return limit;
    for (int32_t &a = next[node]; a >= 0; a = arcs[a].next) {
      if (arcs[a].capacity <= 0 || levels[arcs[a].to] != levels[node] + 1)
        continue;
      if (int64_t pushed = push(arcs[a].to, sink, std::min(limit, arcs[a].capacity)); pushed > 0) {
        arcs[a].capacity -= pushed;
        arcs[a ^ 1].capacity += pushed;
        return pushed;
      }
    }
    return 0;
  }

  std::vector<Arc> arcs;
  std::vector<int32_t> heads, next, levels;
};

// One axis: positions, extents, and pairs (a, b) with position b >= position a + extent a.
struct Axis {
  std::vector<int64_t> position, extent;
  std::vector<std::pair<int32_t, int32_t>> order;
  int64_t length = 0;

  int64_t centre(int32_t i) const { return 2 * position[i] + extent[i]; }
};

Axis axisOf(const std::vector<Rectangle> &rectangles, bool vertical, int64_t length) {
  Axis axis;
  axis.length = length;
  auto along = [&](const Rectangle &r) { return vertical ? r.y : r.x; };
  auto alongEnd = [&](const Rectangle &r) { return vertical ? r.y + r.height : r.x + r.width; };
  auto across = [&](const Rectangle &r) { return vertical ? r.x : r.y; };
  auto acrossEnd = [&](const Rectangle &r) { return vertical ? r.x + r.width : r.y + r.height; };
  for (const Rectangle &r : rectangles) {
    axis.position.push_back(along(r));
    axis.extent.push_back(alongEnd(r) - along(r));
  }
  for (size_t a = 0; a < rectangles.size(); ++a)
    for (size_t b = 0; b < rectangles.size(); ++b)
      if (alongEnd(rectangles[a]) <= along(rectangles[b]) && across(rectangles[a]) < acrossEnd(rectangles[b]) &&
          across(rectangles[b]) < acrossEnd(rectangles[a]))
        axis.order.push_back({int32_t(a), int32_t(b)});
  return axis;
}

// Moves the best set by as much as pays, in one direction; false: none pays.
bool improve(Axis &axis, const std::vector<Wire> &wires, int64_t direction) {
  const int32_t n = int32_t(axis.position.size()), source = n, sink = n + 1;
  Cut cut(n + 2);
  for (int32_t i = 0; i < n; ++i)
    if (direction > 0 ? axis.position[i] + axis.extent[i] >= axis.length : axis.position[i] <= 0)
      cut.arc(i, sink, kInfinite); // cannot move
  for (auto [a, b] : axis.order)
    if (axis.position[a] + axis.extent[a] == axis.position[b])
      direction > 0 ? cut.arc(a, b, kInfinite) : cut.arc(b, a, kInfinite);
  // Gain of a set S: Σ over wires with one end in S of what that end's step saves.
  std::vector<int64_t> saved(size_t(n), 0);
  for (const Wire &wire : wires) {
    const int64_t distance = axis.centre(wire.a) - axis.centre(wire.b);
    // What it costs if only a moves, and only b.
    const int64_t costA = wire.count * (std::abs(distance + 2 * direction) - std::abs(distance)),
                  costB = wire.count * (std::abs(distance - 2 * direction) - std::abs(distance));
    // costA·[a] + costB·[b] − (costA + costB)·[a][b], the last = (sum/2)·([a xor b] − [a] − [b]).
    const int64_t sum = costA + costB; // >= 0, by convexity
    saved[wire.a] -= 2 * costA - sum;
    saved[wire.b] -= 2 * costB - sum;
    cut.arc(wire.a, wire.b, sum);
    cut.arc(wire.b, wire.a, sum);
  }
  bool pays = false;
  for (int32_t i = 0; i < n; ++i) {
    pays = pays || saved[i] > 0;
    saved[i] > 0 ? cut.arc(source, i, saved[i]) : cut.arc(i, sink, -saved[i]);
  }
  if (!pays)
    return false;
  const std::vector<bool> moves = cut.sourceSide(source, sink);
  auto length = [&] {
    int64_t sum = 0;
    for (const Wire &wire : wires)
      sum += wire.count * std::abs(axis.centre(wire.a) - axis.centre(wire.b));
    return sum;
  };
  bool any = false;
  while (true) {
    const Axis before = axis;
    const int64_t was = length();
    bool legal = true;
    for (int32_t i = 0; i < n; ++i)
      if (moves[i]) {
        axis.position[i] += direction;
        legal = legal && axis.position[i] >= 0 && axis.position[i] + axis.extent[i] <= axis.length;
      }
    for (auto [a, b] : axis.order)
      legal = legal && axis.position[a] + axis.extent[a] <= axis.position[b];
    if (!legal || length() >= was) {
      axis = before;
      return any;
    }
    any = true;
  }
}

} // namespace

int64_t doubleWireLength(const std::vector<Rectangle> &rectangles, const std::vector<Wire> &wires) {
  int64_t sum = 0;
  for (const Wire &wire : wires) {
    const Rectangle &a = rectangles[wire.a], &b = rectangles[wire.b];
    sum += int64_t(wire.count) *
           (std::abs(2 * (a.x - b.x) + a.width - b.width) + std::abs(2 * (a.y - b.y) + a.height - b.height));
  }
  return sum;
}

void compact(std::vector<Rectangle> &rectangles, const std::vector<Wire> &wires, int64_t width, int64_t height) {
  bool improved = true;
  while (improved) {
    improved = false;
    for (bool vertical : {false, true}) {
      Axis axis = axisOf(rectangles, vertical, vertical ? height : width);
      while (improve(axis, wires, 1) || improve(axis, wires, -1))
        improved = true;
      for (size_t i = 0; i < rectangles.size(); ++i)
        (vertical ? rectangles[i].y : rectangles[i].x) = int32_t(axis.position[i]);
    }
  }
}

} // namespace wsc::solver::contest
