// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy of a stage from lists of positions: each group of factors adds its own loops and its own part of the place
// where a core begins. Groups whose positions are not affine in the core's place share a table of their product.
#pragma once

#include "compiler/spmd/moves/FactoredMove.h"

#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace wsc::spmd {

/// Pairs of positions as nested loops, the innermost last; nothing where they are not a sum of digits.
std::optional<std::vector<BlockCopy::Loop>> loopsOf(const std::vector<int64_t> &from, const std::vector<int64_t> &to);

class CopyForm {
public:
  struct Moduli {
    std::set<int64_t> rows, cols; // besides 1
  };

  CopyForm(const MoveProblem &problem, FactoredStage &stage) : problem(problem), stage(stage) {}

  /// The factors that the stage brings along its line; takes the positions of its plan. `to`: of their entries in the
  /// result.
  void addLine(const LineLists &lists, const std::vector<int64_t> &to, const Moduli &moduli);
  /// Entries that all cores have at the same places.
  void addFixed(const std::vector<int64_t> &from, const std::vector<int64_t> &to);
  /// A factor that every core has already, at places that depend on the core; −1 is padding. False: some core lacks it.
  bool addLocal(const std::function<bool(int32_t row, int32_t col, std::vector<int64_t> &)> &positionsAt, bool byRow,
                bool byCol, const std::vector<int64_t> &to, const Moduli &moduli);
  /// False where the positions have no form.
  bool finish();

private:
  /// Positions of a group's entries: [class][coordinate along the axis]; empty: the core wants nothing.
  struct Points {
    Axis axis = Axis::Row;
    std::vector<int32_t> classOf; // per line
    std::vector<std::vector<std::vector<int64_t>>> lists;
    bool isLine = false;
    bool isUniform = false; // one list for all coordinates
  };
  /// A group whose positions go through the table.
  struct TableGroup {
    CopyTable::Factor factor;           // lists of the entries that matter
    int64_t entries = 0;                // of a list
    std::vector<BlockCopy::Loop> loops; // toStride of the result, fromStride of the entries' numbers
  };
  /// Where the first blocks that lines need are no number of the line: the bus keeps longer stretches, which begin at
  /// such a number. False where these are much longer.
  bool stretch(const LineLists &lists, Points &points, const std::set<int64_t> &moduli);
  bool makeTable();
  /// Elements in front of which all blocks lie.
  int64_t blocksEnd() const;
  /// The first and the last element that the strided part of the copy adds up to, on any core.
  std::pair<int64_t, int64_t> reach() const;
  void add(const Points &points, const std::vector<int64_t> &to, const Moduli &moduli);
  bool addStrided(const Points &points, const std::vector<size_t> &kept, const std::vector<int64_t> &to,
                  const Moduli &moduli);
  bool addTable(const Points &points, const std::vector<size_t> &kept, const std::vector<int64_t> &to);

  const MoveProblem &problem;
  FactoredStage &stage;
  std::vector<BlockCopy::Loop> loops, tableLoops;
  std::vector<TableGroup> tableGroups;
  bool failed = false, readsFill = false; // padding comes from behind the blocks
};

} // namespace wsc::spmd
