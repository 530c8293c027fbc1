// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which words of its neighbours' blocks a window's copy reads: of a convolution's halo a row or a column of pixels, not
// the whole block. Only these travel; they land where they would lie in the whole block.
#pragma once

#include "compiler/spmd/moves/FactoredMove.h"

#include <vector>

namespace wsc::spmd {

/// Words of a block: base + Σ i_d·stride_d, i_d < count_d; the outermost digit first.
struct BlockPart {
  struct Digit {
    int64_t count = 1, stride = 1;
  };
  int64_t base = 0;
  std::vector<Digit> digits;
  int64_t words() const;
};

/// What the copy of a stage with a window reads of the blocks [begin, end) in a core's buffer, on any core, as a nest
/// of at most three digits that holds it; all of a block where that is not much less.
BlockPart wordsRead(const FactoredStage &stage, int64_t elementBytes, int64_t begin, int64_t end);

/// LinePlan::cycles of a window from which only these words travel.
int64_t windowCycles(const FactoredStage &stage, int64_t elementBytes);

} // namespace wsc::spmd
