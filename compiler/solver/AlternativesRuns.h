// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The links of a mesh in one flat array, column by column, and the loads of an option as runs of neighbouring links.
#pragma once

#include "compiler/solver/Alternatives.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace wsc::solver::alternatives {

// All links between routers of some columns in one array, those of a direction and column side by side: so are a load's
// links along a column, and those of rows below each other that take the same words from a column to the next. Columns
// that are left out lie as if they were not there.
struct Lines {
  explicit Lines(const Problem &problem) : Lines(problem, std::vector<bool>(size_t(problem.cols), true)) {}
  Lines(const Problem &problem, const std::vector<bool> &isIn) : rows(problem.rows), before(isIn.size() + 1, 0) {
    for (size_t col = 0; col < isIn.size(); ++col)
      before[col + 1] = before[col] + isIn[col];
    cols = std::max(1, before.back());
  }
  size_t count() const { return 4 * size_t(rows) * size_t(cols); }
  // Calls visit(first link, end) for the runs of neighbouring links of a load.
  template <typename Visit> void forEachRun(const Load &load, Visit visit) const {
    using routing::Direction;
    const routing::Segment &s = load.segment;
    const bool along = s.row == s.rowEnd;
    const int32_t first = before[size_t(std::min(s.col, s.colEnd))];
    const int32_t last = before[size_t(std::max(s.col, s.colEnd)) + 1] - 1;
    auto linkAt = [&](Direction d, int32_t row, int32_t col) {
      return (size_t(d) * size_t(cols) + size_t(col)) * size_t(rows) + size_t(row);
    };
    if (along) {
      const Direction d = s.col < s.colEnd ? Direction::East : Direction::West;
      size_t link = linkAt(d, s.row, s.col < s.colEnd ? first : first + 1);
      for (int32_t col = first; col < last; ++col, link += size_t(rows))
        visit(link, link + size_t(load.rowsAlike));
    } else if (first <= last) {
      const Direction d = s.row < s.rowEnd ? Direction::South : Direction::North;
      const size_t link = linkAt(d, s.row < s.rowEnd ? s.row : s.rowEnd + 1, first);
      visit(link, link + size_t(std::abs(s.rowEnd - s.row)));
    }
  }
  int32_t rows = 0, cols = 0;
  std::vector<int32_t> before; // columns that are in, west of each
};

// Links [begin, end) carry `words` each, of so many loads together.
struct Run {
  size_t begin = 0, end = 0;
  int64_t words = 0, loads = 0;
};

// Makes runs of loads. What changes from a link to the next is noted in a flat array, with a bit for each link where
// something may. Cost: the loads, and a 64th of the links.
class RunMaker {
public:
  explicit RunMaker(const Lines &lines)
      : lines(lines), changes(lines.count() + 1), isChanged((lines.count() + 64) / 64, 0) {}

  // The loads of an option as runs that have no link in common, ascending.
  std::vector<Run> runsOf(const Option &option) {
    for (const Load &load : option.loads)
      lines.forEachRun(load, [&](size_t begin, size_t end) {
        change(begin, load.wordsPerSample, 1);
        change(end, -load.wordsPerSample, -1);
      });
    std::vector<Run> runs;
    Run run;
    for (size_t part = 0; part < isChanged.size(); ++part)
      for (; isChanged[part] != 0; isChanged[part] &= isChanged[part] - 1) {
        const size_t link = 64 * part + size_t(std::countr_zero(isChanged[part]));
        if (changes[link].words == 0 && changes[link].loads == 0)
          continue; // one load ends where another begins
        run.end = link;
        if (run.loads > 0)
          runs.push_back(run);
        run = {link, link, run.words + changes[link].words, run.loads + changes[link].loads};
        changes[link] = {};
      }
    return runs;
  }

private:
  struct Change {
    int64_t words = 0, loads = 0;
  };
  void change(size_t link, int64_t words, int64_t loads) {
    changes[link].words += words;
    changes[link].loads += loads;
    isChanged[link / 64] |= uint64_t(1) << link % 64;
  }

  const Lines &lines;
  std::vector<Change> changes;
  std::vector<uint64_t> isChanged;
};

} // namespace wsc::solver::alternatives
