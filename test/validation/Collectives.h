// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions along a line of cores, as parts of core programs: in levels of groups, each group a chain to its head.
//
// Level l joins units of u = (product of the group sizes before) cores into groups of `sizes[l]`. Inside a group the
// farthest member sends its block, each member on the way adds its own block to what passes, the head adds the sum to
// its block and goes on to the next level. {P} is the chain, {S, P/S} the two-phase reduce, {2, 2, …} the binary tree.
#pragma once

#include "test/validation/Mesh.h"

#include <vector>

namespace wsc::validation {

// A line of cores in a row: member i stands at column first + step·i (step 1 or −1); member 0 is the root.
struct Line {
  int32_t row = 0, first = 0, step = 1, count = 1;
  Place at(int32_t member) const { return {row, first + step * member}; }
};

// Group sizes that reduce `count` cores in `levels` levels of about equal size.
std::vector<int32_t> equalLevels(int32_t count, int32_t levels);

class LineReduce {
public:
  // `colour`: the first of colours() colours that the reduce takes.
  LineReduce(Line line, std::vector<int32_t> sizes, uint8_t colour);

  int32_t levels() const { return int32_t(sizes.size()); }
  int32_t colours() const;
  // Adds level `level` of what `member` does with its block of `elements`: whether the member goes on to the next
  // level.
  bool level(int32_t level, int32_t member, Core &core, testing::ThreadBuilder &thread, const Op &block,
             int64_t elements) const;
  // All levels.
  void program(int32_t member, Core &core, testing::ThreadBuilder &thread, const Op &block, int64_t elements) const;
  void routes(Mesh &mesh) const;

private:
  struct Role { // of a member in a level
    bool takesPart = false, receives = false, sends = false;
    uint8_t in = 0, out = 0;
    int32_t target = 0; // member that its words go to
  };
  Role roleOf(int32_t level, int32_t member) const;

  Line line;
  std::vector<int32_t> sizes;
  uint8_t first;
};

// All-reduce of the cores of a row: reduce to a root, multicast back.
//  - levels ≥ 1, the K-tree: the root stands in the middle; both halves are reduced to it at once, in that many levels.
//  - levels 0, pipelined: one chain to column 0.
class LineAllReduce {
public:
  LineAllReduce(int32_t row, int32_t cols, int32_t levels, uint8_t colour);

  int32_t root() const { return middle; }
  void program(int32_t col, Core &core, testing::ThreadBuilder &thread, const Op &block, int64_t elements) const;
  void routes(Mesh &mesh) const;

private:
  int32_t row, cols, middle;
  LineReduce east, west; // of the root's columns and those to its east, to its west
  uint8_t back;          // colour of the broadcast
};

} // namespace wsc::validation
