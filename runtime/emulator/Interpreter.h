// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar interpreter of I1: executes one core, one element at a time, exactly as docs/Execution.md says. Shares
// only format and numerics with the engines; slow and plain on purpose, it is what they are tested against.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <vector>

namespace wsc::emulator {

struct CoreImage {
  std::vector<std::vector<std::byte>> buffers; // one per buffer of the role; constants filled from the file
};

struct CoreRun {
  CoreImage image; // after the sample
  std::vector<std::vector<std::byte>>
      queueWords; // per output queue: words sent, packed; input queues: leftover words (empty when all taken)
};

// SRAM of core `index` of `role` before the first sample: constants from their sections, everything else zero (windows
// of residents too).
absl::StatusOr<CoreImage> initialImage(const format::Executable &executable, const format::Role &role,
                                       const format::LatticeIndex &index);

// Runs one sample of the core: `received[q]` holds all words that arrive on input queue q in this sample. Threads take
// turns; a core that cannot go on is an error. `iteration` of its run step says where windows of one resident overlap.
absl::StatusOr<CoreRun> interpretCore(const format::Executable &executable, const format::Role &role,
                                      const format::LatticeIndex &index, CoreImage image,
                                      const std::vector<std::vector<std::byte>> &received, int64_t iteration = 0);

} // namespace wsc::emulator
