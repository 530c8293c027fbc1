// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where words are while a configuration runs in waves. A source writes its words into a chunk; when that is full it
// takes one of twice the size. When all sinks have all that was sent its chunks are free for other sources: words take
// as much memory as are under way, and the chunks used last, which are in the caches, are used next.
#pragma once

#include "runtime/emulator/Pages.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace wsc::emulator {

struct WaveChunk {
  WaveChunk *older = nullptr;
  int32_t first = 0, words = 0; // number of its first word among all of the source; room
  std::byte *data() { return reinterpret_cast<std::byte *>(this + 1); }
};

// Memory for all chunks of a run, cut into slabs.
class WaveArena {
public:
  static constexpr int64_t kSlabBytes = int64_t(1) << 20;

  // False when there is no address space. `words`: of all sources; `threads`: that take chunks.
  bool reset(int64_t words, int64_t sources, int64_t threads) {
    // Chunks double, all but the newest are half full, and their sizes are powers of two; a thread may have to take
    // what others have given back.
    used.store(0, std::memory_order_relaxed);
    return pages.need((words * 32 + sources * 512 + 2 * kSlabBytes) * threads + 256) != nullptr;
  }
  const Pages &memory() const { return pages; }
  std::byte *take(int64_t bytes) { return pages.get() + used.fetch_add(bytes, std::memory_order_relaxed); }

private:
  Pages pages;
  std::atomic<int64_t> used{0};
};

// The chunks of one host thread.
class WaveChunks {
public:
  void reset() { *this = WaveChunks(); }

  WaveChunk *take(WaveArena &arena, int64_t words) {
    const Size size = sizeOf(uint64_t(words * 4) + sizeof(WaveChunk));
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
    *chunk = {nullptr, 0, int32_t((bytes - sizeof(WaveChunk)) / 4)};
    return chunk;
  }
  void give(WaveChunk *chunk) {
    WaveChunk *&unused = free[sizeOf(uint64_t(chunk->words) * 4 + sizeof(WaveChunk)).number];
    chunk->older = unused;
    unused = chunk;
  }

private:
  // Sizes have eight steps from one power of two to the next, and whole lines of a cache.
  struct Size {
    uint64_t bytes;
    size_t number;
  };
  static Size sizeOf(uint64_t bytes) {
    const int step = std::max(int(std::bit_width(bytes - 1)) - 4, 6); // logarithm
    const uint64_t steps = (bytes + (uint64_t(1) << step) - 1) >> step;
    return {steps << step, size_t(step) * 16 + size_t(steps) - 1};
  }

  std::array<WaveChunk *, size_t(64) * 16> free{}; // by number of their size
  std::byte *slab = nullptr;
  int64_t left = 0;
};

} // namespace wsc::emulator
