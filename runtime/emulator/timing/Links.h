// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words per sample over every link between neighbouring routers, summed over colours.
#pragma once

#include "runtime/emulator/Network.h"

#include <cstdint>
#include <string>
#include <vector>

namespace wsc::emulator::timing {

struct LinkLoad {
  int64_t maxWords = 0;   // over the busiest link, per sample; a lower bound on the interval in cycles
  std::string maxName;    // "row 5, col 7, EAST: nets a, b"
  int64_t totalWords = 0; // word-hops of all streams
};

// A router that sends words from one input to different outputs in different switch positions is taken to send equal
// shares.
LinkLoad linkLoad(const target::Target &target, const format::Configuration &configuration, const Networks &networks);

// The words of every link: [(row · cols + col) · 4 + side], sides NORTH, SOUTH, EAST, WEST as in format::Port.
std::vector<int64_t> linkWords(const target::Target &target, const format::Configuration &configuration,
                               const Networks &networks);

} // namespace wsc::emulator::timing
