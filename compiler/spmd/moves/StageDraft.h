// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One stage of a move: which cores of each line give, where their elements lie among the stage's positions, and which
// of these every core selects. Works on lists of element numbers.
#pragma once

#include "compiler/spmd/moves/Move.h"

#include <algorithm>

namespace wsc::spmd {

using Ids = std::vector<int64_t>;
using CoreIds = std::vector<Ids>; // one list for each core of the rectangle, row by row

/// What cores hold before a stage.
struct Input {
  CoreIds held;
  Rectangle rectangle; // of the cores that hold a buffer
  int64_t local = 0;   // elements
};

/// A stage before its selection is put into one form for all cores, which takes longer than all else: only the chosen
/// plan's are.
struct Draft {
  MoveStage stage;
  CoreIds positions; // that every core selects
};

class StageDrafter {
public:
  explicit StageDrafter(const MoveProblem &problem)
      : problem(problem), rows(problem.rectangle.rows), cols(problem.rectangle.cols),
        cores(size_t(rows) * size_t(cols)) {}

  /// One stage from `inputs` to `lists`; nothing if an element is not on its line. `fill`: padding matters.
  std::optional<Draft> stage(std::optional<Axis> axis, const std::vector<Input> &inputs, const CoreIds &lists,
                             int64_t width, bool fill);

protected:
  size_t core(int32_t r, int32_t c) const { return size_t(r) * size_t(cols) + size_t(c); }
  int32_t lines(Axis axis) const { return axis == Axis::Row ? rows : cols; }
  int32_t length(Axis axis) const { return axis == Axis::Row ? cols : rows; }
  /// Core number `at` of a line: along a row the column varies.
  size_t onLine(Axis axis, int32_t line, int32_t at) const {
    return axis == Axis::Row ? core(line, at) : core(at, line);
  }

  /// The smallest rectangle around cores.
  template <typename Holds> Rectangle hullOf(Holds holds) const {
    int32_t rowBegin = rows, rowEnd = 0, colBegin = cols, colEnd = 0;
    for (int32_t r = 0; r < rows; ++r)
      for (int32_t c = 0; c < cols; ++c)
        if (holds(core(r, c))) {
          rowBegin = std::min(rowBegin, r);
          rowEnd = std::max(rowEnd, r + 1);
          colBegin = std::min(colBegin, c);
          colEnd = std::max(colEnd, c + 1);
        }
    if (rowBegin >= rowEnd)
      return {0, 0, 0, 0};
    return {rowBegin, colBegin, rowEnd - rowBegin, colEnd - colBegin};
  }
  static bool contains(const Rectangle &outer, const Rectangle &inner) {
    return inner.row >= outer.row && inner.col >= outer.col && inner.row + inner.rows <= outer.row + outer.rows &&
           inner.col + inner.cols <= outer.col + outer.cols;
  }

  struct Place {
    int32_t input = -1, at = 0; // coordinate on the line
    int64_t slot = 0;
  };

  /// Where each element lies on a line (the first place of several); forgotten by the next call.
  template <typename Visit>
  void mapLine(const std::vector<Input> &inputs, const std::vector<size_t> &line, Visit visit) {
    places.resize(size_t(problem.ids));
    touched.clear();
    for (size_t k = 0; k < inputs.size(); ++k)
      for (size_t at = 0; at < line.size(); ++at) {
        const Ids &held = inputs[k].held[line[at]];
        for (size_t slot = 0; slot < held.size(); ++slot)
          if (held[slot] >= 0 && places[size_t(held[slot])].input < 0) {
            places[size_t(held[slot])] = {int32_t(k), int32_t(at), int64_t(slot)};
            touched.push_back(held[slot]);
          }
      }
    visit();
    for (int64_t id : touched)
      places[size_t(id)] = {};
  }

  std::vector<size_t> lineOf(std::optional<Axis> axis, int32_t line) const {
    if (!axis)
      return {size_t(line)};
    std::vector<size_t> result;
    for (int32_t at = 0; at < length(*axis); ++at)
      result.push_back(onLine(*axis, line, at));
    return result;
  }

  const MoveProblem &problem;
  const int32_t rows, cols;
  const size_t cores;
  std::vector<Place> places;
  std::vector<int64_t> touched;
};

} // namespace wsc::spmd
