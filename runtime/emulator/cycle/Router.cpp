// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A router's cycle: its colours in cyclic order, each moved, lost to another one's output, or put to sleep until the
// word or space it lacks may be there.
#include "runtime/emulator/cycle/Strip.h"

#include <algorithm>
#include <utility>

namespace wsc::emulator::cycle {

void Strip::tellSender(WordQueue &queue) {
  if (queue.flags & kSenderIsPort) {
    if (queue.flags & kSenderWaits)
      portWakes.push_back({now + fabric.credit, queue.sender});
    queue.flags &= uint8_t(~kSenderWaits);
  } else if (queue.flags & kCrossesStrips) {
    outbox.push_back({now + fabric.credit, queue.sender});
  } else {
    queue.flags &= uint8_t(~kSenderWaits);
    if (queue.sender != kNobody)
      wake(queue.sender, now + fabric.credit);
  }
}

void Strip::tellTaker(WordQueue &queue, int64_t usable) {
  if (queue.taker == kNobody)
    return;
  if (queue.flags & kCrossesStrips) {
    outbox.push_back({usable, queue.taker});
  } else {
    queue.flags &= uint8_t(~kTakerWaits);
    wake(queue.taker, usable);
  }
}

void Strip::putFromPort(WordQueue &queue, int64_t cycle) { putWord(queue, cycle + fabric.hop, 0); }

inline void Strip::passOut(uint32_t number) {
  PortState &port = fabric.ports[number];
  const int64_t out = now + fabric.hop;
  if (port.wordsPerSample > 0 && port.words < port.all && ++port.words % port.wordsPerSample == 0) {
    int64_t &done = sampleDone[size_t(port.words / port.wordsPerSample - 1)];
    done = std::max(done, out);
  } else if (port.words >= port.all) {
    ++port.words;
  }
  endCycle = std::max(endCycle, out);
}

// A colour whose route is not plain: control words, several outputs, ports of the wafer. Dry: moves nothing, takes all
// ports of the wafer as open and lists those that words would leave by.
template <bool Dry>
Strip::Outcome Strip::moveAny(const Tile &tile, uint32_t number, uint32_t bit, int64_t cycle, uint32_t &taken,
                              std::vector<uint32_t> *ready) {
  uint32_t &node = fabric.nodes[tile.firstNode + bit];
  const RouteView view{&fabric.routes[node]};
  WordQueue &in = fabric.queue(view.in());
  uint32_t control = slotControl(load(in.ring()[in.head]));
  FilterState *const filter = control == 0 && view.filters() ? &fabric.filters[view.filter()] : nullptr;
  const bool switches = control > 0 && view.switches();
  if (switches)
    --control;
  uint32_t outputs = switches && control == 0 ? 0 : view.outputs(), links = view.ports();
  constexpr uint32_t kRamp = 1u << unsigned(format::Port::Ramp);
  // As if RAMP, the last, were no output.
  if (filter ? !filter->passes() : control > 0 && outputs > 1 && (links & kRamp)) {
    --outputs;
    links &= ~kRamp;
  }
  for (uint32_t i = 0; i < outputs; ++i) {
    if (view.output(i) & RouteView::kPortBit) {
      if (!Dry && tile.restricted && fabric.ports[view.output(i) & ~RouteView::kPortBit].served != cycle)
        return Outcome::Later;
      continue;
    }
    WordQueue &out = fabric.queue(view.output(i));
    const uint64_t room = load(out.ring()[out.tail]);
    if (!(room & kFull) && slotCycle(room) <= cycle)
      continue;
    if (!Dry)
      awaitRoom(out, room, partyOf(number, bit));
    return Outcome::Asleep;
  }
  if (outputs > 0) {
    if (links & taken) // a word whose port of the wafer was not ready has no space
      return view.leaves() ? Outcome::Later : Outcome::Lost;
    taken |= links;
  }
  if constexpr (Dry) {
    for (uint32_t i = 0; i < outputs; ++i)
      if (view.output(i) & RouteView::kPortBit)
        ready->push_back(view.output(i) & ~RouteView::kPortBit);
    return Outcome::Moved;
  }
  takeWord(in);
  if (filter)
    filter->meet();
  for (uint32_t i = 0; i < outputs; ++i) {
    const uint32_t output = view.output(i);
    const bool toRamp = i + 1 == outputs && links >> int(format::Port::Ramp);
    if (control > 0 && (output & RouteView::kPortBit || toRamp)) {
      if (stray.tile > number)
        stray = {number, bit};
      break;
    }
    if (output & RouteView::kPortBit)
      passOut(output & ~RouteView::kPortBit);
    else
      putWord(fabric.queue(output), cycle + (toRamp ? fabric.ramp : fabric.hop), control);
  }
  if (switches)
    node = view.next();
  return Outcome::Moved;
}

inline void Strip::awaitRoom(WordQueue &queue, uint64_t slot, Party party) {
  if (!(slot & kFull))
    wake(party, slotCycle(slot));
  else if (!(queue.flags & kCrossesStrips))
    queue.flags |= kSenderWaits;
}

// A colour that does not just move a data word along a plain route.
Strip::Outcome Strip::routeAny(const Tile &tile, uint32_t number, uint32_t bit, int64_t cycle, uint32_t &taken) {
  const RouteView view{&fabric.routes[fabric.nodes[tile.firstNode + bit]]};
  WordQueue &in = fabric.queue(view.in());
  const uint64_t slot = load(in.ring()[in.head]);
  if (!(slot & kFull)) {
    if (!(in.flags & kCrossesStrips))
      in.flags |= kTakerWaits;
    return Outcome::Asleep;
  }
  if (slotCycle(slot) > cycle) {
    wake(partyOf(number, bit), slotCycle(slot));
    return Outcome::Asleep;
  }
  return moveAny<false>(tile, number, bit, cycle, taken, nullptr);
}

bool Strip::route(Tile &tile, uint32_t number, uint64_t bits, int64_t cycle) {
  const uint32_t *const nodes = &fabric.nodes[tile.firstNode], *const routes = fabric.routes.data();
  uint64_t *const arena = fabric.arena.data();
  const uint64_t freed = freeSlot(cycle + fabric.credit);
  const uint64_t overLink = wordSlot(cycle + fabric.hop, 0), overRamp = wordSlot(cycle + fabric.ramp, 0);
  uint32_t taken = 0;
  // A data word that can be used and a plain route whose queue has space; everything else is routeAny's.
  const auto movePlain = [&](uint32_t node) {
    const RouteView view{routes + node};
    auto &in = *reinterpret_cast<WordQueue *>(arena + view.in());
    const uint32_t head = in.head, links = view.ports();
    if (!view.plain() || !isDataWord(load(in.ring()[head]), cycle))
      return false;
    auto &out = *reinterpret_cast<WordQueue *>(arena + view.output(0));
    const uint32_t tail = out.tail;
    if (!isRoom(load(out.ring()[tail]), cycle) || links & taken)
      return false;
    taken |= links;
    store(in.ring()[head], freed);
    in.head = uint16_t(head + 1 == in.slots ? 0 : head + 1);
    const uint64_t slot = links >> int(format::Port::Ramp) ? overRamp : overLink;
    store(out.ring()[tail], slot);
    out.tail = uint16_t(tail + 1 == out.slots ? 0 : tail + 1);
    ++out.words;
    if (in.flags & (kSenderWaits | kCrossesStrips)) [[unlikely]]
      tellSender(in);
    if (out.flags & (kTakerWaits | kCrossesStrips)) [[unlikely]]
      tellTaker(out, slotCycle(slot));
    return true;
  };
  uint64_t again = 0; // colours to look at in the next cycle
  bool moved = false;
  int lost = -1;
  uint64_t part = bits >> tile.pointer << tile.pointer;
  for (uint64_t rest : {part, bits ^ part})
    for (; rest != 0; rest &= rest - 1) {
      const auto bit = uint32_t(std::countr_zero(rest));
      const Outcome outcome = movePlain(nodes[bit]) ? Outcome::Moved : routeAny(tile, number, bit, cycle, taken);
      if (outcome == Outcome::Moved) {
        moved = true;
        again |= nextLook(routes[nodes[bit]], rest & -rest); // of the position that the switch has now
      } else if (outcome != Outcome::Asleep) {
        again |= rest & -rest;
      }
      if (outcome == Outcome::Lost && lost < 0)
        lost = int(bit);
    }
  if (again)
    lookAgain(number, again);
  if (lost >= 0)
    tile.pointer = uint8_t(lost);
  if (moved)
    endCycle = std::max(endCycle, cycle + 1);
  return moved;
}

void Strip::readyOutputs(uint32_t number, int64_t cycle, std::vector<uint32_t> &ports) {
  const Tile &tile = fabric.tiles[number];
  uint32_t taken = 0;
  for (uint32_t i = 0; i < tile.nodes; ++i) {
    const uint32_t bit = (tile.pointer + i) % tile.nodes;
    if (fabric.nodes[tile.firstNode + bit] == kNone)
      continue;
    const RouteView view{&fabric.routes[fabric.nodes[tile.firstNode + bit]]};
    const WordQueue &in = fabric.queue(view.in());
    if (const uint64_t slot = load(in.ring()[in.head]); slot & kFull && slotCycle(slot) <= cycle)
      moveAny<true>(tile, number, bit, cycle, taken, &ports);
  }
}

} // namespace wsc::emulator::cycle
