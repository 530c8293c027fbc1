// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element by element execution of any instruction, resumable at any element: the engine's general path. A thread runs
// until its end or until an input queue or FIFO has no element for it.
#pragma once

#include "runtime/emulator/CoreFrame.h"

namespace wsc::emulator {

struct ThreadCursor {
  size_t pc = 0;
  int depth = 0;
  int32_t counter[format::kMaxDims] = {}; // loop iterations, outermost first
  size_t loopStart[format::kMaxDims] = {};
  int64_t element = 0; // next element of instruction pc
  bool operator==(const ThreadCursor &) const = default;
};

// Executes instruction `instruction` from cursor.element on. True: complete (queue positions moved on); false: blocked.
bool executeScalar(const format::Instruction &instruction, CoreFrame &frame, ThreadCursor &cursor);

// Runs `thread` on; true when it has reached its end for this sample.
bool runThreadScalar(const format::Thread &thread, CoreFrame &frame, ThreadCursor &cursor);

} // namespace wsc::emulator
