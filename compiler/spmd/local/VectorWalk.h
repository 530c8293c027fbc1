// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One vector operation over any number of dimensions: an instruction over the longest of them (a descriptor walks
// four), inside loops over the others.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/status.h"

#include <array>
#include <cstdint>
#include <vector>

namespace wsc::spmd {

/// `extent` points, and the bytes from one to the next in dst, a and b (0: the same element, or no memory operand).
struct WalkDim {
  int64_t extent = 1;
  std::array<int64_t, 3> stride{};
  /// A dimension that is reduced: each element of dst meets its points in ascending row-major order of these.
  bool ordered = false;
};

/// Appends `head` over `dims` (outermost first) to `code`, inside `openLoops` loops. Of `head`, opcode, types, bases,
/// and steps of the open loops are set. Dimensions of one point are dropped, neighbours through which all operands walk
/// evenly become one; without ordered dimensions, neighbours in dst.
///  - Reduce…: ordered dimensions go to the innermost loops and extents, in their order.
///  - Fma: ordered dimensions are loops, since the instruction must meet each element of dst once.
///  - Gather: `numberStride` bytes lie between consecutive numbers of a; the innermost extent is a dimension along
///    which a does not move otherwise.
/// Error: ResourceExhausted if more loops are needed than are free.
absl::Status emitWalk(format::Thread &code, int openLoops, format::Instruction head, const std::vector<WalkDim> &dims,
                      int64_t numberStride = 0);

/// True if no two points have the same element, provably by the verifier's rule: sorted by size, each stride reaches
/// over all smaller ones.
bool isInjective(std::vector<std::pair<int64_t, int64_t>> strideAndExtent, int64_t elementBytes);

} // namespace wsc::spmd
