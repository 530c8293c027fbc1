// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random streams on a small mesh:
//   unicast and multicast  one source (core or port), walks that branch, sinks at their ends and on the way;
//   relays                 a walk cut into several streams of equal length on colours of their own;
//   gathers                senders along a walk, each passing the turn to the next by control words; some cores on the
//                          way take what passes;
//   joins and splits       a switch that takes from, or gives to, several sides in turn.
// Keys of items order all transfers of a sample, so that programs that keep to them come to their end.
#include "test/support/fabric/StreamDrawer.h"

#include <algorithm>

namespace wsc::fabric {

using namespace format;

namespace {

class RoutePlanner : StreamDrawer {
public:
  RoutePlanner(Random &random, Plan &plan) : StreamDrawer(random, plan) {}

  void run() {
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
  void multicast() {
    begin();
    const std::optional<Cell> cell = freeCell();
    if (!cell)
      return;
    Party from = source(*cell, true);
    from.items = items(3);
    if (!tail(*cell, 0, from.items))
      return;
    stream.senders.push_back(from);
    commit();
  }

  void relay() {
    begin();
    std::optional<Cell> cell = freeCell();
    const std::vector<Item> moved = items(2);
    const ElementType type = random.chance(70) ? ElementType::F32 : ElementType::F16;
    for (int64_t hops = random.pick(2, 6); cell && hops > 0; --hops) {
      begin();
      stream.type = type;
      if (!isFree(*cell))
        return;
      Party from = source(*cell, false);
      from.items = moved;
      const Cell end = walk(*cell, 0, random.pick(1, 3));
      if (end == *cell)
        return;
      tree[end][0].outputs |= bit(Port::Ramp);
      stream.senders.push_back(from);
      addTaker({end.first, end.second, false, Port::Ramp, moved});
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
    // Some routers on the way deliver what comes from behind to their cores, too; control words pass them.
    std::vector<std::pair<Cell, size_t>> listeners; // senders behind them
    for (Cell cell : passed) {
      if (cell != last && random.chance(30))
        listeners.emplace_back(cell, stream.senders.size());
      if (cell != last && random.chance(30))
        continue;
      stream.senders.push_back({cell.first, cell.second, false, Port::Ramp, {}});
      tree[cell].push_back({Port::Ramp, tree[cell][0].outputs});
    }
    // Either each sender passes the turn to the next; or the first turns all switches at once, and the nearest to the
    // end goes first.
    std::vector<Item> all;
    std::vector<size_t> senderOf; // of each of them
    const size_t senders = stream.senders.size();
    const bool allAtOnce = random.chance(40);
    for (int64_t rounds = random.pick(1, 2); rounds > 0; --rounds)
      for (size_t turn = 0; turn < senders; ++turn) {
        const size_t number = allAtOnce && turn > 0 ? senders - turn : turn;
        Party &sender = stream.senders[number];
        for (const Item &item : items(2)) {
          sender.items.push_back(item);
          all.push_back(item);
          senderOf.push_back(number);
        }
        const int switches = allAtOnce ? (turn == 0 ? int(senders) - 1 : 1) : turn == 0 || turn + 1 == senders ? 1 : 2;
        sender.items.push_back(control(switches));
      }
    // The last sender's router gives what both of its positions take to one tail.
    if (!tail(last, 0, all))
      return;
    if (tree[last][0].outputs & bit(Port::Ramp))
      return;
    tree[last][1].outputs = tree[last][0].outputs;
    for (const auto &[cell, behind] : listeners) {
      Party listener{cell.first, cell.second, false, Port::Ramp, {}};
      for (size_t i = 0; i < all.size(); ++i)
        if (senderOf[i] < behind)
          listener.items.push_back(all[i]);
      tree[cell][0].outputs |= bit(Port::Ramp);
      addTaker(listener);
    }
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
        for (const Item &item : items(2)) {
          party.items.push_back(item);
          all.push_back(item);
        }
        party.items.push_back(control(1));
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
    commit();
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
      const std::vector<Item> turn = items(2);
      sender.items.insert(sender.items.end(), turn.begin(), turn.end());
      sender.items.push_back(control(1));
      if (!tail(centre, place, turn, false))
        return;
    }
    for (size_t p = 0; p < tree[centre].size(); ++p)
      for (size_t q = 0; q < p; ++q)
        if (tree[centre][p] == tree[centre][q])
          return;
    stream.senders.push_back(sender);
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
  plan.copyDim = size_t(random.pick(0, 3));
  plan.rounds = random.chance(15) ? int(random.pick(2, 3)) : 1;
  plan.samples = int(random.pick(1, plan.rounds > 1 ? 2 : 3));
  plan.swapPercent = random.chance(20) ? int(random.pick(5, 60)) : 0;
  if (random.chance(40)) { // little space, long transfers in an order of their own: some stop
    plan.swapPercent = int(random.pick(40, 90));
    plan.target.rampLatencyCycles = int32_t(random.pick(1, 2));
    for (auto *depths : {&plan.target.inputQueueWords, &plan.target.outputQueueWords})
      for (int32_t &depth : *depths)
        depth = int32_t(random.pick(1, 2));
  }
  if (random.chance(50))
    plan.filterPercent = int(random.pick(30, 100));
  if (random.chance(40)) // 0 to 2
    plan.priorities = int(random.pick(2, 3));
  plan.codeSeed = random.seed();
  RoutePlanner(random, plan).run();
  return plan;
}

} // namespace wsc::fabric
