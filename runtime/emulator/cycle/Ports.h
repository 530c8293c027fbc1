// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wafer's ports: which of those that are ready are served in a cycle, within the words that all ports together may
// pass. They work ahead of the strips in each cycle, on one thread.
#pragma once

#include "runtime/emulator/cycle/Strip.h"

#include <vector>

namespace wsc::emulator::cycle {

class Ports {
public:
  Ports(Fabric &fabric, const target::Target &target);
  // Cycle in which a port may next put a word; kNever: none before the strips do something.
  int64_t nextCycle(int64_t now) const;
  // Serves ports in `cycle`: input ports put their words; routers whose ports were not all served are restricted.
  void step(int64_t cycle, std::vector<Strip> &strips);
  // The port may find space in `cycle`.
  void wake(const Wake &wake);

private:
  int64_t allowance(int64_t cycle) const;
  void put(uint32_t port, int64_t cycle, std::vector<Strip> &strips);

  Fabric &fabric;
  uint64_t wordsPerCycle = 0;       // in 2^-20
  uint32_t pointer = 0;             // port that is considered first
  std::vector<uint32_t> awake;      // input ports with words that may have space
  std::vector<uint32_t> edgeTiles;  // tiles with routes out of the wafer
  std::vector<uint32_t> restricted; // of these, in the cycle before
  int64_t outputs = 0;
  std::priority_queue<Wake, std::vector<Wake>, std::greater<Wake>> sleepers;
};

} // namespace wsc::emulator::cycle
