// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A strip's cycle: what the wheel and the heap hold for it joins the tiles to look at, then each is looked at.
//
// The state of a whole wafer is a few hundred megabytes and the tiles of a cycle lie anywhere in it, so that loads that
// wait for memory would be most of the time. Since the tiles to look at are known in advance, what a tile needs is
// asked for some tiles ahead, in four stages: its own record and mask, the records of its colours and core, their
// routes and threads, and last the queues.
#include "runtime/emulator/cycle/Strip.h"

#include <algorithm>
#include <utility>

namespace wsc::emulator::cycle {

constexpr size_t kCacheLine = 64; // bytes
constexpr size_t kAhead = 16;     // tiles between two stages of prefetching

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

void Strip::prefetchTile(const Looks &look, size_t place) const {
  const uint32_t number = look.tiles[place];
  __builtin_prefetch(&look.masks[number], 1);
  __builtin_prefetch(&fabric.tiles[firstTile + number], 1);
}

void Strip::prefetchNodes(const Looks &look, size_t place) const {
  const uint32_t number = look.tiles[place];
  const Tile &tile = fabric.tiles[firstTile + number];
  __builtin_prefetch(fabric.nodes.data() + tile.firstNode);
  if (tile.nodes < 64 && look.masks[number] >> tile.nodes) {
    const char *core = reinterpret_cast<const char *>(fabric.cores.data() + tile.core);
    for (size_t line = 0; line < sizeof(Core); line += kCacheLine)
      __builtin_prefetch(core + line, 1);
  }
}

void Strip::prefetchRoutes(const Looks &look, size_t place) const {
  const uint32_t number = look.tiles[place];
  const Tile &tile = fabric.tiles[firstTile + number];
  const uint64_t bits = look.masks[number];
  for (uint64_t left = tile.coloursOf(bits); left; left &= left - 1)
    __builtin_prefetch(fabric.routes.data() + fabric.nodes[tile.firstNode + uint32_t(std::countr_zero(left))]);
  if (tile.nodes == 64 || bits >> tile.nodes == 0)
    return;
  const Core &core = fabric.cores[tile.core];
  __builtin_prefetch(fabric.coreQueues.data() + core.firstQueue);
  __builtin_prefetch(fabric.fifoElements.data() + core.firstFifo, 1);
  for (uint64_t left = core.unfinished & (~core.blocked | bits >> tile.nodes); left; left &= left - 1) {
    const auto *thread = reinterpret_cast<const char *>(&fabric.threads[core.firstThread + std::countr_zero(left)]);
    __builtin_prefetch(thread, 1);
    __builtin_prefetch(thread + kCacheLine, 1);
  }
}

void Strip::prefetchQueues(const Looks &look, size_t place) const {
  const uint32_t number = look.tiles[place];
  const Tile &tile = fabric.tiles[firstTile + number];
  const uint64_t bits = look.masks[number];
  const auto prefetch = [&](uint32_t id) {
    const uint64_t *const queue = fabric.arena.data() + id;
    __builtin_prefetch(queue, 1);
    __builtin_prefetch(queue + kCacheLine / sizeof(uint64_t), 1);
  };
  for (uint64_t left = tile.coloursOf(bits); left; left &= left - 1) {
    const RouteView route{fabric.routes.data() + fabric.nodes[tile.firstNode + uint32_t(std::countr_zero(left))]};
    prefetch(route.in());
    for (uint32_t i = 0; i < route.outputs(); ++i)
      if (!(route.output(i) & RouteView::kPortBit))
        prefetch(route.output(i));
    if (route.filters())
      __builtin_prefetch(&fabric.filters[route.filter()], 1);
  }
  if (tile.nodes == 64 || bits >> tile.nodes == 0)
    return;
  const Core &core = fabric.cores[tile.core];
  for (uint64_t left = core.unfinished & (~core.blocked | bits >> tile.nodes); left; left &= left - 1) {
    const int thread = std::countr_zero(left);
    const ThreadState &state = fabric.threads[core.firstThread + uint32_t(thread)];
    const std::vector<Item> &items = core.program->threads[size_t(thread)].items;
    if (size_t(state.item) >= items.size())
      continue;
    const Item &item = items[size_t(state.item)];
    for (const Access *access : {&item.dst, &item.a, &item.b})
      if (access->kind == Access::Queue)
        prefetch(fabric.coreQueues[core.firstQueue + uint32_t(access->index)]);
  }
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
  for (size_t i = 0; i < std::min(look.count, 3 * kAhead); ++i)
    prefetchTile(look, i);
  for (size_t i = 0; i < std::min(look.count, 2 * kAhead); ++i)
    prefetchNodes(look, i);
  for (size_t i = 0; i < std::min(look.count, kAhead); ++i)
    prefetchRoutes(look, i);
  for (size_t i = 0; i < look.count; ++i) {
    if (i + 3 * kAhead < look.count)
      prefetchTile(look, i + 3 * kAhead);
    if (i + 2 * kAhead < look.count)
      prefetchNodes(look, i + 2 * kAhead);
    if (i + kAhead < look.count)
      prefetchRoutes(look, i + kAhead);
    if (i + kAhead / 2 < look.count)
      prefetchQueues(look, i + kAhead / 2);
    const uint32_t number = look.tiles[i];
    Tile &tile = fabric.tiles[firstTile + number];
    const uint64_t bits = std::exchange(look.masks[number], 0);
    const uint64_t colours = tile.coloursOf(bits);
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
