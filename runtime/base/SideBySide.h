// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of work on several host threads, as many at a time as there is memory for.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace wsc {

// Calls work(i) for i = 0, …, count − 1, on up to `threads` threads, begun in this order. Those at work at a time have
// up to `mostBytes` bytes(i) together; a piece that has more is done alone. work(i) returns false where nothing behind
// piece i matters any more: then no piece behind it is begun.
template <typename Bytes, typename Work>
void runSideBySide(size_t count, size_t threads, int64_t mostBytes, Bytes bytes, Work work) {
  std::mutex mutex;
  std::condition_variable ended; // of a piece
  size_t next = 0, running = 0, stop = count;
  int64_t held = 0; // bytes of those that run
  const auto help = [&] {
    std::unique_lock lock(mutex);
    while (next < stop) {
      const size_t i = next;
      const int64_t needed = bytes(i);
      if (running > 0 && held + needed > mostBytes) {
        ended.wait(lock);
        continue;
      }
      ++next;
      ++running;
      held += needed;
      lock.unlock();
      const bool goesOn = work(i);
      lock.lock();
      --running;
      held -= needed;
      if (!goesOn)
        stop = std::min(stop, i);
      ended.notify_all();
    }
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min(threads, count); ++i)
    helpers.emplace_back(help);
  help();
  for (std::thread &helper : helpers)
    helper.join();
}

} // namespace wsc
