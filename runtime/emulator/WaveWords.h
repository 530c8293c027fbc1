// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where words are while a configuration runs in waves. A source writes its words into a chunk; when that is full it
// takes one of twice the size. When all sinks have all that was sent its chunks are free for other sources: words take
// as much memory as are under way, and the chunks used last, which are in the caches, are used next. What cores keep of
// their scratch while they wait is in chunks too (CoreScratch.h).
#pragma once

#include "runtime/emulator/Pages.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace wsc::emulator {

// Sizes of chunks have eight steps from one power of two to the next, and whole lines of a cache.
struct WaveChunkSize {
  static constexpr size_t kNumber = size_t(64) * 16;
  explicit WaveChunkSize(uint64_t least) {
    const int step = std::max(int(std::bit_width(least - 1)) - 4, 6); // logarithm
    const uint64_t steps = (least + (uint64_t(1) << step) - 1) >> step;
    bytes = steps << step;
    number = uint16_t(size_t(step) * 16 + size_t(steps) - 1);
  }
  static int64_t bytesOf(uint16_t number) { return int64_t(number % 16 + 1) << (number / 16); }
  uint64_t bytes;
  uint16_t number;
};

struct WaveChunk {
  WaveChunk *older = nullptr;
  int32_t first = 0;             // number of its first word among all of the source
  uint16_t size = 0, worker = 0; // number of its size, and whether it stays; number of the worker that took it
  uint16_t sizeNumber() const { return flags() & ~kStays; }
  int32_t words() const { return int32_t((WaveChunkSize::bytesOf(sizeNumber()) - int64_t(sizeof(WaveChunk))) / 4); }
  std::byte *data() { return reinterpret_cast<std::byte *>(this + 1); }
  // Nobody else gets it until the run is over. Several may say so at a time.
  void stay() { std::atomic_ref(size).fetch_or(kStays, std::memory_order_relaxed); }
  bool stays() const { return flags() & kStays; }

private:
  static constexpr uint16_t kStays = 1 << 15;
  uint16_t flags() const { return std::atomic_ref(const_cast<uint16_t &>(size)).load(std::memory_order_relaxed); }
};

// Memory for all chunks of a run, cut into slabs.
class WaveArena {
public:
  static constexpr int64_t kSlabBytes = int64_t(1) << 20;

  // False when there is no address space. `words`: of all sources; `keptBytes`: WavePlan's; `threads`: that take
  // chunks.
  bool reset(int64_t words, int64_t sources, int64_t keptBytes, int64_t threads) {
    // Chunks double, all but the newest are half full, and their sizes are powers of two; each thread has its own.
    used.store(0, std::memory_order_relaxed);
    return pages.need((words * 32 + sources * 512 + keptBytes + 2 * kSlabBytes) * threads + 256) != nullptr;
  }
  // The same for a run that takes no chunks, whose words lie in so many bytes.
  bool hold(int64_t bytes) { return pages.need(bytes + 256) != nullptr; }
  int64_t takenBytes() const { return used.load(std::memory_order_relaxed); }
  const Pages &memory() const { return pages; }
  std::byte *take(int64_t bytes) { return pages.get() + used.fetch_add(bytes, std::memory_order_relaxed); }

private:
  Pages pages;
  std::atomic<int64_t> used{0};
};

// The chunks of one host thread. They come back to it, else those who take would go on to fill new memory while those
// who give have plenty.
class WaveChunks {
public:
  explicit WaveChunks(uint16_t worker = 0) : worker(worker) {}

  // Of a chunk for so many words.
  static int64_t bytesFor(int64_t words) {
    return int64_t(WaveChunkSize(uint64_t(words * 4) + sizeof(WaveChunk)).bytes);
  }

  WaveChunk *take(WaveArena &arena, int64_t words) {
    const WaveChunkSize size(uint64_t(words * 4) + sizeof(WaveChunk));
    const uint64_t bytes = size.bytes;
    WaveChunk *&unused = free[size.number];
    WaveChunk *chunk = unused;
    if (chunk) {
      unused = chunk->older;
    } else if (int64_t(bytes) > WaveArena::kSlabBytes / 4) {
      chunk = reinterpret_cast<WaveChunk *>(arena.take(int64_t(bytes)));
    } else {
      if (left < int64_t(bytes)) {
        slab = arena.take(WaveArena::kSlabBytes);
        left = WaveArena::kSlabBytes;
      }
      chunk = reinterpret_cast<WaveChunk *>(slab);
      slab += bytes;
      left -= int64_t(bytes);
    }
    chunk->older = nullptr;
    chunk->first = 0;
    chunk->size = size.number;
    chunk->worker = worker;
    return chunk;
  }
  void give(WaveChunk *chunk) {
    WaveChunk *&unused = free[chunk->sizeNumber()];
    chunk->older = unused;
    unused = chunk;
  }

private:
  uint16_t worker;
  std::array<WaveChunk *, WaveChunkSize::kNumber> free{}; // by number of their size
  std::byte *slab = nullptr;
  int64_t left = 0;
};

} // namespace wsc::emulator
