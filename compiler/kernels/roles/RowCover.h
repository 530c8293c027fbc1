// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From rows to lattices (I4): rows in arithmetic progression whose numbers grow linearly along it become one lattice.
//
// Rows of one structure that form an arithmetic progression are joined first; then progressions of equal count, step
// and slopes whose first rows form one; up to three levels (lattice dimensions 2 to 0; columns stay in dimension 3).
// Progressions that differ in shape do not stand in each other's way: rows 1, 4, 6, 8 | 14, 17, 19, 21 | … become two
// lattices, {1, 14, …} and {4, 6, 8} × {0, 13, …}. Cost: O(rows log rows).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wsc::kernels {

struct RowPoint {
  int32_t row = 0;
  size_t item = 0;              // the caller's
  std::vector<int64_t> numbers; // as many in all points of a call
};

struct RowLattice {
  struct Level {
    int32_t count = 1, rowStep = 0;
    std::vector<int64_t> slope; // of the numbers; empty where count is 1
    bool operator==(const Level &) const = default;
    auto operator<=>(const Level &) const = default;
  };
  RowPoint first;
  std::array<Level, 3> levels; // innermost first
};

// Lattices that hold every point once, in order of their first rows. No two points share a row. `levels`: at most 3.
std::vector<RowLattice> coverRows(std::vector<RowPoint> points, int levels = 3);

// The most levels that one of `lattices` uses.
int usedLevels(const std::vector<RowLattice> &lattices);

} // namespace wsc::kernels
