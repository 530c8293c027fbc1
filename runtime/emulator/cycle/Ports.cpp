// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/cycle/Ports.h"

#include <algorithm>
#include <cmath>

namespace wsc::emulator::cycle {

Ports::Ports(Fabric &fabric, const target::Target &target)
    : fabric(fabric), wordsPerCycle(uint64_t(std::llround(target.ioWordsPerCycle() * double(1 << 20)))) {
  for (uint32_t p = 0; p < fabric.ports.size(); ++p) {
    outputs += fabric.ports[p].output;
    if (!fabric.ports[p].output && fabric.ports[p].all > 0)
      awake.push_back(p);
  }
  for (uint32_t t = 0; t < fabric.tiles.size(); ++t)
    if (fabric.tiles[t].outputs)
      edgeTiles.push_back(t);
}

int64_t Ports::nextCycle(int64_t now) const {
  if (!awake.empty() && wordsPerCycle > 0)
    return now + 1;
  return sleepers.empty() ? kNever : sleepers.top().cycle;
}

int64_t Ports::allowance(int64_t cycle) const {
  const auto upTo = [&](int64_t cycles) {
    return int64_t((unsigned __int128)(uint64_t(cycles)) * wordsPerCycle >> 20);
  };
  return upTo(cycle + 1) - upTo(cycle);
}

void Ports::wake(const Wake &wake) { sleepers.push(wake); }

void Ports::put(uint32_t number, int64_t cycle, std::vector<Strip> &strips) {
  PortState &port = fabric.ports[number];
  ++port.words;
  for (Strip &strip : strips)
    if (strip.holds(partyOf(port.tile, 0)))
      strip.putFromPort(fabric.queue(port.queue), cycle);
}

void Ports::step(int64_t cycle, std::vector<Strip> &strips) {
  for (uint32_t tile : restricted)
    fabric.tiles[tile].restricted = false;
  restricted.clear();
  for (; !sleepers.empty() && sleepers.top().cycle <= cycle; sleepers.pop())
    awake.push_back(sleepers.top().party);
  // Input ports with a word and space; the others sleep until there is some.
  std::vector<uint32_t> ready, later;
  for (uint32_t p : awake) {
    WordQueue &queue = fabric.queue(fabric.ports[p].queue);
    const uint64_t room = load(queue.ring()[queue.tail]);
    if (room & kFull)
      queue.flags |= kSenderWaits;
    else if (slotCycle(room) > cycle)
      sleepers.push({slotCycle(room), p});
    else
      ready.push_back(p);
  }
  awake.clear();
  const int64_t most = allowance(cycle);
  if (int64_t(ready.size()) + outputs > most) {
    const size_t inputs = ready.size();
    for (uint32_t tile : edgeTiles)
      strips[0].readyOutputs(tile, cycle, ready);
    if (int64_t(ready.size()) > most) {
      // In cyclic order from the pointer.
      std::sort(ready.begin(), ready.end());
      std::rotate(ready.begin(), std::lower_bound(ready.begin(), ready.end(), pointer), ready.end());
      pointer = ready[size_t(most)];
      for (size_t i = 0; i < ready.size(); ++i) {
        PortState &port = fabric.ports[ready[i]];
        if (int64_t(i) < most) {
          port.served = cycle;
        } else if (port.output) {
          if (!fabric.tiles[port.tile].restricted)
            restricted.push_back(port.tile);
          fabric.tiles[port.tile].restricted = true;
        } else {
          awake.push_back(ready[i]);
        }
      }
      ready.resize(size_t(most));
    } else {
      ready.resize(inputs);
    }
  }
  for (uint32_t p : ready) {
    PortState &port = fabric.ports[p];
    if (port.output)
      continue;
    put(p, cycle, strips);
    if (port.words < port.all)
      awake.push_back(p);
  }
}

} // namespace wsc::emulator::cycle
