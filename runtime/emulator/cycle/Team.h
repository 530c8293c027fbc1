// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that do one piece of work each, again and again: a barrier before and after. They spin for a moment and then
// sleep.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace wsc::emulator::cycle {

class Team {
public:
  explicit Team(int size);
  ~Team();
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;
  // Calls work(0) on this thread and work(1) … work(size − 1) on the others; returns when all are done.
  void run(const std::function<void(int)> &work);

private:
  void serve(int number);

  const std::function<void(int)> *work = nullptr;
  std::atomic<uint32_t> round{0}, left{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
};

} // namespace wsc::emulator::cycle
