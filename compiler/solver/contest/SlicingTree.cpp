// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines of subtrees, their realisation as rectangles, and moves with undo.
#include "compiler/solver/contest/SlicingTree.h"

#include <algorithm>

namespace wsc::solver::contest {

namespace {

Cut other(Cut cut) { return cut == Cut::Stack ? Cut::Line : Cut::Stack; }

// Entries that loops may go over at once; staircases are padded to multiples of it, and by one more.
constexpr int32_t kLanes = 16;

// `padded`: a multiple of kLanes.
void add(const int16_t *__restrict a, const int16_t *__restrict b, int16_t *__restrict sum, int32_t padded) {
  for (int32_t i = 0; i < padded; ++i)
    sum[i] = std::min<int16_t>(int16_t(a[i] + b[i]), kNoExtent);
}

void fillLanes(int16_t *out, int16_t value) {
  for (int32_t k = 0; k < kLanes; ++k)
    out[k] = value;
}

// The least index whose entry is at most i, for each i. Longer extents first: what an index fills beyond its own
// entries is filled over by those after it, so that no step of the staircase needs a loop of its own length. Entry 0
// of `along` is kNoExtent.
void invert(const int16_t *__restrict along, int16_t *__restrict across, int32_t size) {
  int32_t i = size - 1, from = along[i];
  std::fill(across, across + std::min(from, size), kNoExtent);
  while (from < size) {
    const int32_t next = along[i - 1];
    fillLanes(across + from, int16_t(i));
    if (next - from > kLanes) [[unlikely]]
      for (int32_t at = from + kLanes; at < std::min(next, size); at += kLanes)
        fillLanes(across + at, int16_t(i));
    from = next;
    --i;
  }
}

} // namespace

SlicingTree::SlicingTree(int64_t width, int64_t height, Tree tree, std::vector<const Staircase *> outlines)
    : width(int32_t(width)), height(int32_t(height)), size(int32_t(std::max(width, height) + 1)),
      stride((size + kLanes - 1) / kLanes * kLanes + kLanes), leaves(int32_t(outlines.size())), tree(std::move(tree)) {
  buffers.resize(2 * this->tree.size());
  sums.assign(2 * buffers.size() * size_t(stride), kNoExtent);
  current.assign(this->tree.size(), 0);
  stamp.assign(this->tree.size(), 0);
  setOutlines(std::move(outlines));
}

void SlicingTree::setTree(Tree newTree) {
  tree = std::move(newTree);
  recomputeAll();
}

void SlicingTree::setOutlines(const std::vector<const Staircase *> &outlines) {
  leafOutlines.clear();
  std::vector<const Staircase *> distinct = outlines;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  staircases.assign(distinct.size() * size_t(stride), kNoExtent);
  for (size_t i = 0; i < distinct.size(); ++i)
    std::copy(distinct[i]->begin(), distinct[i]->end(), staircases.begin() + int64_t(i) * stride);
  for (const Staircase *outline : outlines)
    leafOutlines.push_back(
        &staircases[size_t((std::lower_bound(distinct.begin(), distinct.end(), outline) - distinct.begin()) * stride)]);
  recomputeAll();
}

void SlicingTree::recomputeAll() {
  top = 0;
  while (tree[top].parent >= 0)
    top = tree[top].parent;
  for (Buffer &buffer : buffers)
    buffer = {};
  if (!isLeaf(top))
    for (int32_t child : {tree[top].first, tree[top].second})
      recompute(child);
  keep();
}

int16_t *SlicingTree::alongOf(int32_t node, uint8_t which) {
  return &sums[(2 * size_t(node) + which) * 2 * size_t(stride)];
}

const int16_t *SlicingTree::outline(int32_t node, Cut cut) {
  if (isLeaf(node))
    return leafOutlines[node];
  Buffer &buffer = buffers[2 * node + current[node]];
  const TreeNode &at = tree[node];
  int16_t *along = alongOf(node, current[node]), *across = along + stride;
  if (!buffer.hasAlong) {
    add(outline(at.first, at.cut), outline(at.second, at.cut), along, stride - kLanes);
    buffer = {.hasAlong = true, .hasAcross = false, .cut = at.cut};
  }
  if (at.cut == cut)
    return along;
  if (!buffer.hasAcross) {
    invert(along, across, size);
    buffer.hasAcross = true;
  }
  return across;
}

const int16_t *SlicingTree::outlineThere(int32_t node, Cut cut) const {
  if (isLeaf(node))
    return leafOutlines[node];
  const Buffer &buffer = buffers[2 * node + current[node]];
  const int16_t *along = &sums[(2 * size_t(node) + current[node]) * 2 * size_t(stride)];
  return tree[node].cut == cut ? (buffer.hasAlong ? along : nullptr) : (buffer.hasAcross ? along + stride : nullptr);
}

int32_t SlicingTree::extentAt(int32_t node, Cut cut, int32_t shared) const {
  const int16_t *there = outlineThere(node, cut);
  if (there)
    return there[shared];
  const TreeNode &at = tree[node];
  const int16_t *a = outlineThere(at.first, at.cut), *b = outlineThere(at.second, at.cut);
  if (at.cut == cut)
    return std::min<int32_t>((a ? a[shared] : extentAt(at.first, cut, shared)) +
                                 (b ? b[shared] : extentAt(at.second, cut, shared)),
                             kNoExtent);
  // The least extent is in [least, least + count].
  int32_t least = 0, count = size;
  while (count > 0) {
    const int32_t half = count / 2, middle = least + half;
    const bool tooMuch =
        (a ? a[middle] : extentAt(at.first, at.cut, middle)) + (b ? b[middle] : extentAt(at.second, at.cut, middle)) >
        shared;
    least = tooMuch ? middle + 1 : least;
    count = tooMuch ? count - half - 1 : half;
  }
  return least < size ? least : kNoExtent;
}

bool SlicingTree::recompute(int32_t node) {
  if (isLeaf(node))
    return true;
  const TreeNode &at = tree[node];
  const Buffer &old = buffers[2 * node + current[node]];
  Buffer &buffer = buffers[2 * node + (current[node] ^ 1)];
  buffer = {.hasAlong = false, .hasAcross = false, .cut = at.cut};
  if (node != top) {
    const int16_t *a = outline(at.first, at.cut), *b = outline(at.second, at.cut);
    if (at.parent != top) {
      int16_t *along = alongOf(node, current[node] ^ 1);
      add(a, b, along, stride - kLanes);
      // The same sum of other parts: a node that did not turn keeps its old outlines, and those above theirs.
      if (old.hasAlong && old.cut == at.cut && std::equal(along, along + size, alongOf(node, current[node])))
        return false;
      buffer.hasAlong = true;
    }
  }
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
  const int32_t extent = extentAt(top, tree[top].cut, stacked ? width : height);
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
    const int16_t *outline = leafOutlines[node];
    // As narrow as that height (or that width) allows, in the middle of the slot.
    const int32_t least = outline[free <= size - 1 ? free : size - 1], slack = (shared - least) / 2;
    out[node] = stacked ? Rectangle{x + slack, y, least, free} : Rectangle{x, y + slack, free, least};
  } else if (tree[node].cut == tree[tree[node].parent].cut) {
    placeChildren(node, x, y, shared, out);
  } else {
    const int32_t slack = (shared - extentAt(node, tree[node].cut, free)) / 2;
    placeChildren(node, stacked ? x + slack : x, stacked ? y : y + slack, free, out);
  }
}

