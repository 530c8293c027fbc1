// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All trees are walked side by side, one level in each step: a place [samples, trees] is the number of a node, whose
// feature, split value and children are gathered from tables, and becomes the number of one of its children. After as
// many steps as the deepest tree has levels every place is a leaf, and a row of the table of weights is what it gives.
#include "compiler/import/onnx/ops/Forest.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <limits>

namespace wsc::import {

int64_t checkForest(NodeContext &node, const Forest &forest, int64_t features) {
  const auto count = static_cast<int64_t>(forest.nodes.size());
  auto isNode = [&](int64_t number) { return number >= 0 && number < count; };
  for (int64_t n = 0; n < count; ++n) {
    const Forest::Node &tree = forest.nodes[n];
    if (!isNode(tree.whenTrue) || !isNode(tree.whenFalse))
      return node.fail(absl::StrCat("tree node ", n, " has a child that is no node; there are ", count)), 0;
    if (!forest.isLeaf(n) && (tree.feature < 0 || tree.feature >= features))
      return node.fail(absl::StrCat("tree node ", n, " looks at feature ", tree.feature, ", samples have ", features)),
             0;
  }
  for (const Forest::Weight &weight : forest.weights)
    if (!isNode(weight.node) || weight.target < 0 || weight.target >= forest.targets)
      return node.fail(absl::StrCat("a weight is for tree node ", weight.node, " and target ", weight.target,
                                    "; there are ", count, " nodes and ", forest.targets, " targets")),
             0;
  if (forest.roots.empty())
    return node.fail("the ensemble has no trees"), 0;
  // Depth below each node, children first; a node met while it is open closes a cycle.
  enum : int64_t { Unseen = -2, Open = -1 };
  std::vector<int64_t> depth(forest.nodes.size(), Unseen);
  int64_t deepest = 0;
  for (int64_t root : forest.roots) {
    if (!isNode(root))
      return node.fail(absl::StrCat("tree root ", root, " is no node; there are ", count)), 0;
    std::vector<int64_t> stack{root};
    while (!stack.empty()) {
      const int64_t n = stack.back();
      const Forest::Node &tree = forest.nodes[n];
      if (forest.isLeaf(n)) {
        depth[n] = 0;
        stack.pop_back();
        continue;
      }
      const int64_t a = depth[tree.whenTrue], b = depth[tree.whenFalse];
      if (a >= 0 && b >= 0) {
        depth[n] = 1 + std::max(a, b);
        stack.pop_back();
        continue;
      }
      if (a == Open || b == Open)
        return node.fail(absl::StrCat("tree node ", n, " leads back to a node above it")), 0;
      depth[n] = Open;
      stack.push_back(a == Unseen ? tree.whenTrue : tree.whenFalse);
    }
    deepest = std::max(deepest, depth[root]);
  }
  return deepest;
}

namespace {

class Walk {
public:
  Walk(NodeContext &node, const Forest &forest, const Expression &samples)
      : layers_(node.layers), forest_(forest), samples_(samples), i32_(layers_.builder().getI32Type()) {
    for (const Forest::Node &tree : forest.nodes) {
      modes_ |= 1u << static_cast<unsigned>(tree.mode);
      anyMissing_ = anyMissing_ || tree.missingIsTrue;
    }
    if (modes_ & memberBit)
      for (const Forest::Node &tree : forest.nodes)
        mostMembers_ = std::max(mostMembers_, tree.members.size());
  }

  /// The leaves [samples, trees] that samples reach.
  Expression leaves(int64_t steps) {
    const auto trees = static_cast<int64_t>(forest_.roots.size());
    Expression place = constant(layers_, {1, trees}, forest_.roots).cast(i32_).broadcast({samples_.shape()[0], trees});
    Expression feature = integers([](const Forest::Node &n) { return n.feature; });
    Expression whenTrue = integers([](const Forest::Node &n) { return n.whenTrue; });
    Expression whenFalse = integers([](const Forest::Node &n) { return n.whenFalse; });
    for (int64_t step = 0; step < steps && !layers_.failed(); ++step) {
      Expression value = gatherElements(samples_, gather(feature, place, 0), 1);
      place = select(decide(place, value), gather(whenTrue, place, 0), gather(whenFalse, place, 0));
    }
    return place;
  }

private:
  static constexpr unsigned memberBit = 1u << static_cast<unsigned>(SplitMode::Member);

