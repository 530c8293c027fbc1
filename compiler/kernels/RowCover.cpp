// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/RowCover.h"

#include <algorithm>
#include <tuple>

namespace wsc::kernels {

namespace {

bool sameShape(const RowLattice &a, const RowLattice &b) { return a.levels == b.levels; }

// Whether entries[i + 1] follows on entries[i] by `step`.
bool follows(const RowLattice &a, const RowLattice &b, const RowLattice::Level &step) {
  if (!sameShape(a, b) || b.first.row - a.first.row != step.rowStep)
    return false;
  for (size_t n = 0; n < step.slope.size(); ++n)
    if (b.first.numbers[n] - a.first.numbers[n] != step.slope[n])
      return false;
  return true;
}

// Joins runs of entries, sorted by shape and row, at `level`.
std::vector<RowLattice> joinLevel(std::vector<RowLattice> entries, int level) {
  std::vector<RowLattice> joined;
  RowLattice::Level step;
  for (size_t i = 0; i < entries.size();) {
    size_t end = i + 1;
    if (end < entries.size() && sameShape(entries[i], entries[end])) {
      const RowPoint &a = entries[i].first, &b = entries[end].first;
      step.rowStep = b.row - a.row;
      step.slope.resize(a.numbers.size());
      for (size_t n = 0; n < step.slope.size(); ++n)
        step.slope[n] = b.numbers[n] - a.numbers[n];
      while (end < entries.size() && follows(entries[end - 1], entries[end], step))
        ++end;
    }
    // A pair that could start a longer run one later is left to that run.
    if (end == i + 2 && end + 1 < entries.size() && sameShape(entries[i], entries[end + 1])) {
      auto rowStep = [&](size_t k) { return entries[k].first.row - entries[k - 1].first.row; };
      if (rowStep(end) != step.rowStep && rowStep(end + 1) == rowStep(end))
        end = i + 1;
    }
    if (end > i + 1) {
      step.count = int32_t(end - i);
      entries[i].levels[level] = step;
    }
    joined.push_back(std::move(entries[i]));
    i = end;
  }
  return joined;
}

} // namespace

std::vector<RowLattice> coverRows(std::vector<RowPoint> points, int levels) {
  std::vector<RowLattice> entries(points.size());
  for (size_t i = 0; i < points.size(); ++i)
    entries[i].first = std::move(points[i]);
  auto byRow = [](const RowLattice &a, const RowLattice &b) { return a.first.row < b.first.row; };
  auto byShape = [](const RowLattice &a, const RowLattice &b) {
    return std::tie(a.levels, a.first.row) < std::tie(b.levels, b.first.row);
  };
  for (int level = 0; level < levels && entries.size() > 1; ++level) {
    if (level == 0)
      std::sort(entries.begin(), entries.end(), byRow);
    else
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
