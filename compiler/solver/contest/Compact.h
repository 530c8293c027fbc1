// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortens the wires of a placement by shifting its rectangles, keeping which stands on which side of which.
#pragma once

#include "compiler/solver/contest/SlicingTree.h"

namespace wsc::solver::contest {

struct Wire {
  int32_t a = 0, b = 0, count = 0; // rectangles, a < b; connections between them
};

// Σ count · (|2 dx| + |2 dy|) between centres.
int64_t doubleWireLength(const std::vector<Rectangle> &rectangles, const std::vector<Wire> &wires);

// Rectangles lie inside width x height and do not overlap, before and after. Per axis the result is optimal for the
// order of the rectangles that face each other.
void compact(std::vector<Rectangle> &rectangles, const std::vector<Wire> &wires, int64_t width, int64_t height);

} // namespace wsc::solver::contest
