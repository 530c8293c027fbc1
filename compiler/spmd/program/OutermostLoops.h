// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where instructions are in the loops of a program: what a loop names, it names from its first pass to its last.
#pragma once

#include "runtime/format/Executable.h"

#include <cstddef>
#include <span>
#include <vector>

namespace wsc::spmd {

/// Per instruction the numbers of the first and the last one of the outermost loop around it (Loop and EndLoop
/// included); outside of loops both are its own.
struct OutermostLoops {
  explicit OutermostLoops(std::span<const format::Instruction> code);
  bool isInLoop(size_t i) const { return begin[i] != end[i]; }

  std::vector<size_t> begin, end;
};

} // namespace wsc::spmd
