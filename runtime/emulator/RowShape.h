// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The iteration space of an instruction as rows: queue and FIFO operands count as packed memory, neighbouring
// dimensions are merged, and stride arithmetic says which elements may be computed together.
#pragma once

#include "runtime/format/Executable.h"

#include <span>
#include <vector>

namespace wsc::emulator {

// Operands in the order dst, a, b. Extents outermost first; strides in bytes.
struct RowShape {
  int64_t elements = 0; // 0: nothing to do
  int64_t extent[format::kMaxDims] = {1, 1, 1, 1};
  int64_t stride[3][format::kMaxDims] = {};
  int64_t low[3] = {}, high[3] = {}; // bytes touched, from the operand's first element
  // As long as no source is another element's dst: the elements of this many innermost dimensions have dst elements of
  // their own and may be computed in any order; the dimensions around them are walked in order.
  int freeDims = 0;
  // The innermost dimension adds up onto one dst element.
  bool chain = false;

  bool operator==(const RowShape &) const = default;
};

// Shape on core `index`. `bytes`: widths of the three operands. `apart`: sources surely lie apart from dst, so that
// dimensions may change places. For Gather and Scatter the innermost stride of the indexed operand is left out.
RowShape rowShape(const format::Instruction &instruction, const int64_t (&bytes)[3], bool apart,
                  const format::LatticeIndex &index);

// Extents of a nest's instruction followed by the trip counts of its loops, on core `index`.
std::vector<int64_t> nestKey(const format::Instruction &instruction, std::span<const format::Instruction *const> loops,
                             const format::LatticeIndex &index);

} // namespace wsc::emulator
