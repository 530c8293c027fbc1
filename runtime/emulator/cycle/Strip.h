// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A strip of the mesh: a range of tiles that one thread simulates. A tile is looked at in a cycle only if a bit of its
// mask is set: a colour whose word or space may have come, or a thread of its core. Bits for the next cycle go to the
// second set of masks, later ones to a wheel of cycles, those far off to a heap; those of other strips to the outbox,
// which is emptied between cycles.
#pragma once

#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/emulator/cycle/Fabric.h"

#include <limits>
#include <queue>
#include <vector>

namespace wsc::emulator::cycle {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

struct Wake {
  int64_t cycle;
  Party party;
  bool operator>(const Wake &other) const { return cycle > other.cycle; }
};

// Tiles to look at in a cycle, each with the bits of its mask to look at.
struct Looks {
  std::vector<uint64_t> masks;
  std::vector<uint32_t> tiles; // the first `count`, in the order in which they came; one more than there are tiles
  size_t count = 0;

  explicit Looks(size_t all) : masks(all, 0), tiles(all + 1) {}
  void add(uint32_t tile, uint64_t bits) {
    tiles[count] = tile;
    count += masks[tile] == 0;
    masks[tile] |= bits;
  }
};

// A control word that would leave the routers.
struct StrayControl {
  uint32_t tile = kNone, bit = 0;
};

class Strip {
public:
  Strip(Fabric &fabric, uint32_t firstTile, uint32_t endTile, const CycleOptions &options);

  // The next cycle in which something may happen; kNever: none.
  int64_t nextCycle() const;
  // Tiles to look at in the next cycle, as far as known.
  size_t waiting() const { return looks[!now2].count; }
  // Simulates a cycle. It must not lie beyond nextCycle().
  void step(int64_t cycle);
  // `party` is to look in `cycle`, which is yet to come.
  void wake(Party party, int64_t cycle);
  bool holds(Party party) const {
    const uint32_t tile = party / kPartiesPerTile;
    return tile >= firstTile && tile < endTile;
  }
  // Puts a word into a queue: of a port of the wafer, which works ahead of the strips in its cycle.
  void putFromPort(WordQueue &queue, int64_t cycle);
  // The output ports over which the tile would move a word in `cycle` if all were open.
  void readyOutputs(uint32_t tile, int64_t cycle, std::vector<uint32_t> &ports);