void SlicingTree::placeChildren(int32_t node, int32_t x, int32_t y, int32_t shared, std::vector<Rectangle> &out) const {
  const TreeNode &at = tree[node];
  const int32_t first = extentAt(at.first, at.cut, shared), second = extentAt(at.second, at.cut, shared);
  const bool stacked = at.cut == Cut::Stack;
  place(at.first, x, y, shared, first, out);
  place(at.second, stacked ? x : x + first, stacked ? y + first : y, shared, second, out);
}

void SlicingTree::realise(std::vector<Rectangle> &rectangles) const {
  rectangles.resize(size_t(leaves));
  if (isLeaf(top)) {
    const int32_t extent = leafOutlines[top][width];
    rectangles[top] = {0, 0, leafOutlines[top][std::min(extent, size - 1)], extent};
    return;
  }
  placeChildren(top, 0, 0, tree[top].cut == Cut::Stack ? width : height, rectangles);
}

void SlicingTree::change(int32_t node) { changed.push_back({node, tree[node]}); }

bool SlicingTree::swapSubtrees(int32_t a, int32_t b) {
  const int32_t parentA = tree[a].parent, parentB = tree[b].parent;
  if (a == b || parentA == parentB || parentA < 0 || parentB < 0 || isBelow(a, b) || isBelow(b, a))
    return false;
  const bool isSame = isLeaf(a) && isLeaf(b) && leafOutlines[a] == leafOutlines[b];
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
