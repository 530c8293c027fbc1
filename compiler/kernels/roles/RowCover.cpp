// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/roles/RowCover.h"

#include <algorithm>
#include <tuple>

namespace wsc::kernels {

namespace {

// Points are lattices of one row.
const RowPoint &firstOf(const RowPoint &point) { return point; }
const RowPoint &firstOf(const RowLattice &lattice) { return lattice.first; }
bool sameShape(const RowPoint &, const RowPoint &) { return true; }
bool sameShape(const RowLattice &a, const RowLattice &b) { return a.levels == b.levels; }

// Whether b follows on a by `step`.
template <typename Entry> bool follows(const Entry &a, const Entry &b, const RowLattice::Level &step) {
  if (!sameShape(a, b) || firstOf(b).row - firstOf(a).row != step.rowStep)
    return false;
  for (size_t n = 0; n < step.slope.size(); ++n)
    if (firstOf(b).numbers[n] - firstOf(a).numbers[n] != step.slope[n])
      return false;
  return true;
}

// The end of the run that begins at entries[begin], sorted by shape and row; `step`: from one of its entries to the
// next, and their number.
template <typename Entry> size_t endOfRun(const std::vector<Entry> &entries, size_t begin, RowLattice::Level &step) {
  size_t end = begin + 1;
  if (end < entries.size() && sameShape(entries[begin], entries[end])) {
    const RowPoint &a = firstOf(entries[begin]), &b = firstOf(entries[end]);
    step.rowStep = b.row - a.row;
    step.slope.resize(a.numbers.size());
    for (size_t n = 0; n < step.slope.size(); ++n)
      step.slope[n] = b.numbers[n] - a.numbers[n];
    while (end < entries.size() && follows(entries[end - 1], entries[end], step))
      ++end;
  }
  // A pair that could start a longer run one later is left to that run.
  if (end == begin + 2 && end + 1 < entries.size() && sameShape(entries[begin], entries[end + 1])) {
    auto rowStep = [&](size_t k) { return firstOf(entries[k]).row - firstOf(entries[k - 1]).row; };
    if (rowStep(end) != step.rowStep && rowStep(end + 1) == rowStep(end))
      end = begin + 1;
  }
  step.count = int32_t(end - begin);
  return end;
}

RowLattice latticeOf(RowPoint &&point) { return {std::move(point), {}}; }
RowLattice latticeOf(RowLattice &&lattice) { return std::move(lattice); }

// Joins runs of entries, sorted by shape and row, at `level`.
template <typename Entry> std::vector<RowLattice> joinLevel(std::vector<Entry> entries, int level) {
  std::vector<RowLattice> joined;
  RowLattice::Level step;
  for (size_t i = 0, end; i < entries.size(); i = end) {
    end = endOfRun(entries, i, step);
    joined.push_back(latticeOf(std::move(entries[i])));
    if (end > i + 1)
      joined.back().levels[size_t(level)] = step;
  }
  return joined;
}

} // namespace

std::vector<RowLattice> coverRows(std::vector<RowPoint> points, int levels) {
  auto byRow = [](const auto &a, const auto &b) { return firstOf(a).row < firstOf(b).row; };
  auto byShape = [](const RowLattice &a, const RowLattice &b) {
    return std::tie(a.levels, a.first.row) < std::tie(b.levels, b.first.row);
  };
  if (!std::is_sorted(points.begin(), points.end(), byRow))
    std::sort(points.begin(), points.end(), byRow);
  std::vector<RowLattice> entries;
  if (levels > 0) {
    entries = joinLevel(std::move(points), 0);
  } else {
    for (RowPoint &point : points)
      entries.push_back(latticeOf(std::move(point)));
  }
  for (int level = 1; level < levels && entries.size() > 1; ++level) {
    std::sort(entries.begin(), entries.end(), byShape);
    entries = joinLevel(std::move(entries), level);
  }
  std::sort(entries.begin(), entries.end(), byRow);
  return entries;
}

int usedLevels(const std::vector<RowLattice> &lattices) {
  int used = 0;
  for (const RowLattice &lattice : lattices)
    for (int level = used; level < int(lattice.levels.size()); ++level)
      if (lattice.levels[level].count > 1)
        used = level + 1;
  return used;
}

} // namespace wsc::kernels
