// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy of a stage from lists of positions: each group of factors adds its own loops and its own part of the place
// where a core begins. Groups whose positions are not affine in the core's place share a table of their product.
#pragma once

#include "compiler/spmd/moves/StridedForm.h"

#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace wsc::spmd {

class CopyForm {
public:
  CopyForm(const MoveProblem &problem, FactoredStage &stage) : problem(problem), stage(stage) {}

  /// The factors that the stage brings along its line; takes the positions of its plan. `to`: of their entries in the
  /// result.
  void addLine(const LineLists &lists, const std::vector<int64_t> &to, const CoreModuli &moduli);
  /// Entries that all cores have at the same places.
  void addFixed(const std::vector<int64_t> &from, const std::vector<int64_t> &to);
  /// A factor that every core has already, at places that depend on the core; −1 is padding. `rowKinds`, `colKinds`:
  /// numbers that are equal where the places are, for the takers' rows and columns; `alongRows`: the copy is looked at
  /// along rows. False: some core lacks it.
  bool addLocal(const std::function<bool(int32_t row, int32_t col, std::vector<int64_t> &)> &positionsAt,
                const std::vector<int32_t> &rowKinds, const std::vector<int32_t> &colKinds, bool alongRows,
                const std::vector<int64_t> &to, const CoreModuli &moduli);
  /// False where the positions have no form.
  bool finish();

private:
  /// A group whose positions go through the table.
  struct TableGroup {
    CopyTable::Factor factor;           // lists of the entries that matter
    int64_t entries = 0;                // of a list
    std::vector<BlockCopy::Loop> loops; // toStride of the result, fromStride of the entries' numbers
  };
  /// Where the first blocks that lines need are no number of the line: the bus keeps longer stretches, which begin at
  /// such a number. False where these are much longer.
  bool stretch(const LineLists &lists, EntryPoints &points, const std::set<int64_t> &moduli);
  bool makeTable();
  /// Elements in front of which all blocks lie.
  int64_t blocksEnd() const;
  /// The first and the last element that the strided part of the copy adds up to, on any core.
  std::pair<int64_t, int64_t> reach(const BlockCopy &copy) const;
  bool finish(BlockCopy &copy);
  void add(const EntryPoints &points, const std::vector<int64_t> &to, const CoreModuli &moduli);
  /// False where the form does not go together with those of other groups.
  bool commit(const StridedForm &form);
  /// Entries of a window block by block, each a strided copy.
  bool addParts(const EntryPoints &points, const std::vector<size_t> &kept, const std::vector<int64_t> &to,
                const CoreModuli &moduli);
  /// A copy for each part, with the loops of all other groups. False, and nothing changed, where one has no form.
  bool finishParts();
  bool addTable(const EntryPoints &points, const std::vector<size_t> &kept, const std::vector<int64_t> &to);

  const MoveProblem &problem;
  FactoredStage &stage;
  std::vector<BlockCopy::Loop> loops, tableLoops;
  /// A patch whose loops are those of its group's entries; `begin`, `end`: which of `loops` these stand for.
  struct GroupPatch {
    BlockCopy::Patch patch;
    size_t begin = 0, end = 0;
  };
  std::vector<GroupPatch> groupPatches;
  /// Of a window that is copied block by block: the parts, and the group that they are.
  std::vector<StridedForm> parts;
  struct {
    EntryPoints points;
    std::vector<size_t> kept;
    std::vector<int64_t> to;
  } split;
  std::vector<TableGroup> tableGroups;
  bool failed = false, readsFill = false; // padding comes from behind the blocks
};

} // namespace wsc::spmd
