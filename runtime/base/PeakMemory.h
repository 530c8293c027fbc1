// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The most memory that this process has had resident so far.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace wsc {

// Bytes; 0: unknown. Not getrusage's, which a child begins with its parent's.
inline int64_t peakRssBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

} // namespace wsc
