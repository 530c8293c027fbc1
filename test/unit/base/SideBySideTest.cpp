// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of work side by side: all are done, never with more memory than there is, and none behind one that fails.
#include "runtime/base/SideBySide.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

using namespace wsc;

namespace {

TEST(SideBySide, DoesEveryPieceOnce) {
  for (size_t threads : {1, 2, 8}) {
    std::vector<std::atomic<int>> done(100);
    runSideBySide(
        done.size(), threads, 10, [](size_t) { return 1; },
        [&](size_t i) {
          ++done[i];
          return true;
        });
    for (const std::atomic<int> &times : done)
      EXPECT_EQ(times, 1) << threads << " threads";
  }
}

// The fourth has more bytes than there are, and is done alone.
TEST(SideBySide, KeepsToTheMemory) {
  const std::vector<int64_t> bytes{4, 3, 5, 20, 2, 2, 6, 1};
  std::atomic<int64_t> held = 0, running = 0, most = 0;
  runSideBySide(
      bytes.size(), 4, 10, [&](size_t i) { return bytes[i]; },
      [&](size_t i) {
        ++running;
        const int64_t now = held += bytes[i];
        if (bytes[i] <= 10) {
          int64_t before = most;
          while (now > before && !most.compare_exchange_weak(before, now))
            ;
        } else {
          EXPECT_EQ(running, 1);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        held -= bytes[i];
        --running;
        return true;
      });
  EXPECT_LE(most, 10);
}

TEST(SideBySide, BeginsNothingBehindWhatFails) {
  for (size_t threads : {1, 3}) {
    std::vector<std::atomic<int>> done(1000);
    runSideBySide(
        done.size(), threads, 1000, [](size_t) { return 1; },
        [&](size_t i) {
          ++done[i];
          if (i > 5) // takes longer than the one that fails
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          return i != 5;
        });
    for (size_t i = 0; i <= 5; ++i)
      EXPECT_EQ(done[i], 1); // those before it are done
    if (threads == 1)
      EXPECT_EQ(done[6], 0);
    EXPECT_EQ(done.back(), 0);
  }
}

} // namespace
