// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lattices as runs of neighbouring cores in a row, so that what is said of many columns at once is judged once.
#pragma once

#include "runtime/format/Executable.h"

#include <algorithm>
#include <tuple>
#include <vector>

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
  int64_t row = lattice.row, col = lattice.col;
  const int32_t cores = along < 0 ? 1 : lattice.dims[along].count;
  for (;;) {
    visit(Run{int32_t(row), int32_t(col), int32_t(col) + cores}, index);
    int d = kMaxDims - 1;
    for (; d >= 0; --d) {
      if (d == along)
        continue;
      const auto &dim = lattice.dims[d];
      if (++index[d] < dim.count) {
        row += dim.rowStep;
        col += dim.colStep;
        break;
      }
      row -= int64_t(dim.count - 1) * dim.rowStep;
      col -= int64_t(dim.count - 1) * dim.colStep;
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

// Sorts items with a `run` in one of `rows` rows by row, and within a row by `before`. Lattices list few runs per row
// and many rows, so rows are told apart by counting. Keeps its memory for the next list.
template <typename Item> class RowSorter {
public:
  template <typename Before> void sort(std::vector<Item> &items, int32_t rows, Before before) {
    end.assign(size_t(rows) + 1, 0);
    for (const Item &item : items)
      ++end[size_t(item.run.row) + 1];
    for (size_t row = 1; row < end.size(); ++row)
      end[row] += end[row - 1];
    sorted.resize(items.size());
    for (const Item &item : items)
      sorted[end[size_t(item.run.row)]++] = item;
    for (size_t row = 0, begin = 0; row < size_t(rows); begin = end[row++])
      if (end[row] > begin + 1)
        std::sort(sorted.begin() + ptrdiff_t(begin), sorted.begin() + ptrdiff_t(end[row]), before);
    items.swap(sorted);
  }

private:
  std::vector<size_t> end; // of each row's items; first, where the next one goes
  std::vector<Item> sorted;
};

} // namespace wsc::format::verifier