  template <typename Get> Expression integers(Get get) {
    std::vector<int64_t> values;
    for (const Forest::Node &tree : forest_.nodes)
      values.push_back(get(tree));
    return constant(layers_, {static_cast<int64_t>(values.size())}, values).cast(i32_);
  }
  template <typename Get> Expression numbers(Get get) {
    std::vector<double> values;
    for (const Forest::Node &tree : forest_.nodes)
      values.push_back(get(tree));
    return constant(layers_, {static_cast<int64_t>(values.size())}, values, samples_.elementType());
  }

  Expression compare(SplitMode mode, const Expression &place, const Expression &value, const Expression &split) {
    switch (mode) {
    case SplitMode::LessEqual:
      return lessEqual(value, split);
    case SplitMode::Less:
      return less(value, split);
    case SplitMode::GreaterEqual:
      return lessEqual(split, value);
    case SplitMode::Greater:
      return less(split, value);
    case SplitMode::Equal:
      return equal(value, split);
    case SplitMode::NotEqual:
      return logicalNot(equal(value, split));
    case SplitMode::Member:
      break;
    }
    // Sets are rows of one length, filled with NaN, which equals nothing.
    std::vector<double> rows;
    for (const Forest::Node &tree : forest_.nodes)
      for (size_t k = 0; k < mostMembers_; ++k)
        rows.push_back(k < tree.members.size() ? tree.members[k] : std::numeric_limits<double>::quiet_NaN());
    Expression table =
        constant(layers_, {static_cast<int64_t>(forest_.nodes.size()), static_cast<int64_t>(mostMembers_)}, rows,
                 samples_.elementType());
    Expression isMember = equal(value.unsqueeze(2), gather(table, place, 0));
    return reduceAny(nn::ReduceKind::Max, isMember, {2}, /*keepdims=*/false);
  }

  Expression decide(const Expression &place, const Expression &value) {
    Expression split = gather(numbers([](const Forest::Node &n) { return n.split; }), place, 0);
    Expression mode{layers_, {}}, yes{layers_, {}};
    for (unsigned m = 0; m <= static_cast<unsigned>(SplitMode::Member); ++m) {
      if (!(modes_ & (1u << m)))
        continue;
      Expression now = compare(static_cast<SplitMode>(m), place, value, split);
      if (!yes) {
        yes = now;
        continue;
      }
      if (!mode)
        mode = gather(integers([](const Forest::Node &n) { return static_cast<int64_t>(n.mode); }), place, 0);
      yes = select(equal(mode, static_cast<double>(m)), now, yes);
    }
    if (!anyMissing_)
      return yes;
    Expression tracks = gather(integers([](const Forest::Node &n) { return int64_t{n.missingIsTrue}; }), place, 0);
    return yes | (isNan(value) & less(0, tracks));
  }

  LayerBuilder &layers_;
  const Forest &forest_;
  const Expression &samples_;
  mlir::Type i32_;
  unsigned modes_ = 0;
  bool anyMissing_ = false;
  size_t mostMembers_ = 0;
};

} // namespace

Expression evaluateForest(NodeContext &node, const Forest &forest, const Expression &samples, Aggregate aggregate) {
  LayerBuilder &layers = node.layers;
  const int64_t steps = node.failed() ? 0 : checkForest(node, forest, samples.shape()[1]);
  const auto count = static_cast<int64_t>(forest.nodes.size());
  if (!node.failed() && forest.targets > maxConstantElements / std::max<int64_t>(count, 1))
    node.fail(absl::StrCat("a table of ", count, " tree nodes and ", forest.targets, " targets has more than ",
                           maxConstantElements, " elements"));
  if (node.failed())
    return samples;
  const bool isExtreme = aggregate == Aggregate::Min || aggregate == Aggregate::Max;
  const double infinity = std::numeric_limits<double>::infinity();
  const double nothing = !isExtreme ? 0 : aggregate == Aggregate::Min ? infinity : -infinity;
  std::vector<double> table(static_cast<size_t>(count * forest.targets), nothing);
  for (const Forest::Weight &weight : forest.weights) {
    double &to = table[static_cast<size_t>(weight.node * forest.targets + weight.target)];
    to = isExtreme ? weight.value : to + weight.value;
  }
  Expression weights = constant(layers, {count, forest.targets}, table, samples.elementType());
  Expression reached = gather(weights, Walk(node, forest, samples).leaves(steps), 0);
  if (!isExtreme) {
    Expression sum = sumOver(reached, {1}, /*keepdims=*/false);
    return aggregate == Aggregate::Sum ? sum : sum / static_cast<double>(forest.roots.size());
  }
  Expression y = aggregate == Aggregate::Min ? minOver(reached, {1}, false) : maxOver(reached, {1}, false);
  return select(equal(y, nothing), 0.0, y);
}

} // namespace wsc::import
