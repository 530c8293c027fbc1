// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lattices as runs of neighbouring cores in a row, so that what is said of many columns at once is judged once.
#pragma once

#include "runtime/format/Executable.h"

#include <tuple>

namespace wsc::format::verifier {

// Cores (row, colBegin … colEnd − 1).
struct Run {
  int32_t row = 0, colBegin = 0, colEnd = 0;
  int32_t cores() const { return colEnd - colBegin; }
  bool before(const Run &other) const { return std::tie(row, colBegin) < std::tie(other.row, other.colBegin); }
};

// The lattice dimension that steps from a core to its eastern neighbour; -1: none.
inline int runDimension(const Lattice &lattice) {
  for (int d = kMaxDims - 1; d >= 0; --d)
    if (lattice.dims[d].count > 1 && lattice.dims[d].rowStep == 0 && lattice.dims[d].colStep == 1)
      return d;
  return -1;
}

// Calls visit(run, index of its first core) for the runs along dimension `along` (-1: runs of one core each). All cores
// lie in the mesh.
template <typename Visit> void forEachRun(const Lattice &lattice, int along, Visit visit) {
  LatticeIndex index{};
  for (;;) {
    int64_t row = lattice.row, col = lattice.col;
    for (int d = 0; d < kMaxDims; ++d) {
      row += int64_t(index[d]) * lattice.dims[d].rowStep;
      col += int64_t(index[d]) * lattice.dims[d].colStep;
    }
    int32_t cores = along < 0 ? 1 : lattice.dims[along].count;
    visit(Run{int32_t(row), int32_t(col), int32_t(col) + cores}, index);
    int d = kMaxDims - 1;
    for (; d >= 0; --d) {
      if (d == along)
        continue;
      if (++index[d] < lattice.dims[d].count)
        break;
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

} // namespace wsc::format::verifier
