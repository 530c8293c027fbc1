// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum (or maximum) over taps for every element of a tile, in as few instructions as descriptors allow.
//
// dst[v] = op(dst[v], a[v + t], b[v + t]) for all vector points v and, for each, taps t in the given order. The vector
// takes up to three of a descriptor's four dimensions. Reductions (ReduceAdd, ReduceMax, …) may walk taps in what is
// left, innermost first, with dst standing still; taps of a multiply-add, and those left over, are program loops, each
// iteration of which costs slots (target: loopCycles) and an instruction's set-up. Neighbouring dimensions that walk
// evenly over all operands count as one: a tile of one output row needs one loop for input channels and kernel rows.
#pragma once

#include "compiler/kernels/programs/RoleBuilder.h"

#include <vector>

namespace wsc::kernels {

// Strides in elements.
struct NestDim {
  int64_t count = 1, dst = 0, a = 0, b = 0;
};

struct TapNest {
  std::vector<NestDim> taps;   // outermost first; dst is 0
  std::vector<NestDim> vector; // outermost first, at most 4; where 4 remain, the shortest becomes a loop
};

// Emits the nest. `dst`, `a` and `b` are the operands' first elements (b may be none); they may carry the steps of
// loops that are open already, `openLoops` of them.
void emitTaps(RoleBuilder &builder, int thread, format::Opcode opcode, const TapNest &nest, format::Operand dst,
              format::Operand a, format::Operand b, int openLoops = 0);

} // namespace wsc::kernels
