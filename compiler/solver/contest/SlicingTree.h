// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slicing floorplan: a binary tree whose leaves are kernels and whose inner nodes stack their children (one above the
// other, sharing a width) or line them up (side by side, sharing a height). Every leaf has an outline (least height for
// each width); the outline of a node is the sum of its children's, so the best shapes of all kernels for a tree are
// found together and exactly (Stockmeyer, "Optimal orientations of cells in slicing floorplan designs", 1983).
//
// Changes are made one move at a time; a move recomputes the paths to the root and can be taken back.
#pragma once

#include "compiler/solver/contest/Shapes.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace wsc::solver::contest {

enum class Cut : uint8_t { Stack, Line }; // children one above the other; side by side

// Leaves are nodes 0 … n−1, inner nodes n … 2n−2.
struct TreeNode {
  int32_t parent = -1, first = -1, second = -1; // first: below or to the west
  Cut cut = Cut::Stack;
  bool operator==(const TreeNode &) const = default;
};
using Tree = std::vector<TreeNode>;

// Lower corner and extents, tiles.
struct Rectangle {
  int32_t x = 0, y = 0, width = 0, height = 0;
};

class SlicingTree {
public:
  // A grid of width x height tiles. `outlines`: one per leaf, each for the extents 0 … max(width, height), kNoExtent at
  // 0.
  SlicingTree(int64_t width, int64_t height, Tree tree, std::vector<const Staircase *> outlines);

  void setTree(Tree tree);
  void setOutlines(const std::vector<const Staircase *> &outlines);

  const Tree &nodes() const { return tree; }
  int32_t root() const { return top; }
  int32_t numLeaves() const { return leaves; }
  bool isLeaf(int32_t node) const { return node < leaves; }
  bool isBelow(int32_t node, int32_t ancestor) const;

  // Tiles by which the floorplan is longer than the grid (negative: free rows or columns); 2 * kNoExtent if some part
  // does not fit at all.
  int32_t overflow() const;
  // One rectangle per leaf; those that overflow lie beyond the grid. Not while overflow() is 2 * kNoExtent.
  void realise(std::vector<Rectangle> &rectangles) const;

  // Moves. Each returns false, having changed nothing, where it makes no sense for these nodes. keep() or undo() ends
  // one.
  bool swapSubtrees(int32_t a, int32_t b);
  // Takes `node` out and puts it beside `target`.
  bool graft(int32_t node, int32_t target, Cut cut, bool nodeFirst);
  bool toggle(int32_t node);
  bool swapChildren(int32_t node);
  // Mirrors the subtree: the order of children at all nodes with that cut.
  bool mirror(int32_t node, Cut cut);
  void keep();
  void undo();

private:
  // Which outlines of a node are there: `along`, the sum of the children's over the extent they share, and `across`,
  // its inverse.
  struct Buffer {
    bool hasAlong = false, hasAcross = false;
    Cut cut = Cut::Stack; // that `along` is for
  };
  void change(int32_t node);
  // False: its outlines are as before. Of the root and its children single extents are asked for: they get none.
  bool recompute(int32_t node);
  void recomputeAll();
  void recomputePaths(int32_t a, int32_t b, bool isNewThere);
  int16_t *alongOf(int32_t node, uint8_t which); // of its two; `across` comes after it
  // Least extent in the direction in which `cut` adds up, for each extent that is shared; computed where it is not
  // there.
  const int16_t *outline(int32_t node, Cut cut);
  // That outline if it is there, else null.
  const int16_t *outlineThere(int32_t node, Cut cut) const;
  // An entry of it, without computing the others.
  int32_t extentAt(int32_t node, Cut cut, int32_t shared) const;
  void place(int32_t node, int32_t x, int32_t y, int32_t shared, int32_t free, std::vector<Rectangle> &out) const;
  void placeChildren(int32_t node, int32_t x, int32_t y, int32_t shared, std::vector<Rectangle> &out) const;

  int32_t width, height, size, stride, leaves, top = -1;
  Tree tree;
  std::vector<int16_t> staircases, sums; // of leaves, each once; of inner nodes; `stride` apart
  std::vector<const int16_t *> leafOutlines;
  std::vector<Buffer> buffers;  // two per inner node
  std::vector<uint8_t> current; // which of the two, per inner node
  std::vector<uint32_t> stamp;  // last walk that met the node
  uint32_t walk = 0;
  std::vector<std::pair<int32_t, TreeNode>> changed; // before the move
  std::vector<int32_t> flipped;                      // nodes whose other buffer is current
  int32_t topBefore = -1;
};

} // namespace wsc::solver::contest
