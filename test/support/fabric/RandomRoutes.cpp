// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random streams on a small mesh. Each is drawn on a fresh set of routers of its colour as a tree of random walks:
//   unicast and multicast  one source (core or port), walks that branch, sinks at their ends and on the way;
//   relays                 a walk cut into several streams of equal length on colours of their own;
//   gathers                senders along a walk, each passing the turn to the next by control words;
//   joins and splits       a switch that takes from, or gives to, several sides in turn.
// Keys of items order all transfers of a sample, so that programs that keep to them come to their end.
#include "test/support/fabric/Plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace wsc::fabric {

using namespace format;

namespace {

using Cell = std::pair<int32_t, int32_t>;
PortMask bit(Port port) { return PortMask(1u << unsigned(port)); }
constexpr Port kSides[] = {Port::North, Port::South, Port::East, Port::West};
Port opposite(Port side) {
  constexpr Port other[] = {Port::South, Port::North, Port::West, Port::East};
  return other[size_t(side)];
}
Cell beside(Cell cell, Port side) {
  constexpr int32_t row[] = {-1, 1, 0, 0}, col[] = {0, 0, 1, -1};
  return {cell.first + row[size_t(side)], cell.second + col[size_t(side)]};
}

class RoutePlanner {
public:
  RoutePlanner(Random &random, Plan &plan) : random(random), plan(plan) {
    const int64_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 12, 20}, longSizes[] = {6, 12, 16, 20, 24};
    for (int64_t &size : palette)
      size = plan.swapPercent >= 40 ? random.of(longSizes) : random.of(sizes);
  }

  void run() {
    const int colours = int(random.pick(1, 8));
    for (int i = 0; i < colours; ++i) // few colours on few routers: links are shared
      colourPool.push_back(uint8_t(random.pick(0, 21)));
    const int64_t wanted = random.pick(2, 4 + plan.rows * plan.cols / 4);
    for (int64_t tries = 0; tries < 3 * wanted && int64_t(plan.streams.size()) < wanted; ++tries) {
      const int64_t kind = random.pick(0, 99);
      if (kind < 50)
        multicast();
      else if (kind < 65)
        relay();
      else if (kind < 82)
        gather();
      else if (kind < 91)
        join();
      else
        split();
    }
  }

private:
  Random &random;
  Plan &plan;
  std::vector<uint8_t> colourPool;
  int64_t palette[3];
  std::set<std::pair<int, Cell>> used; // (colour, router)
  std::map<Cell, int> inputs, outputs; // queues of cores in use
  // The stream being drawn.
  StreamPlan stream;
  std::map<Cell, std::vector<SwitchPosition>> tree;
  double nextKey = 0;

