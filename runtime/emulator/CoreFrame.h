// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One core while it runs: where its buffers are, how far its queues and FIFOs have come. Queues are stretches of words
// that hold a whole sample, so that reading and writing them is plain memory access; FIFOs are unrolled to the elements
// of a sample (their bound changes time, never values).
#pragma once

#include "runtime/format/Executable.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace wsc::emulator {

struct QueuePort {
  std::byte *data = nullptr;
  int64_t position = 0;                                // words taken or sent by completed instructions
  int64_t limit = std::numeric_limits<int32_t>::max(); // input: words that have arrived
  int64_t visible = 0; // output: words completely written, also by the instruction in progress
};

struct FifoPort {
  int64_t pushed = 0, popped = 0; // bytes in this sample
};

struct CoreFrame {
  const format::Role *role = nullptr;
  format::LatticeIndex index{};
  std::byte **buffers = nullptr; // per buffer; a FIFO's holds all its elements of a sample in order
  QueuePort *queues = nullptr;   // per queue
  FifoPort *fifos = nullptr;     // per buffer
};

} // namespace wsc::emulator
