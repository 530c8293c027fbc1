// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines of subtrees, their realisation as rectangles, and moves with undo.
#include "compiler/solver/contest/SlicingTree.h"

#include <algorithm>

namespace wsc::solver::contest {

namespace {

Cut other(Cut cut) { return cut == Cut::Stack ? Cut::Line : Cut::Stack; }

void add(const int16_t *a, const int16_t *b, int16_t *sum, int32_t size) {
  for (int32_t i = 0; i < size; ++i)
    sum[i] = std::min<int16_t>(int16_t(a[i] + b[i]), kNoExtent);
}

// The least index whose entry is at most i, for each i.
void invert(const int16_t *along, int16_t *across, int32_t size) {
  int32_t end = size;
  for (int32_t i = 0; i < size && end > 0; ++i) {
    const int32_t from = along[i];
    if (from < end) {
      std::fill(across + from, across + end, int16_t(i));
      end = from;
    }
  }
  std::fill(across, across + end, kNoExtent);
}

} // namespace

SlicingTree::SlicingTree(int64_t width, int64_t height, Tree tree, std::vector<const Staircase *> outlines)
    : width(int32_t(width)), height(int32_t(height)), size(int32_t(std::max(width, height) + 1)),
      leaves(int32_t(outlines.size())), tree(std::move(tree)), outlines(std::move(outlines)) {
  buffers.resize(2 * this->tree.size());
  for (size_t i = size_t(2 * leaves); i < buffers.size(); ++i) {
    buffers[i].along.resize(size_t(size));
    buffers[i].across.resize(size_t(size));
  }
  current.assign(this->tree.size(), 0);
  stamp.assign(this->tree.size(), 0);
  recomputeAll();
}

void SlicingTree::setTree(Tree newTree) {
  tree = std::move(newTree);
  recomputeAll();
}

void SlicingTree::setOutlines(std::vector<const Staircase *> newOutlines) {
  outlines = std::move(newOutlines);
  recomputeAll();
}

void SlicingTree::recomputeAll() {
  top = 0;
  while (tree[top].parent >= 0)
    top = tree[top].parent;
  std::vector<int32_t> order{top}; // parents first
  for (size_t i = 0; i < order.size(); ++i)
    if (!isLeaf(order[i])) {
      order.push_back(tree[order[i]].first);
      order.push_back(tree[order[i]].second);
    }
  for (size_t i = order.size(); i-- > 0;)
    recompute(order[i]);
  keep();
}

const int16_t *SlicingTree::outline(int32_t node, Cut cut) {
  if (isLeaf(node))
    return outlines[node]->data();
  Buffer &buffer = buffers[2 * node + current[node]];
  if (tree[node].cut == cut)
    return buffer.along.data();
  if (!buffer.hasAcross) {
    invert(buffer.along.data(), buffer.across.data(), size);
    buffer.hasAcross = true;
  }
  return buffer.across.data();
}

// As above where it is known to be there: of children, and of the node's own cut.
const int16_t *SlicingTree::outlineOf(int32_t node, Cut cut) const {
  if (isLeaf(node))
    return outlines[node]->data();
  const Buffer &buffer = buffers[2 * node + current[node]];
  return tree[node].cut == cut ? buffer.along.data() : buffer.across.data();
}

bool SlicingTree::recompute(int32_t node) {
  if (isLeaf(node))
    return true;
  const TreeNode &at = tree[node];
  const int16_t *a = outline(at.first, at.cut), *b = outline(at.second, at.cut);
  const Buffer &old = buffers[2 * node + current[node]];
  Buffer &buffer = buffers[2 * node + (current[node] ^ 1)];
  add(a, b, buffer.along.data(), size);
  // The same sum of other parts: a node that did not turn keeps its old outlines, and those above theirs.
  if (old.cut == at.cut && old.along == buffer.along)
    return false;
  buffer.hasAcross = false;
  buffer.cut = at.cut;
  current[node] ^= 1;
  flipped.push_back(node);
  return true;
}

// From both nodes up to the root, children before parents, as far as outlines change. `isNewThere`: a came to its place
// in this move, so what is above it changes even if a itself did not.
void SlicingTree::recomputePaths(int32_t a, int32_t b, bool isNewThere) {
  ++walk;
  for (int32_t node = a; node >= 0; node = tree[node].parent)
    stamp[node] = walk;
  int32_t meeting = b; // of the paths, if anything changes there from b's side
  while (meeting >= 0 && stamp[meeting] != walk)
    meeting = recompute(meeting) ? tree[meeting].parent : -1;
  for (int32_t node = a; node >= 0;) {
    const int32_t pending = meeting;
    if (node == meeting)
      meeting = -1;
    node = recompute(node) || (isNewThere && node == a) ? tree[node].parent : node == pending ? -1 : pending;
  }
}

int32_t SlicingTree::overflow() const {
  const bool stacked = tree[top].cut == Cut::Stack;
  const int32_t extent = outlineOf(top, tree[top].cut)[stacked ? width : height];
  return extent >= kNoExtent ? 2 * kNoExtent : extent - (stacked ? height : width);
}

bool SlicingTree::isBelow(int32_t node, int32_t ancestor) const {
  while (node >= 0 && node != ancestor)
    node = tree[node].parent;
  return node >= 0;
}

// Into a slot of the parent's: `shared` along the extent it shares with its sibling, `free` the other way.
void SlicingTree::place(int32_t node, int32_t x, int32_t y, int32_t shared, int32_t free,
                        std::vector<Rectangle> &out) const {
  const bool stacked = tree[tree[node].parent].cut == Cut::Stack;
  if (isLeaf(node)) {
    const Staircase &outline = *outlines[node];
    // As narrow as that height (or that width) allows, in the middle of the slot.
    const int32_t least = outline[free <= size - 1 ? free : size - 1], slack = (shared - least) / 2;
    out[node] = stacked ? Rectangle{x + slack, y, least, free} : Rectangle{x, y + slack, free, least};
  } else if (tree[node].cut == tree[tree[node].parent].cut) {
    placeChildren(node, x, y, shared, out);
  } else {
    const int32_t slack = (shared - outlineOf(node, tree[node].cut)[free]) / 2;
    placeChildren(node, stacked ? x + slack : x, stacked ? y : y + slack, free, out);
  }
}

void SlicingTree::placeChildren(int32_t node, int32_t x, int32_t y, int32_t shared, std::vector<Rectangle> &out) const {
  const TreeNode &at = tree[node];
  const int32_t first = outlineOf(at.first, at.cut)[shared], second = outlineOf(at.second, at.cut)[shared];
  const bool stacked = at.cut == Cut::Stack;
  place(at.first, x, y, shared, first, out);
  place(at.second, stacked ? x : x + first, stacked ? y + first : y, shared, second, out);
}

void SlicingTree::realise(std::vector<Rectangle> &rectangles) const {
  rectangles.resize(size_t(leaves));
  if (isLeaf(top)) {
    const int32_t extent = (*outlines[top])[width];
    rectangles[top] = {0, 0, (*outlines[top])[std::min(extent, size - 1)], extent};
    return;
  }
  placeChildren(top, 0, 0, tree[top].cut == Cut::Stack ? width : height, rectangles);
}

void SlicingTree::change(int32_t node) { changed.push_back({node, tree[node]}); }

bool SlicingTree::swapSubtrees(int32_t a, int32_t b) {
  const int32_t parentA = tree[a].parent, parentB = tree[b].parent;
  if (a == b || parentA == parentB || parentA < 0 || parentB < 0 || isBelow(a, b) || isBelow(b, a))
    return false;
  const bool isSame = isLeaf(a) && isLeaf(b) && outlines[a] == outlines[b];
  for (int32_t node : {a, b, parentA, parentB})
    change(node);
  (tree[parentA].first == a ? tree[parentA].first : tree[parentA].second) = b;
  (tree[parentB].first == b ? tree[parentB].first : tree[parentB].second) = a;
  std::swap(tree[a].parent, tree[b].parent);
  if (!isSame)
    recomputePaths(parentA, parentB, false);
  return true;
}

bool SlicingTree::graft(int32_t node, int32_t target, Cut cut, bool nodeFirst) {
  const int32_t carrier = tree[node].parent; // moves along
  if (carrier < 0 || target == carrier || isBelow(target, node))
    return false;
  const int32_t sibling = tree[carrier].first == node ? tree[carrier].second : tree[carrier].first;
  if (target == sibling)
    return false;
  const int32_t above = tree[carrier].parent;
  change(carrier);
  change(sibling);
  if (above >= 0) {
    change(above);
    (tree[above].first == carrier ? tree[above].first : tree[above].second) = sibling;
  } else {
    top = sibling;
  }
  tree[sibling].parent = above;
  const int32_t newAbove = tree[target].parent;
  change(target);
  if (newAbove >= 0) {
    change(newAbove);
    (tree[newAbove].first == target ? tree[newAbove].first : tree[newAbove].second) = carrier;
  } else {
    top = carrier;
  }
  tree[carrier] = {newAbove, nodeFirst ? node : target, nodeFirst ? target : node, cut};
  tree[target].parent = carrier;
  recomputePaths(carrier, above, true);
  return true;
}

bool SlicingTree::toggle(int32_t node) {
  if (isLeaf(node))
    return false;
  change(node);
  tree[node].cut = other(tree[node].cut);
  recomputePaths(node, -1, false);
  return true;
}

bool SlicingTree::swapChildren(int32_t node) {
  if (isLeaf(node))
    return false;
  change(node);
  std::swap(tree[node].first, tree[node].second);
  return true;
}

bool SlicingTree::mirror(int32_t node, Cut cut) {
  if (isLeaf(node))
    return false;
  if (tree[node].cut == cut)
    swapChildren(node);
  mirror(tree[node].first, cut);
  mirror(tree[node].second, cut);
  return true;
}

void SlicingTree::keep() {
  changed.clear();
  flipped.clear();
  topBefore = top;
}

void SlicingTree::undo() {
  for (size_t i = changed.size(); i-- > 0;)
    tree[changed[i].first] = changed[i].second;
  for (int32_t node : flipped)
    current[node] ^= 1;
  top = topBefore;
  keep();
}

} // namespace wsc::solver::contest
