// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A queue between two places of the fabric as a ring with exactly as many slots as it holds words. Every slot carries a
// cycle: of a word, from which it can be used; of a free slot, from which its sender may use the space. All of these
// lie after the cycle in which they are written, so what sender and taker do in one cycle does not depend on which of
// them is simulated first, nor on the threads they run on.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace wsc::emulator::cycle {

// Who waits on a queue: a bit of a tile's mask (a colour's router, or a thread of its core), or a port of the wafer.
using Party = uint32_t;
constexpr int kPartiesPerTile = 64;
constexpr Party kNobody = ~Party(0);
constexpr Party partyOf(uint32_t tile, uint32_t bit) { return tile * kPartiesPerTile + bit; }

enum QueueFlags : uint8_t {
  kTakerWaits = 1,    // for the next word
  kSenderWaits = 2,   // for space
  kCrossesStrips = 4, // sender and taker are told of everything
  kSenderIsPort = 8,
};

struct WordQueue {
  uint16_t slots, head, tail; // taken at head, put at tail
  uint8_t flags;
  Party taker, sender;
  uint64_t words; // put so far
  // `slots` slots follow.

  static constexpr uint32_t kHeadWords = 3; // of eight bytes
  uint64_t *ring() { return reinterpret_cast<uint64_t *>(this) + kHeadWords; }
  const uint64_t *ring() const { return reinterpret_cast<const uint64_t *>(this) + kHeadWords; }
};
static_assert(sizeof(WordQueue) == 8 * WordQueue::kHeadWords);

// A slot: bit 0 says that it holds a word, bits 1 to 8 its control count (0: data), the rest the cycle.
constexpr uint64_t kFull = 1;
constexpr uint64_t wordSlot(int64_t cycle, uint32_t control) { return uint64_t(cycle) << 9 | control << 1 | kFull; }
constexpr uint64_t freeSlot(int64_t cycle) { return uint64_t(cycle) << 9; }
constexpr int64_t slotCycle(uint64_t slot) { return int64_t(slot >> 9); }
constexpr uint32_t slotControl(uint64_t slot) { return uint32_t(slot >> 1) & 255; }
// A data word that can be used in `cycle`, space for one: what else the low bits say would come out on top.
constexpr bool isDataWord(uint64_t slot, int64_t cycle) { return std::rotr(slot - kFull, 9) <= uint64_t(cycle); }
constexpr bool isRoom(uint64_t slot, int64_t cycle) { return std::rotr(slot, 9) <= uint64_t(cycle); }

// Sender and taker may be on different threads; cycles are kept apart by barriers, so relaxed accesses will do.
inline uint64_t load(const uint64_t &slot) {
  return std::atomic_ref<uint64_t>(const_cast<uint64_t &>(slot)).load(std::memory_order_relaxed);
}
inline void store(uint64_t &slot, uint64_t value) {
  std::atomic_ref<uint64_t>(slot).store(value, std::memory_order_relaxed);
}

} // namespace wsc::emulator::cycle