  std::vector<Wake> outbox;    // for other strips
  std::vector<Wake> portWakes; // the party is an input port
  std::vector<int64_t> sampleDone;
  std::vector<TraceSpan> spans;       // of threads, by the cycle in which they ended
  std::vector<TraceSpan> kernelSpans; // [kernel][sample], for the first samples
  bool spansCut = false;
  bool wasActive = false; // some tile in the last cycle
  int64_t activeTileCycles = 0, skippedTileCycles = 0;
  int64_t endCycle = 0; // the first after all that happened
  StrayControl stray;   // the first tile of the cycle's
  int64_t bytes() const;

private:
  // Router.cpp
  enum class Outcome : uint8_t { Moved, Lost, Later, Asleep }; // Later: a port of the wafer was not served
  template <bool Dry>
  Outcome moveAny(const Tile &tile, uint32_t number, uint32_t bit, int64_t cycle, uint32_t &taken,
                  std::vector<uint32_t> *ready);
  void awaitRoom(WordQueue &queue, uint64_t slot, Party party);
  [[gnu::noinline]] Outcome routeAny(const Tile &tile, uint32_t number, uint32_t bit, int64_t cycle, uint32_t &taken);
  bool route(Tile &tile, uint32_t number, uint64_t bits, int64_t cycle);
  // After a colour has taken a word: its bit if the next one is there, or none; then the sender wakes it.
  uint64_t nextLook(uint32_t input, uint64_t bit) {
    WordQueue &queue = fabric.queue(input);
    if (load(queue.ring()[queue.head]) & kFull)
      return bit;
    if (!(queue.flags & kCrossesStrips))
      queue.flags |= kTakerWaits;
    return 0;
  }
  // Strip.cpp: ask for the memory of a tile that is looked at some places on, each for what the one before it has
  // brought the addresses of.
  void prefetchTile(const Looks &look, size_t place) const;
  void prefetchNodes(const Looks &look, size_t place) const;
  void prefetchRoutes(const Looks &look, size_t place) const;
  void prefetchQueues(const Looks &look, size_t place) const;
  // In the next cycle, at these bits of the tile's mask.
  void lookAgain(uint32_t tile, uint64_t bits) { looks[!now2].add(tile - firstTile, bits); }
  void takeWord(WordQueue &queue) {
    store(queue.ring()[queue.head], freeSlot(now + fabric.credit));
    if (++queue.head == queue.slots)
      queue.head = 0;
    if (queue.flags & (kSenderWaits | kCrossesStrips))
      tellSender(queue);
  }
  void putWord(WordQueue &queue, int64_t usable, uint32_t control) {
    store(queue.ring()[queue.tail], wordSlot(usable, control));
    if (++queue.tail == queue.slots)
      queue.tail = 0;
    ++queue.words;
    if (queue.flags & (kTakerWaits | kCrossesStrips))
      tellTaker(queue, usable);
  }
  [[gnu::noinline]] void tellSender(WordQueue &queue);
  [[gnu::noinline]] void tellTaker(WordQueue &queue, int64_t usable);
  void passOut(uint32_t port);

  // CoreStep.cpp
  bool stepCore(Tile &tile, uint64_t bits); // true: issued a slot that counts as active
  void endAlone(Core &core);
  bool able(Core &core, int thread, int64_t &elements);
  bool wordsThere(Core &core, const Access &access, int64_t words, Party party);
  bool roomThere(Core &core, const Access &access, int64_t words, Party party);
  void issue(Core &core, int thread, int64_t elements);
  void endSlots(Core &core, int thread, int64_t end);
  void advance(Core &core, int thread);
  [[gnu::noinline]] uint64_t ableOfHighestPriority(Core &core, uint64_t threads); // few cores need it
  void rest(Core &core);
  // Spans.cpp
  void showSlots(const Core &core, int thread, int64_t end);
  void showItem(const Core &core, int thread, int64_t begin, const Item &item);
  void showSample(const Core &core, int thread, int64_t end);
  void show(const Core &core, TraceSpan span);
  WordQueue &queueOf(const Core &core, const Access &access) {
    return fabric.queue(fabric.coreQueues[core.firstQueue + uint32_t(access.index)]);
  }

  static constexpr int64_t kWheel = 256;

  Fabric &fabric;
  const uint32_t firstTile, endTile;
  const int32_t samples;
  const int64_t mostSpans;
  int64_t now = -1;
  bool now2 = false; // which of the two is the current cycle's
  Looks looks[2];
  std::vector<Party> wheel[kWheel];
  uint64_t wheelUsed[kWheel / 64] = {};
  std::priority_queue<Wake, std::vector<Wake>, std::greater<Wake>> far;
  int64_t spansFull = kNever; // the cycle at whose start there were enough
};

constexpr int64_t kMostKernelSpans = int64_t(1) << 16;

inline void Strip::wake(Party party, int64_t cycle) {
  const uint32_t tile = party / kPartiesPerTile - firstTile;
  if (cycle == now + 1) {
    looks[!now2].add(tile, uint64_t(1) << party % kPartiesPerTile);
  } else if (cycle - now < kWheel) {
    const auto at = size_t(cycle % kWheel);
    wheel[at].push_back(party);
    wheelUsed[at / 64] |= uint64_t(1) << at % 64;
  } else {
    far.push({cycle, party});
  }
}

} // namespace wsc::emulator::cycle
