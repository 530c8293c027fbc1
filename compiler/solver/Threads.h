// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work that is spread over the host's threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace wsc::solver {

// Calls work(0), work(1), … below `count`, on `threads` of the host's threads; 0: on all.
template <typename Work> void overThreads(int threads, size_t count, Work work) {
  std::atomic<size_t> next = 0;
  auto some = [&] {
    for (size_t i = next++; i < count; i = next++)
      work(i);
  };
  std::vector<std::thread> helpers;
  const size_t most = threads > 0 ? size_t(threads) : std::thread::hardware_concurrency();
  for (size_t i = 1; i < std::min(most, count); ++i)
    helpers.emplace_back(some);
  some();
  for (std::thread &helper : helpers)
    helper.join();
}

} // namespace wsc::solver
