// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/fabric/StreamDrawer.h"

#include <algorithm>

namespace wsc::fabric {

using namespace format;

StreamDrawer::StreamDrawer(Random &random, Plan &plan) : random(random), plan(plan) {
  const int64_t any[] = {1, 2, 3, 4, 5, 6, 8, 12, 20}, large[] = {6, 12, 16, 20, 24};
  for (int64_t &length : lengths)
    length = plan.swapPercent >= 40 ? random.of(large) : random.of(any);
  for (int64_t i = random.pick(1, 8); i > 0; --i)
    colours.push_back(uint8_t(random.pick(0, 21)));
}

void StreamDrawer::begin() {
  stream = {};
  stream.colour = random.of(colours);
  const ElementType types[] = {ElementType::F32, ElementType::F32, ElementType::F32, ElementType::F32, ElementType::F16,
                               ElementType::F16, ElementType::F16, ElementType::U8,  ElementType::F64};
  stream.type = random.of(types);
  tree.clear();
  lastKey = double(random.pick(0, 1000));
}

bool StreamDrawer::commit() {
  filters = plan.filterPercent > 0 && random.chance(60);
  fitItems();
  if (filters)
    drawFilters();
  std::map<Cell, int> in = inputs, out = outputs;
  for (const Party &party : stream.senders)
    if (!party.port && ++out[{party.row, party.col}] > kMaxOutputs)
      return false;
  for (const Party &party : stream.takers)
    if (!party.port && ++in[{party.row, party.col}] > kMaxInputs)
      return false;
  inputs = in;
  outputs = out;
  for (const auto &[cell, positions] : tree) {
    used.insert({stream.colour, cell});
    stream.routers.push_back({cell.first, cell.second, positions});
  }
  plan.streams.push_back(std::move(stream));
  return true;
}

bool StreamDrawer::inRegion(Cell cell) const {
  return cell.first >= 0 && cell.first < plan.rows && cell.second >= 0 && cell.second < plan.cols;
}

bool StreamDrawer::isFree(Cell cell) const {
  return inRegion(cell) && !used.count({stream.colour, cell}) && !tree.count(cell);
}

std::optional<Cell> StreamDrawer::freeCell() {
  for (int tries = 0; tries < 10; ++tries)
    if (Cell cell{int32_t(random.pick(0, plan.rows - 1)), int32_t(random.pick(0, plan.cols - 1))}; isFree(cell))
      return cell;
  return std::nullopt;
}

// An outer side of the cell at which a port may be; regions that are copied downwards have none above and below.
std::optional<Port> StreamDrawer::outerSide(Cell cell) {
  std::vector<Port> sides;
  for (Port side : kSides)
    if (!inRegion(beside(cell, side)) && (plan.copies == 1 || side == Port::East || side == Port::West))
      sides.push_back(side);
  if (sides.empty())
    return std::nullopt;
  return random.of(sides);
}

Party StreamDrawer::source(Cell cell, bool portsToo) {
  Party party{cell.first, cell.second, false, Port::Ramp, {}};
  if (const std::optional<Port> side = outerSide(cell); portsToo && side && random.chance(40)) {
    party.port = true;
    party.side = *side;
  }
  tree[cell] = {{party.side, 0}};
  return party;
}

Cell StreamDrawer::walk(Cell cell, size_t p, int64_t length, std::vector<Cell> *passed) {
  Port last = Port::Ramp;
  for (; length > 0; --length) {
    std::vector<Port> sides;
    for (Port side : kSides)
      if (isFree(beside(cell, side)))
        sides.insert(sides.end(), side == last ? 4 : 1, side); // mostly straight on
    if (sides.empty())
      break;
    last = random.of(sides);
    tree[cell][p].outputs |= bit(last);
    cell = beside(cell, last);
    tree[cell] = {{opposite(last), 0}};
    p = 0;
    if (passed)
      passed->push_back(cell);
  }
  return cell;
}

Party StreamDrawer::inward(Cell cell, Port out) {
  std::vector<std::pair<Cell, Port>> path{{cell, out}};
  tree[cell] = {{Port::Ramp, bit(out)}};
  for (int64_t length = random.pick(0, 3); length > 0; --length) {
    std::vector<Port> sides;
    for (Port side : kSides)
      if (isFree(beside(path.back().first, side)))
        sides.push_back(side);
    if (sides.empty())
      break;
    const Port side = random.of(sides);
    tree[path.back().first][0].input = side;
    path.push_back({beside(path.back().first, side), opposite(side)});
    tree[path.back().first] = {{Port::Ramp, bit(opposite(side))}};
  }
  return {path.back().first.first, path.back().first.second, false, Port::Ramp, {}};
}

// Lets position `p` of a cell end in its core or in a port. False: neither can be.
bool StreamDrawer::sink(Cell cell, size_t p, std::vector<Cell> &coreSinks, PortSinks &portSinks) {
  bool toRamp = true;
  for (const SwitchPosition &position : tree[cell])
    toRamp = toRamp && position.input != Port::Ramp;
  PortMask inputsOfCell = 0, outputsOfCell = 0;
  for (const SwitchPosition &position : tree[cell]) {
    inputsOfCell |= bit(position.input);
    outputsOfCell |= position.outputs;
  }
  const std::optional<Port> side = outerSide(cell);
  const bool outerTaken =
      std::any_of(portSinks.begin(), portSinks.end(), [&](const auto &s) { return s.first == cell; });
  if (side && !outerTaken && !((inputsOfCell | outputsOfCell) & bit(*side)) && random.chance(toRamp ? 35 : 100)) {
    tree[cell][p].outputs |= bit(*side);
    portSinks.push_back({cell, *side});
    return true;
  }
  if (!toRamp || (outputsOfCell & bit(Port::Ramp)))
    return false;
  tree[cell][p].outputs |= bit(Port::Ramp);
  coreSinks.push_back(cell);
  return true;
}

bool StreamDrawer::tail(Cell root, size_t p, const std::vector<Item> &items, bool branching) {
  std::vector<Cell> passed, coreSinks;
  PortSinks portSinks;
  const Cell end = walk(root, p, random.pick(tree[root][p].input == Port::Ramp ? 1 : 0, 6), &passed);
  if (!sink(end, end == root ? p : 0, coreSinks, portSinks))
    return false;
  const int64_t branches = branching && random.chance(60) ? random.pick(1, 3) : 0;
  for (int64_t b = 0; b < branches && !passed.empty(); ++b) {
    const Cell from = random.of(passed);
    std::vector<Cell> branch;
    const Cell leaf = walk(from, 0, random.pick(0, 4), &branch);
    if (!branch.empty() || random.chance(70)) {
      if (!sink(leaf, 0, coreSinks, portSinks) && !branch.empty())
        return false;
    }
    passed.insert(passed.end(), branch.begin(), branch.end());
  }
  for (Cell cell : coreSinks)
    addTaker({cell.first, cell.second, false, Port::Ramp, items});
  for (auto [cell, side] : portSinks)
    addTaker({cell.first, cell.second, true, side, items});
  return true;
}

void StreamDrawer::addTaker(Party party) {
  std::erase_if(party.items, [](const Item &item) { return item.control > 0; });
  stream.takers.push_back(std::move(party));
}

std::vector<Item> StreamDrawer::items(int64_t most) {
  std::vector<Item> list;
  for (int64_t i = random.pick(1, most); i > 0; --i) {
    lastKey += double(random.pick(1, 60));
    list.push_back({random.of(lengths), random.chance(30) ? random.pick(1, 3) : 0, 0, lastKey});
  }
  return list;
}

void StreamDrawer::drawFilters() {
  for (Party &taker : stream.takers)
    if (!taker.port && random.chance(plan.filterPercent))
      taker.window = randomWindow(random, plan, taker, stream.type);
}

// Items that all ends can have.
void StreamDrawer::fitItems() {
  bool ports = false;
  for (const auto *parties : {&stream.senders, &stream.takers})
    for (const Party &party : *parties)
      ports |= party.port;
  const int64_t perWord = std::max<int64_t>(1, 4 / elementBytes(stream.type));
  for (auto *parties : {&stream.senders, &stream.takers})
    for (Party &party : *parties)
      for (Item &item : party.items) {
        if (ports || filters) // pack a sample's elements without gaps: narrow ones must fill the words of every item
          item.elements = (item.elements + perWord - 1) / perWord * perWord;
        if (ports || filters || perWord > 1 || item.elements + item.growth * (plan.copies - 1) > kMostElements)
          item.growth = 0;
      }
}

} // namespace wsc::fabric
