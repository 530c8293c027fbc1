// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A router's cycle: its colours in cyclic order, each moved, lost to another one's output, or put to sleep until the
// word or room it lacks may be there.
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
  if (filter && !filter->passes()) { // as if RAMP, the last, were no output
    --outputs;
    links &= ~(1u << unsigned(format::Port::Ramp));
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
    if (links & taken) // a word whose port of the wafer was not ready has no room
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

template <bool Dry>
bool Strip::route(Tile &tile, uint32_t number, uint64_t bits, int64_t cycle, std::vector<uint32_t> *ready) {
  const uint32_t *const nodes = &fabric.nodes[tile.firstNode];
  uint64_t *const arena = fabric.arena.data();
  uint32_t taken = 0;
  bool moved = false;
  int lost = -1;
  uint64_t again = 0; // colours to look at in the next cycle
  uint64_t part = bits >> tile.pointer << tile.pointer, rest = bits ^ part;
  for (;; part &= part - 1) {
    if (part == 0) {
      if (rest == 0)
        break;
      part = std::exchange(rest, 0);
    }
    const auto bit = uint32_t(std::countr_zero(part));
    if (Dry && nodes[bit] == kNone)
      continue;
    const RouteView view{&fabric.routes[nodes[bit]]};
    WordQueue &in = *reinterpret_cast<WordQueue *>(arena + view.in());
    const uint64_t slot = load(in.ring()[in.head]);
    if (!(slot & kFull)) {
      if (!Dry && !(in.flags & kCrossesStrips))
        in.flags |= kTakerWaits;
      continue;
    }
    if (slotCycle(slot) > cycle) {
      if (!Dry)
        wake(partyOf(number, bit), slotCycle(slot));
      continue;
    }
    Outcome outcome;
    if (!Dry && view.plain() && slotControl(slot) == 0) {
      WordQueue &out = *reinterpret_cast<WordQueue *>(arena + view.output(0));
      const uint64_t room = load(out.ring()[out.tail]);
      if (room & kFull || slotCycle(room) > cycle) {
        awaitRoom(out, room, partyOf(number, bit));
        continue;
      }
      if (view.ports() & taken) {
        outcome = Outcome::Lost;
      } else {
        taken |= view.ports();
        takeWord(in);
        putWord(out, cycle + (view.ports() >> int(format::Port::Ramp) ? fabric.ramp : fabric.hop), 0);
        outcome = Outcome::Moved;
      }
    } else {
      outcome = moveAny<Dry>(tile, number, bit, cycle, taken, ready);
    }
    if (outcome == Outcome::Asleep)
      continue;
    // The next word may be there, or the switch has moved on; if not, the look in the next cycle says so.
    again |= uint64_t(1) << bit;
    moved |= outcome == Outcome::Moved;
    if (outcome == Outcome::Lost && lost < 0)
      lost = int(bit);
  }
  if constexpr (Dry)
    return false;
  if (again)
    lookAgain(number, again);
  if (lost >= 0)
    tile.pointer = uint8_t(lost);
  if (moved)
    endCycle = std::max(endCycle, cycle + 1);
  return moved;
}

template bool Strip::route<false>(Tile &, uint32_t, uint64_t, int64_t, std::vector<uint32_t> *);

void Strip::readyOutputs(uint32_t tile, int64_t cycle, std::vector<uint32_t> &ports) {
  Tile &place = fabric.tiles[tile];
  route<true>(place, tile, place.nodes == 64 ? ~uint64_t(0) : (uint64_t(1) << place.nodes) - 1, cycle, &ports);
}

} // namespace wsc::emulator::cycle
