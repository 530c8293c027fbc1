// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slot is free, being written, or valid; the handler unlinks the valid ones, restores the signal's default action and
// raises it again, so that the exit status tells of the signal.
#include "runtime/files/Temporaries.h"

#include "runtime/files/OutputFile.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace wsc::files {
namespace {

enum State : int { Free, Taken, Valid };

struct Slot {
  std::atomic<int> state{Free};
  char path[4096];
};

std::array<Slot, 32> slots;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void removeTemporaries(int signal) {
  for (Slot &slot : slots)
    if (slot.state.load(std::memory_order_acquire) == Valid)
      ::unlink(slot.path);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

} // namespace

int noteTemporary(const std::string &path) {
  if (path.size() >= sizeof(Slot::path))
    return -1;
  for (size_t i = 0; i < slots.size(); ++i) {
    int expected = Free;
    if (!slots[i].state.compare_exchange_strong(expected, Taken))
      continue;
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state.store(Valid, std::memory_order_release);
    return int(i);
  }
  return -1;
}

void forgetTemporary(int slot) {
  if (slot >= 0)
    slots[size_t(slot)].state.store(Free, std::memory_order_release);
}

void cleanUpOnSignals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN)
      continue; // as nohup asks
    struct sigaction action{};
    action.sa_handler = removeTemporaries;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

} // namespace wsc::files
