// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A line on the terminal for work that takes longer than a second: what is under way, and for how long. Nothing is
// written when standard error is no terminal.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace wsc::tools {

// Lives as long as the work.
class Progress {
public:
  Progress(const std::string &what, bool quiet);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  // What is under way from now on.
  void set(const std::string &what);

private:
  void show();

  std::mutex mutex;
  std::condition_variable changed;
  std::string what;
  bool done = false;
  std::thread writer;
};

} // namespace wsc::tools
