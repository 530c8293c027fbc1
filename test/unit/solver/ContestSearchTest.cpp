// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the search for contest placements: slicing trees under moves, and compaction against exhaustive search.
#include "compiler/solver/contest/Compact.h"
#include "compiler/solver/contest/SlicingTree.h"
#include "test/unit/solver/TestUtil.h"

#include <algorithm>

using namespace wsc::solver::contest;
using wsc::solver::test::Random;

namespace {

bool overlap(const Rectangle &a, const Rectangle &b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

// A comb of `leaves` leaves.
Tree comb(int32_t leaves, Random &random) {
  Tree tree(static_cast<size_t>(leaves));
  int32_t top = 0;
  for (int32_t leaf = 1; leaf < leaves; ++leaf) {
    const int32_t node = int32_t(tree.size());
    tree.push_back({-1, top, leaf, random.in(0, 1) ? Cut::Stack : Cut::Line});
    tree[top].parent = tree[leaf].parent = node;
    top = node;
  }
  return tree;
}

TEST(SlicingTree, MovesAndUndoneMovesLeaveWhatATreeBuiltAnewHas) {
  Random random(1);
  const int32_t leaves = 9, width = 50, height = 40;
  std::vector<Staircase> staircases(3, Staircase(51, kNoExtent));
  for (size_t i = 0; i < staircases.size(); ++i)
    for (size_t x = 1; x <= 50; ++x)
      staircases[i][x] = std::min(staircases[i][x - 1], int16_t((150 + 60 * i) / x + 1));
  std::vector<const Staircase *> outlines;
  for (int32_t leaf = 0; leaf < leaves; ++leaf)
    outlines.push_back(&staircases[size_t(random.in(0, 2))]);
  SlicingTree tree(width, height, comb(leaves, random), outlines);
  std::vector<Rectangle> here, anew;
  int fitting = 0;
  for (int move = 0; move < 20000; ++move) {
    const int32_t a = random.in(0, 2 * leaves - 2), b = random.in(0, 2 * leaves - 2);
    const Cut cut = random.in(0, 1) ? Cut::Stack : Cut::Line;
    const Tree before = tree.nodes();
    bool moved = false;
    switch (random.in(0, 4)) {
    case 0:
      moved = tree.swapSubtrees(a, b);
      break;
    case 1:
      moved = tree.graft(a, b, cut, random.in(0, 1));
      break;
    case 2:
      moved = tree.toggle(a);
      break;
    case 3:
      moved = tree.swapChildren(a);
      break;
    default:
      moved = tree.mirror(a, cut);
    }
    if (moved && random.in(0, 1))
      tree.keep();
    else if (moved)
      tree.undo(), moved = false;
    if (!moved)
      EXPECT_EQ(tree.nodes(), before);
    SlicingTree reference(width, height, tree.nodes(), outlines);
    ASSERT_EQ(tree.overflow(), reference.overflow()) << "move " << move;
    if (tree.overflow() >= 2 * kNoExtent)
      continue;
    tree.realise(here);
    reference.realise(anew);
    for (int32_t i = 0; i < leaves; ++i) {
      EXPECT_EQ(std::tie(here[i].x, here[i].y, here[i].width, here[i].height),
                std::tie(anew[i].x, anew[i].y, anew[i].width, anew[i].height));
      EXPECT_EQ((*outlines[i])[here[i].width], here[i].height);
      for (int32_t j = 0; j < i; ++j)
        EXPECT_FALSE(overlap(here[i], here[j])) << "move " << move;
    }
    if (tree.overflow() > 0)
      continue;
    ++fitting;
    for (const Rectangle &r : here)
      EXPECT_TRUE(r.x >= 0 && r.y >= 0 && r.x + r.width <= width && r.y + r.height <= height);
  }
  std::printf("%d fitting\n", fitting);
  EXPECT_GT(fitting, 100);
  EXPECT_LT(fitting, 19900);
}

// Least extent of the subtree in the direction its own cut adds up (`along`), or in the other, for a shared extent; by
// the definition, one entry at a time.
int32_t leastExtent(const Tree &tree, const std::vector<Staircase> &leaves, int32_t node, Cut cut, int32_t shared) {
  if (node < int32_t(leaves.size()))
    return leaves[size_t(node)][size_t(shared)];
  const TreeNode &at = tree[size_t(node)];
  if (at.cut == cut)
    return std::min<int32_t>(leastExtent(tree, leaves, at.first, cut, shared) +
                                 leastExtent(tree, leaves, at.second, cut, shared),
                             kNoExtent);
  for (int32_t extent = 0; extent < int32_t(leaves.front().size()); ++extent)
    if (leastExtent(tree, leaves, node, at.cut, extent) <= shared)
      return extent;
  return kNoExtent;
}

// Staircases of any step length, also longer than what is filled at once, on grids of any side.
TEST(SlicingTree, OverflowIsThatOfTheDefinition) {
  Random random(11);
  int fitting = 0, impossible = 0;
  for (int round = 0; round < 300; ++round) {
    const int32_t leaves = random.in(2, 5), width = random.in(3, 40), height = random.in(3, 40),
                  side = std::max(width, height);
    std::vector<Staircase> staircases;
    std::vector<const Staircase *> outlines;
    for (int32_t leaf = 0; leaf < leaves; ++leaf) {
      Staircase staircase(size_t(side + 1), kNoExtent);
      for (int32_t corner = random.in(1, 6); corner > 0; --corner) {
        const int32_t x = random.in(1, side), y = random.in(1, std::max(1, side / 2));
        for (int32_t i = x; i <= side; ++i)
          staircase[size_t(i)] = std::min(staircase[size_t(i)], int16_t(y));
      }
      staircases.push_back(staircase);
    }
    for (const Staircase &staircase : staircases)
      outlines.push_back(&staircase);
    SlicingTree tree(width, height, comb(leaves, random), outlines);
    for (int move = 0; move < 5; ++move) {
      const Cut cut = tree.nodes()[size_t(tree.root())].cut;
      const bool stacked = cut == Cut::Stack;
      const int32_t extent = leastExtent(tree.nodes(), staircases, tree.root(), cut, stacked ? width : height);
      ASSERT_EQ(tree.overflow(), extent >= kNoExtent ? 2 * kNoExtent : extent - (stacked ? height : width))
          << "round " << round << " move " << move;
      fitting += tree.overflow() <= 0;
      impossible += tree.overflow() >= 2 * kNoExtent;
      const bool moved = random.in(0, 1)
                             ? tree.toggle(random.in(leaves, 2 * leaves - 2))
                             : tree.graft(random.in(0, 2 * leaves - 2), random.in(0, 2 * leaves - 2), cut, true);
      if (moved && random.in(0, 1))
        tree.undo();
      else
        tree.keep();
    }
  }
  std::printf("%d fitting, %d impossible\n", fitting, impossible);
  EXPECT_GT(fitting, 100);
  EXPECT_GT(impossible, 100);
  EXPECT_LT(fitting + impossible, 1400);
}

// Least wire length along x over all positions that keep who is left of whom among rectangles that face each other.
int64_t leastAlongX(std::vector<Rectangle> &rectangles, const std::vector<Rectangle> &before,
                    const std::vector<Wire> &wires, int32_t width, size_t i) {
  if (i == rectangles.size())
    return doubleWireLength(rectangles, wires);
  int64_t least = int64_t(1) << 40;
  for (int32_t x = 0; x + rectangles[i].width <= width; ++x) {
    rectangles[i].x = x;
    bool legal = true;
    for (size_t j = 0; j < i; ++j)
      legal = legal && !overlap(rectangles[i], rectangles[j]) &&
              (before[i].y >= before[j].y + before[j].height || before[j].y >= before[i].y + before[i].height ||
               (before[i].x < before[j].x) == (x < rectangles[j].x));
    if (legal)
      least = std::min(least, leastAlongX(rectangles, before, wires, width, i + 1));
  }
  return least;
}

TEST(Compact, NoWorseThanTheBestOrderKeepingShiftAlongAnAxis) {
  Random random(3);
  int shortened = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Rectangle> rectangles;
    while (rectangles.size() < 4) {
      Rectangle r{0, random.in(0, 7), random.in(1, 5), random.in(1, 3)};
      r.x = random.in(0, 14 - r.width);
      if (std::none_of(rectangles.begin(), rectangles.end(), [&](const Rectangle &o) { return overlap(r, o); }))
        rectangles.push_back(r);
    }
    std::vector<Wire> wires;
    for (int32_t b = 1; b < 4; ++b)
      wires.push_back({random.in(0, b - 1), b, random.in(1, 3)});
    const int64_t before = doubleWireLength(rectangles, wires);
    std::vector<Rectangle> exhaustive = rectangles;
    const int64_t least = leastAlongX(exhaustive, rectangles, wires, 14, 0);
    compact(rectangles, wires, 14, 10);
    EXPECT_LE(doubleWireLength(rectangles, wires), least) << "round " << round;
    shortened += doubleWireLength(rectangles, wires) < before;
    for (size_t i = 0; i < 4; ++i) {
      const Rectangle &r = rectangles[i];
      EXPECT_TRUE(r.x >= 0 && r.y >= 0 && r.x + r.width <= 14 && r.y + r.height <= 10);
      for (size_t j = 0; j < i; ++j)
        EXPECT_FALSE(overlap(r, rectangles[j])) << "round " << round;
    }
  }
  EXPECT_GT(shortened, 200);
}

} // namespace
