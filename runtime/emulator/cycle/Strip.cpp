// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/cycle/Strip.h"

#include <algorithm>
#include <utility>

namespace wsc::emulator::cycle {

Strip::Strip(Fabric &fabric, uint32_t firstTile, uint32_t endTile, const CycleOptions &options)
    : sampleDone(size_t(options.samples), 0), fabric(fabric), firstTile(firstTile), endTile(endTile),
      samples(options.samples), mostSpans(options.mostTraceSpans),
      looks{Looks(endTile - firstTile), Looks(endTile - firstTile)} {
  if (mostSpans > 0) {
    const int64_t kernels = int64_t(fabric.configuration->kernels.size()) + 1;
    kernelSpans.resize(size_t(kernels * std::min<int64_t>(options.samples, kMostKernelSpans / kernels)));
  }
  for (uint32_t t = firstTile; t < endTile; ++t) {
    const Tile &tile = fabric.tiles[t];
    if (tile.core == kNone)
      continue;
    Core &core = fabric.cores[tile.core];
    for (uint64_t left = core.unfinished; left; left &= left - 1)
      advance(core, std::countr_zero(left));
    if (core.unfinished)
      wake(partyOf(t, tile.nodes), 0);
  }
}

int64_t Strip::bytes() const {
  int64_t bytes = int64_t((looks[0].masks.capacity() + looks[1].masks.capacity() + sampleDone.capacity()) * 8 +
                          (looks[0].tiles.capacity() + looks[1].tiles.capacity()) * 4 +
                          (spans.capacity() + kernelSpans.capacity()) * sizeof(TraceSpan));
  for (const auto &bucket : wheel)
    bytes += int64_t(bucket.capacity() * sizeof(Party));
  return bytes + int64_t(far.size() * sizeof(Wake));
}

int64_t Strip::nextCycle() const {
  if (looks[!now2].count > 0)
    return now + 1;
  int64_t next = far.empty() ? kNever : far.top().cycle;
  // The wheel's cycles lie in (now, now + kWheel): word by word round the ring, from now + 1.
  const auto start = size_t((now + 1) % kWheel);
  for (size_t i = 0; i <= kWheel / 64; ++i) {
    const size_t word = (start / 64 + i) % (kWheel / 64);
    uint64_t used = wheelUsed[word];
    if (i == 0)
      used &= ~uint64_t(0) << start % 64;
    else if (i == kWheel / 64)
      used &= ~(~uint64_t(0) << start % 64);
    if (used == 0)
      continue;
    const auto at = int64_t(word * 64 + size_t(std::countr_zero(used)));
    return std::min(next, now + 1 + (at - int64_t(start) + kWheel) % kWheel);
  }
  return next;
}

void Strip::step(int64_t cycle) {
  now2 = !now2;
  Looks &look = looks[now2];
  const auto add = [&](Party party) {
    look.add(party / kPartiesPerTile - firstTile, uint64_t(1) << party % kPartiesPerTile);
  };
  const auto at = size_t(cycle % kWheel);
  for (Party party : wheel[at])
    add(party);
  wheel[at].clear();
  wheelUsed[at / 64] &= ~(uint64_t(1) << at % 64);
  for (; !far.empty() && far.top().cycle <= cycle; far.pop())
    add(far.top().party);
  now = cycle;
  if (spansFull == kNever && mostSpans > 0 && int64_t(spans.size()) >= mostSpans)
    spansFull = now;
  int64_t count = 0;
  for (size_t i = 0; i < look.count; ++i) {
    const uint32_t number = look.tiles[i];
    Tile &tile = fabric.tiles[firstTile + number];
    const uint64_t bits = std::exchange(look.masks[number], 0);
    const uint64_t colours = tile.nodes == 64 ? bits : bits & ((uint64_t(1) << tile.nodes) - 1);
    bool did = false;
    if (colours)
      did = route(tile, firstTile + number, colours, cycle);
    if (bits != colours)
      did |= stepCore(tile, bits >> tile.nodes);
    count += did;
  }
  look.count = 0;
  activeTileCycles += count;
  wasActive = count > 0;
}

} // namespace wsc::emulator::cycle
