// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws one stream at a time on a small mesh, as a tree of random walks over routers that its colour does not use yet.
#pragma once

#include "test/support/fabric/Plan.h"

#include <map>
#include <optional>
#include <set>

namespace wsc::fabric {

using Cell = std::pair<int32_t, int32_t>; // row, column
inline format::PortMask bit(format::Port port) { return format::PortMask(1u << unsigned(port)); }
constexpr format::Port kSides[] = {format::Port::North, format::Port::South, format::Port::East, format::Port::West};
inline format::Port opposite(format::Port side) {
  using enum format::Port;
  constexpr format::Port other[] = {South, North, West, East};
  return other[size_t(side)];
}
inline Cell beside(Cell cell, format::Port side) {
  constexpr int32_t row[] = {-1, 1, 0, 0}, col[] = {0, 0, 1, -1};
  return {cell.first + row[size_t(side)], cell.second + col[size_t(side)]};
}

class StreamDrawer {
public:
  StreamDrawer(Random &random, Plan &plan);

protected:
  Random &random;
  Plan &plan;
  StreamPlan stream;                                        // being drawn
  std::map<Cell, std::vector<format::SwitchPosition>> tree; // its routers

  // Forgets what was being drawn; a new colour and type.
  void begin();
  // Adds the stream to the plan. False: an end has no queue left, or the stream was refused.
  bool commit();

  // A router that the colour does not use.
  std::optional<Cell> freeCell();
  bool isFree(Cell cell) const;
  // A source at a cell, which it puts into the tree: its core or, if wanted, perhaps a port of the wafer.
  Party source(Cell cell, bool portsToo);
  // Walks from a cell of the tree over its position `p`; returns where it got to.
  Cell walk(Cell cell, size_t p, int64_t length, std::vector<Cell> *passed = nullptr);
  // A walk away from `cell` that is then turned round: from its end, the sender, to `cell`, which leaves over `out`.
  Party inward(Cell cell, format::Port out);
  // A tree of walks below position `p` of a cell, with takers of `items` at their ends and on the way. False: an end
  // can be no taker.
  bool tail(Cell root, size_t p, const std::vector<Item> &items, bool branching = true);
  void addTaker(Party party);

  // One to `most` items of random lengths, each later than those before.
  std::vector<Item> items(int64_t most);
  // A control word after the last item.
  Item control(int count) const { return {0, 0, uint8_t(count), lastKey + 0.1}; }

private:
  std::vector<uint8_t> colours; // few, for few routers: links are shared
  bool filters = false;         // of some of the stream's takers
  int64_t lengths[3];
  std::set<std::pair<int, Cell>> used; // (colour, router)
  std::map<Cell, int> inputs, outputs; // queues of cores in use
  double lastKey = 0;

  using PortSinks = std::vector<std::pair<Cell, format::Port>>;
  bool inRegion(Cell cell) const;
  std::optional<format::Port> outerSide(Cell cell);
  bool sink(Cell cell, size_t p, std::vector<Cell> &coreSinks, PortSinks &portSinks);
  void drawFilters();
  void fitItems();
};

} // namespace wsc::fabric
