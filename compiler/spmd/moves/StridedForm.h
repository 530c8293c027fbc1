// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places of a group's entries in what cores have, as a number of the core's place and loops that are the same on all
// cores.
#pragma once

#include "compiler/spmd/moves/FactoredMove.h"

#include <optional>
#include <set>
#include <vector>

namespace wsc::spmd {

/// Positions of a group's entries: [class][coordinate along the axis]; empty: the core wants nothing.
struct EntryPoints {
  Axis axis = Axis::Row;
  std::vector<int32_t> classOf; // per line
  std::vector<std::vector<std::vector<int64_t>>> lists;
  bool isLine = false;    // of the blocks that a line brings
  bool isUniform = false; // one list for all coordinates
};

/// Moduli of coordinates that are worth trying, besides 1.
struct CoreModuli {
  std::set<int64_t> rows, cols;
};

struct StridedForm {
  PlaceNumber from;
  int64_t to = 0;
  std::vector<BlockCopy::Loop> loops;
  BlockCopy::Remainders rows, cols;
  /// Padding that lies where cores have anything but the fill; loops are those of the group's entries, places are
  /// relative to `to`.
  std::vector<BlockCopy::Patch> patches;
};

/// `kept`: the entries that matter; `to`: their places in the result. Nothing where they have no such form.
std::optional<StridedForm> stridedForm(const MoveProblem &problem, const FactoredStage &stage,
                                       const EntryPoints &points, const std::vector<size_t> &kept,
                                       const std::vector<int64_t> &to, const CoreModuli &moduli);

/// Known values of a coordinate as constant + perGroup·(k / modulus) + perSub·(k % modulus).
std::optional<std::pair<int64_t, GroupNumber>> fit(const std::vector<std::optional<int64_t>> &values,
                                                   const std::set<int64_t> &moduli);

/// Pairs of positions as nested loops, the innermost last; nothing where they are not a sum of digits.
std::optional<std::vector<BlockCopy::Loop>> loopsOf(const std::vector<int64_t> &from, const std::vector<int64_t> &to);

} // namespace wsc::spmd
