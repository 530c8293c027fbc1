// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/cycle/Team.h"

namespace wsc::emulator::cycle {

static constexpr int kSpins = 4096;

Team::Team(int size) {
  for (int t = 1; t < size; ++t)
    threads.emplace_back([this, t] { serve(t); });
}

Team::~Team() {
  over = true;
  ++round;
  round.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void Team::run(const std::function<void(int)> &task) {
  work = &task;
  left = uint32_t(threads.size());
  ++round;
  round.notify_all();
  task(0);
  for (int spin = 0;; ++spin) {
    const uint32_t now = left;
    if (now == 0)
      return;
    if (spin >= kSpins)
      left.wait(now);
  }
}

void Team::serve(int number) {
  for (uint32_t seen = 0;;) {
    for (int spin = 0; round == seen; ++spin)
      if (spin >= kSpins)
        round.wait(seen);
    ++seen;
    if (over)
      return;
    (*work)(number);
    if (--left == 0)
      left.notify_all();
  }
}

} // namespace wsc::emulator::cycle
