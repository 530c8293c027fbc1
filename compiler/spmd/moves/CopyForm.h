// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy of a stage from lists of positions: each group of factors adds its own loops and its own part of the place
// where a core begins. A group whose positions are not affine in the core's place gets the table; there is one at most.
#pragma once

#include "compiler/spmd/moves/FactoredMove.h"

#include <functional>
#include <set>

namespace wsc::spmd {

class CopyForm {
public:
  struct Moduli {
    std::set<int64_t> rows, cols; // besides 1
  };

  CopyForm(const MoveProblem &problem, FactoredStage &stage) : problem(problem), stage(stage) {}

  /// The factors that the stage brings along its line; `to`: of their entries in the result.
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
  };
  void add(const Points &points, const std::vector<int64_t> &to, const Moduli &moduli);
  bool addStrided(const Points &points, const std::vector<size_t> &kept, const std::vector<int64_t> &to,
                  const Moduli &moduli);
  bool addTable(const Points &points, const std::vector<size_t> &kept, const std::vector<int64_t> &to);

  const MoveProblem &problem;
  FactoredStage &stage;
  std::vector<BlockCopy::Loop> loops, tableLoops;
  bool failed = false;
};

} // namespace wsc::spmd