  void begin() {
    stream = {};
    stream.colour = random.of(colourPool);
    const ElementType types[] = {ElementType::F32, ElementType::F32, ElementType::F32,
                                 ElementType::F32, ElementType::F16, ElementType::F16,
                                 ElementType::F16, ElementType::U8,  ElementType::F64};
    stream.type = random.of(types);
    tree.clear();
    nextKey = double(random.pick(0, 1000));
  }
  // False: an end has no queue left.
  bool commit() {
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

  bool inRegion(Cell cell) const {
    return cell.first >= 0 && cell.first < plan.rows && cell.second >= 0 && cell.second < plan.cols;
  }
  bool isFree(Cell cell) const { return inRegion(cell) && !used.count({stream.colour, cell}) && !tree.count(cell); }
  std::optional<Cell> freeCell() {
    for (int tries = 0; tries < 10; ++tries)
      if (Cell cell{int32_t(random.pick(0, plan.rows - 1)), int32_t(random.pick(0, plan.cols - 1))}; isFree(cell))
        return cell;
    return std::nullopt;
  }
  // An outer side of the cell at which a port may be; regions that are copied downwards have none above and below.
  std::optional<Port> outerSide(Cell cell) {
    std::vector<Port> sides;
    for (Port side : kSides)
      if (!inRegion(beside(cell, side)) && (plan.copies == 1 || side == Port::East || side == Port::West))
        sides.push_back(side);
    if (sides.empty())
      return std::nullopt;
    return random.of(sides);
  }

  // A source at a cell: its core, or a port if there is one. Draws the cell.
  Party source(Cell cell, bool portsToo) {
    Party party{cell.first, cell.second, false, Port::Ramp, {}};
    if (const std::optional<Port> side = outerSide(cell); portsToo && side && random.chance(40)) {
      party.port = true;
      party.side = *side;
    }
    tree[cell] = {{party.side, 0}};
    return party;
  }

  // Walks from a cell of the tree over its position `p`; returns where it got to.
  Cell walk(Cell cell, size_t p, int64_t length, std::vector<Cell> *passed = nullptr) {
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

  // Lets position `p` of a cell end in its core or in a port. False: neither can be.
  bool sink(Cell cell, size_t p, std::vector<Cell> &coreSinks, std::vector<std::pair<Cell, Port>> &portSinks) {
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

  // A tree of walks below position `p` of a cell, with sinks. Returns false when a leaf can be no sink. `items`: what
  // comes down it.
  bool tail(Cell root, size_t p, const std::vector<Item> &items, bool branching = true) {
    std::vector<Cell> passed, coreSinks;
    std::vector<std::pair<Cell, Port>> portSinks;
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
  void addTaker(Party party) {
    std::erase_if(party.items, [](const Item &item) { return item.control > 0; });
    stream.takers.push_back(std::move(party));
  }

  double key() { return nextKey += double(random.pick(1, 60)); }
  Item atom() { return {random.of(palette), 0, key()}; }
  std::vector<Item> atoms(int64_t most) {
    std::vector<Item> items;
    for (int64_t i = random.pick(1, most); i > 0; --i)
      items.push_back(atom());
    return items;
  }
  static Item control(int count, double key) { return {0, uint8_t(count), key}; }

  // Ports pack a sample's elements without gaps: narrow ones must fill the words of every item.
  void fillWords() {
    bool ports = false;
    for (const auto *parties : {&stream.senders, &stream.takers})
      for (const Party &party : *parties)
        ports |= party.port;
    const int64_t perWord = std::max<int64_t>(1, 4 / elementBytes(stream.type));
    if (ports)
      for (auto *parties : {&stream.senders, &stream.takers})
        for (Party &party : *parties)
          for (Item &item : party.items)
            item.elements = (item.elements + perWord - 1) / perWord * perWord;
  }

  void multicast() {
    begin();
    const std::optional<Cell> cell = freeCell();
    if (!cell)
      return;
    Party from = source(*cell, true);
    from.items = atoms(3);
    if (!tail(*cell, 0, from.items))
      return;
    stream.senders.push_back(from);
    fillWords();
    commit();
  }

  void relay() {
    begin();
    std::optional<Cell> cell = freeCell();
    const std::vector<Item> items = atoms(2);
    const ElementType type = random.chance(70) ? ElementType::F32 : ElementType::F16;
    for (int64_t hops = random.pick(2, 6); cell && hops > 0; --hops) {
      begin();
      stream.type = type;
      if (!isFree(*cell))
        return;
      Party from = source(*cell, false);
      from.items = items;
      const Cell end = walk(*cell, 0, random.pick(1, 3));
      if (end == *cell)
        return;
      tree[end][0].outputs |= bit(Port::Ramp);
      stream.senders.push_back(from);
      addTaker({end.first, end.second, false, Port::Ramp, items});
      if (!commit())
        return;
      cell = end;
    }
  }

  void gather() {
    begin();
    const std::optional<Cell> first = freeCell();
    if (!first)
      return;
    stream.senders.push_back(source(*first, false));
    std::vector<Cell> passed;
    const Cell last = walk(*first, 0, random.pick(1, 6), &passed);
    if (passed.empty())
      return;
    for (Cell cell : passed) {
      if (cell != last && random.chance(30))
        continue;
      stream.senders.push_back({cell.first, cell.second, false, Port::Ramp, {}});
      tree[cell].push_back({Port::Ramp, tree[cell][0].outputs});
    }
    std::vector<Item> all;
    const size_t senders = stream.senders.size();
    for (int64_t rounds = random.pick(1, 2); rounds > 0; --rounds)
      for (size_t s = 0; s < senders; ++s) {
        for (const Item &item : atoms(2)) {
          stream.senders[s].items.push_back(item);
          all.push_back(item);
        }
        stream.senders[s].items.push_back(control(s == 0 || s + 1 == senders ? 1 : 2, nextKey + 0.1));
      }
    // The last sender's router gives what both of its positions take to one tail.
    if (!tail(last, 0, all))
      return;
    if (tree[last][0].outputs & bit(Port::Ramp))
      return;
    tree[last][1].outputs = tree[last][0].outputs;
    fillWords();
    commit();
  }

  void join() {
    begin();
    const std::optional<Cell> centre = freeCell();
    if (!centre)
      return;
    tree[*centre] = {{Port::Ramp, 0}};
    std::vector<std::pair<Port, Party>> branches;
    std::vector<Port> sides(std::begin(kSides), std::end(kSides));
    for (int64_t wanted = random.pick(2, 3); wanted > 0 && !sides.empty(); --wanted) {
      const size_t s = size_t(random.pick(0, int64_t(sides.size()) - 1));
      const Port side = sides[s];
      sides.erase(sides.begin() + ptrdiff_t(s));
      if (const Cell cell = beside(*centre, side); isFree(cell)) {
        branches.push_back({side, inward(cell, opposite(side))});
      }
    }
    const bool ownToo = random.chance(50);
    if (ownToo)
      branches.push_back({Port::Ramp, {centre->first, centre->second, false, Port::Ramp, {}}});
    if (branches.size() < 2)
      return;
    std::vector<Item> all;
    for (int64_t rounds = random.pick(1, 2); rounds > 0; --rounds)
      for (auto &[side, party] : branches) {
        for (const Item &item : atoms(2)) {
          party.items.push_back(item);
          all.push_back(item);
        }
        party.items.push_back(control(1, nextKey + 0.1));
      }
    tree[*centre].clear();
    for (auto &[side, party] : branches) {
      tree[*centre].push_back({side, 0});
      stream.senders.push_back(party);
    }
    if (!tail(*centre, 0, all))
      return;
    for (SwitchPosition &position : tree[*centre])
      position.outputs = tree[*centre][0].outputs;
    for (const SwitchPosition &position : tree[*centre])
      if (position.outputs & bit(position.input))
        return;
    fillWords();
    commit();
  }

  // A walk away from `cell` that is then turned round: from its end to `cell`, which leaves over `out`.
  Party inward(Cell cell, Port out) {
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

  void split() {
    begin();
    const std::optional<Cell> from = freeCell();
    if (!from)
      return;
    Party sender = source(*from, false);
    const Cell centre = walk(*from, 0, random.pick(0, 3));
    const Port input = tree[centre][0].input;
    const int64_t positions = random.pick(2, 3);
    for (int64_t p = 0; p < positions; ++p) {
      const size_t place = size_t(p);
      if (p > 0)
        tree[centre].push_back({input, 0});
      std::vector<Item> items = atoms(2);
      sender.items.insert(sender.items.end(), items.begin(), items.end());
      sender.items.push_back(control(1, nextKey + 0.1));
      if (!tail(centre, place, items, false))
        return;
    }
    for (size_t p = 0; p < tree[centre].size(); ++p)
      for (size_t q = 0; q < p; ++q)
        if (tree[centre][p] == tree[centre][q])
          return;
    stream.senders.push_back(sender);
    fillWords();
    commit();
  }
};

} // namespace

Plan randomPlan(uint64_t seed) {
  Random random(seed);
  Plan plan;
  const bool copied = random.chance(20);
  plan.rows = int32_t(random.pick(copied ? 1 : 2, copied ? 2 : random.chance(25) ? 8 : 4));
  plan.cols = int32_t(random.pick(2, random.chance(25) ? 8 : 4));
  plan.copies = copied ? int32_t(random.pick(2, 8 / plan.rows)) : 1;
  plan.target = randomTarget(random, plan.rows * plan.copies, plan.cols);
  plan.samples = int(random.pick(1, 3));
  plan.swapPercent = random.chance(20) ? int(random.pick(5, 60)) : 0;
  if (random.chance(40)) { // little room, long transfers in an order of their own: some stop
    plan.swapPercent = int(random.pick(40, 90));
    plan.target.rampLatencyCycles = int32_t(random.pick(1, 2));
    for (auto *depths : {&plan.target.inputQueueWords, &plan.target.outputQueueWords})
      for (int32_t &depth : *depths)
        depth = int32_t(random.pick(1, 2));
  }
  plan.codeSeed = random.seed();
  RoutePlanner(random, plan).run();
  return plan;
}

} // namespace wsc::fabric
