// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walking the points of a lattice in row-major order of its indices; the ordinal of a point is its place in that order.
#pragma once

#include "runtime/format/Executable.h"

namespace wsc::emulator {

inline int64_t latticeOrdinal(const format::Lattice &lattice, const format::LatticeIndex &index) {
  int64_t ordinal = 0;
  for (int d = 0; d < format::kMaxDims; ++d)
    ordinal = ordinal * lattice.dims[d].count + index[d];
  return ordinal;
}

inline format::LatticeIndex latticeIndex(const format::Lattice &lattice, int64_t ordinal) {
  format::LatticeIndex index{};
  for (int d = format::kMaxDims - 1; d >= 0; --d) {
    index[d] = int32_t(ordinal % lattice.dims[d].count);
    ordinal /= lattice.dims[d].count;
  }
  return index;
}

inline std::pair<int32_t, int32_t> latticePosition(const format::Lattice &lattice, const format::LatticeIndex &index) {
  int32_t row = lattice.row, col = lattice.col;
  for (int d = 0; d < format::kMaxDims; ++d) {
    row += index[d] * lattice.dims[d].rowStep;
    col += index[d] * lattice.dims[d].colStep;
  }
  return {row, col};
}

// Calls visit(index, row, col) for every point; stops when it returns false.
template <typename Visit> void forEachPoint(const format::Lattice &lattice, Visit visit) {
  for (const auto &dim : lattice.dims)
    if (dim.count <= 0)
      return;
  format::LatticeIndex index{};
  for (;;) {
    auto [row, col] = latticePosition(lattice, index);
    if (!visit(index, row, col))
      return;
    int d = format::kMaxDims - 1;
    while (d >= 0 && ++index[d] == lattice.dims[d].count)
      index[d--] = 0;
    if (d < 0)
      return;
  }
}

} // namespace wsc::emulator
