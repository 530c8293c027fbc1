// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/support/Progress.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace wsc::tools {

using namespace std::chrono_literals;

Progress::Progress(const std::string &what, bool quiet) : what(what) {
  if (!quiet && isatty(STDERR_FILENO))
    writer = std::thread([this] { show(); });
}

Progress::~Progress() {
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_one();
  if (writer.joinable())
    writer.join();
}

void Progress::set(const std::string &next) {
  std::lock_guard lock(mutex);
  what = next;
}

void Progress::show() {
  const auto begin = std::chrono::steady_clock::now();
  bool shown = false;
  std::unique_lock lock(mutex);
  while (!changed.wait_for(lock, shown ? 500ms : 1000ms, [this] { return done; })) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    std::fprintf(stderr, "\r\033[K%s, %lld s", what.c_str(), (long long)seconds.count());
    std::fflush(stderr);
    shown = true;
  }
  if (shown)
    std::fputs("\r\033[K", stderr);
}

} // namespace wsc::tools
