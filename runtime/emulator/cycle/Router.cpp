// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A router's cycle: its colours in cyclic order, each moved, lost to another one's output, or put to sleep until the
// word or room it lacks may be there.
#include "runtime/emulator/cycle/Strip.h"

#include <algorithm>

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

// Dry: moves nothing, takes all ports of the wafer as open and lists those that words would leave by.
template <bool Dry>
bool Strip::route(Tile &tile, uint32_t number, uint64_t bits, int64_t cycle, std::vector<uint32_t> *ready) {
  const uint32_t *const nodes = &fabric.nodes[tile.firstNode];
  uint32_t taken = 0;
  bool moved = false;
  int lost = -1;
  const uint64_t first = bits >> tile.pointer << tile.pointer;
  for (uint64_t part : {first, bits ^ first})
    for (; part; part &= part - 1) {
      const auto bit = uint32_t(std::countr_zero(part));
      if (nodes[bit] == kNone)
        continue;
      const RouteView view{&fabric.routes[nodes[bit]]};
      WordQueue &in = fabric.queue(view.in());
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
      uint32_t control = slotControl(slot);
      const bool switches = control > 0 && view.switches();
      if (switches)
        --control;
      const bool ends = switches && control == 0;
      bool open = true;
      for (uint32_t i = 0; !ends && i < view.outputs(); ++i) {
        const uint32_t output = view.output(i);
        if (output & RouteView::kPortBit) {
          if (Dry || !tile.restricted || fabric.ports[output & ~RouteView::kPortBit].served == cycle)
            continue;
          wake(partyOf(number, bit), cycle + 1);
          open = false;
          break;
        }
        WordQueue &out = fabric.queue(output);
        const uint64_t room = load(out.ring()[out.tail]);
        if (room & kFull) {
          if (!Dry && !(out.flags & kCrossesStrips))
            out.flags |= kSenderWaits;
          open = false;
          break;
        }
        if (slotCycle(room) > cycle) {
          if (!Dry)
            wake(partyOf(number, bit), slotCycle(room));
          open = false;
          break;
        }
      }
      if (!open)
        continue;
      if (!ends) {
        if (view.ports() & taken) {
          if (lost < 0 && !view.leaves()) // its port was not ready, so it has no room
            lost = int(bit);
          if (!Dry)
            wake(partyOf(number, bit), cycle + 1);
          continue;
        }
        taken |= view.ports();
      }
      if constexpr (Dry) {
        for (uint32_t i = 0; !ends && i < view.outputs(); ++i)
          if (view.output(i) & RouteView::kPortBit)
            ready->push_back(view.output(i) & ~RouteView::kPortBit);
        continue;
      }
      moved = true;
      takeWord(in);
      for (uint32_t i = 0; !ends && i < view.outputs(); ++i) {
        const uint32_t output = view.output(i);
        if (control > 0 && (output & RouteView::kPortBit || (i + 1 == view.outputs() && view.ports() >> 4))) {
          if (stray.tile > number)
            stray = {number, bit};
          break;
        }
        if (output & RouteView::kPortBit)
          passOut(output & ~RouteView::kPortBit);
        else
          putWord(fabric.queue(output),
                  cycle + (i + 1 == view.outputs() && view.ports() >> 4 ? fabric.ramp : fabric.hop), control);
      }
      if (switches) {
        fabric.nodes[tile.firstNode + bit] = view.next();
        wake(partyOf(number, bit), cycle + 1);
        continue;
      }
      const uint64_t next = load(in.ring()[in.head]);
      if (next & kFull)
        wake(partyOf(number, bit), std::max(cycle + 1, slotCycle(next)));
      else if (!(in.flags & kCrossesStrips))
        in.flags |= kTakerWaits;
    }
  if constexpr (Dry)
    return false;
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
