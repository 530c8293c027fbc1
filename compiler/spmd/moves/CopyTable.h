// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions of a copy that no strides describe: a list per core, the product of factors' lists. A table stays factors
// until a program needs its numbers: planning asks only how far they reach and which there are.
#pragma once

#include "compiler/spmd/sharding/Sharding.h"

#include <cstdint>
#include <vector>

namespace wsc::spmd {

class CopyTable {
public:
  /// Lists of one factor; all have the same length.
  struct Factor {
    Axis axis = Axis::Row;                    // of the lines
    std::vector<int32_t> classOf;             // per line of the mesh; −1: its cores want nothing
    std::vector<std::vector<int32_t>> listOf; // [class][coordinate along the axis]: number of a list; −1: nothing
    bool isUniform = false;                   // one coordinate stands for all
    std::vector<std::vector<int64_t>> lists;  // each once; −1 is padding

    /// Number of a core's list; −1 where the core wants nothing.
    int32_t at(int32_t row, int32_t col) const {
      const bool acrossRows = axis == Axis::Row;
      const int32_t line = classOf[size_t(acrossRows ? row : col)];
      return line < 0 ? -1 : listOf[size_t(line)][isUniform ? 0 : size_t(acrossRows ? col : row)];
    }
    bool dependsOn(Axis coordinate) const { return coordinate == axis ? listOf.size() > 1 : !isUniform; }
  };

  /// `ownPosition`: what padding and cores that want nothing read. At least one factor.
  CopyTable(std::vector<Factor> factors, const Rectangle &mesh, const Rectangle &takers, int64_t ownPosition);

  int32_t rows() const { return byRow ? mesh.rows : 1; } // 1: one row of numbers stands for all
  int32_t cols() const { return byCol ? mesh.cols : 1; }
  int64_t length() const { return perCore; }                 // numbers on a core
  int64_t size() const { return rows() * cols() * perCore; } // numbers of all cores
  bool isPadded() const { return padded; }
  /// The largest number.
  int64_t most() const { return largest; }

  /// The numbers, sorted, each once.
  std::vector<int64_t> places() const;
  /// rows × cols × length.
  std::vector<int32_t> numbers() const;
  /// Of the same shape: 0 for padding.
  std::vector<uint8_t> inside() const;

private:
  /// Calls `fn` with each core that wants something: its number, its lists, one per factor, and whether they are others
  /// than those of the core visited before.
  template <typename Fn> void forEachCore(Fn fn) const;
  /// The product of these lists.
  void positionsOf(const std::vector<int32_t> &lists, std::vector<int64_t> &positions) const;
  void findChoices();

  std::vector<Factor> factors;
  Rectangle mesh, takers;
  int64_t ownPosition = 0;
  bool byRow = false, byCol = false;
  int64_t perCore = 1;
  std::vector<std::vector<int32_t>> choices; // of lists that occur together on a core, each once
  bool readsOwn = false;                     // some core wants nothing
  bool padded = false;
  int64_t largest = 0;
};

} // namespace wsc::spmd
