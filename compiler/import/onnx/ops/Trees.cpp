// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tree ensembles of ai.onnx.ml: the one of version 5, and the regressor and classifier before it, whose nodes are named
// by tree and node and whose leaves are the nodes of mode LEAF.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Forest.h"
#include "compiler/import/onnx/ops/Scores.h"
#include <cmath>
#include <map>

namespace wsc::import {
namespace {

/// Attribute NAME of floats, or NAME_as_tensor.
std::vector<double> readNumbers(NodeContext &node, const std::string &name) {
  const std::string tensor = name + "_as_tensor";
  if (!node.hasAttribute(tensor.c_str()))
    return node.floatsAttribute(name.c_str());
  auto literal = node.layers.literal(node.tensorAttribute(tensor.c_str()));
  if (!literal || !literal->isFloat()) {
    node.fail(absl::StrCat("attribute '", tensor, "' must be a tensor of floats of at most ", maxLiteralElements,
                           " elements"));
    return {};
  }
  return literal->floats;
}

/// Elements of a tensor attribute as numbers; nothing without it.
std::vector<double> readTensor(NodeContext &node, const char *name) {
  if (!node.hasAttribute(name))
    return {};
  auto literal = node.layers.literal(node.tensorAttribute(name));
  if (!literal) {
    node.fail(absl::StrCat("attribute '", name, "' has more than ", maxLiteralElements, " elements"));
    return {};
  }
  return literal->isFloat() ? literal->floats : std::vector<double>(literal->ints.begin(), literal->ints.end());
}

/// Fails unless two attributes have as many elements.
void expectSize(NodeContext &node, const char *what, size_t found, size_t wanted) {
  if (found != wanted)
    node.fail(absl::StrCat("attribute '", what, "' has ", found, " elements, ", wanted, " are needed"));
}

using Place = std::pair<int64_t, int64_t>; ///< tree, node

/// Nodes and roots of the older form; `places` numbers the nodes.
Forest readNodes(NodeContext &node, std::map<Place, int64_t> &places) {
  Forest forest;
  std::vector<int64_t> trees = node.intsAttribute("nodes_treeids"), ids = node.intsAttribute("nodes_nodeids");
  std::vector<int64_t> features = node.intsAttribute("nodes_featureids");
  std::vector<int64_t> whenTrue = node.intsAttribute("nodes_truenodeids");
  std::vector<int64_t> whenFalse = node.intsAttribute("nodes_falsenodeids");
  std::vector<int64_t> missing = node.intsAttribute("nodes_missing_value_tracks_true");
  std::vector<std::string> modes = node.stringsAttribute("nodes_modes");
  std::vector<double> splits = readNumbers(node, "nodes_values");
  node.ignoreAttributes({"nodes_hitrates", "nodes_hitrates_as_tensor"});
  const size_t count = trees.size();
  expectSize(node, "nodes_nodeids", ids.size(), count);
  expectSize(node, "nodes_featureids", features.size(), count);
  expectSize(node, "nodes_truenodeids", whenTrue.size(), count);
  expectSize(node, "nodes_falsenodeids", whenFalse.size(), count);
  expectSize(node, "nodes_modes", modes.size(), count);
  expectSize(node, "nodes_values", splits.size(), count);
  if (!missing.empty())
    expectSize(node, "nodes_missing_value_tracks_true", missing.size(), count);
  static const std::map<std::string, SplitMode> names{
      {"BRANCH_LEQ", SplitMode::LessEqual}, {"BRANCH_LT", SplitMode::Less},  {"BRANCH_GTE", SplitMode::GreaterEqual},
      {"BRANCH_GT", SplitMode::Greater},    {"BRANCH_EQ", SplitMode::Equal}, {"BRANCH_NEQ", SplitMode::NotEqual}};
  for (size_t n = 0; n < count && !node.failed(); ++n)
    if (!places.emplace(Place(trees[n], ids[n]), static_cast<int64_t>(n)).second)
      node.fail(absl::StrCat("node ", ids[n], " of tree ", trees[n], " is given twice"));
  std::vector<bool> isChild(count, false);
  for (size_t n = 0; n < count && !node.failed(); ++n) {
    Forest::Node tree;
    tree.whenTrue = tree.whenFalse = static_cast<int64_t>(n);
    if (modes[n] != "LEAF") {
      auto mode = names.find(modes[n]);
      auto yes = places.find({trees[n], whenTrue[n]}), no = places.find({trees[n], whenFalse[n]});
      if (mode == names.end() || yes == places.end() || no == places.end()) {
        node.fail(absl::StrCat("node ", ids[n], " of tree ", trees[n], " has mode '", modes[n], "' and children ",
                               whenTrue[n], " and ", whenFalse[n], ", one of which is not known"));
        break;
      }
      isChild[yes->second] = isChild[no->second] = true;
      tree = {features[n], yes->second, no->second, splits[n], mode->second, !missing.empty() && missing[n] != 0, {}};
    }
    forest.nodes.push_back(std::move(tree));
  }
  for (size_t n = 0; n < count && !node.failed(); ++n)
    if (!isChild[n])
      forest.roots.push_back(static_cast<int64_t>(n));
  return forest;
}

/// What leaves give, from attributes PREFIX_treeids, …_nodeids, …_ids, …_weights.
void readWeights(NodeContext &node, const std::string &prefix, const std::map<Place, int64_t> &places, Forest &forest) {
  std::vector<int64_t> trees = node.intsAttribute((prefix + "_treeids").c_str());
  std::vector<int64_t> ids = node.intsAttribute((prefix + "_nodeids").c_str());
  std::vector<int64_t> targets = node.intsAttribute((prefix + "_ids").c_str());
  std::vector<double> weights = readNumbers(node, prefix + "_weights");
  expectSize(node, (prefix + "_nodeids").c_str(), ids.size(), trees.size());
  expectSize(node, (prefix + "_ids").c_str(), targets.size(), trees.size());
  expectSize(node, (prefix + "_weights").c_str(), weights.size(), trees.size());
  for (size_t i = 0; i < trees.size() && !node.failed(); ++i) {
    auto place = places.find({trees[i], ids[i]});
    if (place == places.end() || !forest.isLeaf(place->second))
      return node.fail(absl::StrCat("a weight is for node ", ids[i], " of tree ", trees[i], ", which is no leaf"));
    forest.weights.push_back({place->second, targets[i], weights[i]});
  }
}

/// Base values added to scores [samples, targets].
Expression withBase(NodeContext &node, const Expression &scores, const std::vector<double> &base) {
  if (base.empty() || node.failed())
    return scores;
  return scores + constant(node.layers, {static_cast<int64_t>(base.size())}, base, scores.elementType());
}

void treeEnsembleRegressor(NodeContext &node) {
  Expression x = readSamples(node, 0);
  std::map<Place, int64_t> places;
  Forest forest = readNodes(node, places);
  forest.targets = node.intAttribute("n_targets", 1);
  readWeights(node, "target", places, forest);
  static const std::map<std::string, Aggregate> names{
      {"SUM", Aggregate::Sum}, {"AVERAGE", Aggregate::Average}, {"MIN", Aggregate::Min}, {"MAX", Aggregate::Max}};
  auto aggregate = names.find(node.stringAttribute("aggregate_function", "SUM"));
  if (aggregate == names.end())
    return node.fail("attribute 'aggregate_function' must be SUM, AVERAGE, MIN or MAX");
  PostTransform transform = readPostTransform(node);
  std::vector<double> base = readNumbers(node, "base_values");
  if (!base.empty())
    expectSize(node, "base_values", base.size(), static_cast<size_t>(forest.targets));
  Expression y = withBase(node, evaluateForest(node, forest, x, aggregate->second), base);
  node.setResult(transformed(y, transform).cast(node.layers.builder().getF32Type()));
}

/// Two classes of which one alone has weights: the label follows from that one's sum. The sum is the second class's
/// score; where the weights are for the first, which is how converters write it, both columns follow from it.
void binaryClassifier(NodeContext &node, const Expression &score, const std::vector<int64_t> &labels, bool forFirst,
                      bool allPositive, PostTransform transform) {
  node.setResult(0, labelWhere(less(score.number(allPositive ? 0.5 : 0), score), labels[1], labels[0]));
  Expression scores = forFirst ? bothClasses(score, transform, allPositive)
                               : transformed(concat({score.filled(0), score}, 1), transform);
  node.setResult(1, scores.cast(node.layers.builder().getF32Type()));
}

void treeEnsembleClassifier(NodeContext &node) {
  Expression x = readSamples(node, 0);
  std::map<Place, int64_t> places;
  Forest forest = readNodes(node, places);
  std::vector<int64_t> labels = readLabels(node, "classlabels_int64s", "classlabels_strings");
  forest.targets = static_cast<int64_t>(labels.size());
  readWeights(node, "class", places, forest);
  PostTransform transform = readPostTransform(node);
  std::vector<double> base = readNumbers(node, "base_values");
  if (node.failed())
    return;
  std::set<int64_t> weighted;
  bool allPositive = true;
  for (Forest::Weight &weight : forest.weights) {
    weighted.insert(weight.target);
    allPositive = allPositive && weight.value >= 0;
  }
  if (labels.size() == 2 && weighted.size() == 1) {
    forest.targets = 1;
    for (Forest::Weight &weight : forest.weights)
      weight.target = 0;
    if (base.size() > 1)
      base.erase(base.begin());
    Expression score = withBase(node, evaluateForest(node, forest, x, Aggregate::Sum), base);
    return node.failed() ? void()
                         : binaryClassifier(node, score, labels, *weighted.begin() == 0, allPositive, transform);
  }
  if (!base.empty())
    expectSize(node, "base_values", base.size(), labels.size());
  Expression scores = withBase(node, evaluateForest(node, forest, x, Aggregate::Sum), base);
  node.setResult(0, labelOfGreatest(scores, labels));
  node.setResult(1, transformed(scores, transform).cast(node.layers.builder().getF32Type()));
}

void treeEnsemble(NodeContext &node) {
  Expression x = readSamples(node, 0);
  Forest forest;
  std::vector<int64_t> features = node.intsAttribute("nodes_featureids");
  std::vector<int64_t> whenTrue = node.intsAttribute("nodes_truenodeids"),
                       trueLeafs = node.intsAttribute("nodes_trueleafs");
  std::vector<int64_t> whenFalse = node.intsAttribute("nodes_falsenodeids");
  std::vector<int64_t> falseLeafs = node.intsAttribute("nodes_falseleafs");
  std::vector<int64_t> missing = node.intsAttribute("nodes_missing_value_tracks_true");
  std::vector<int64_t> leafTargets = node.intsAttribute("leaf_targetids"), roots = node.intsAttribute("tree_roots");
  std::vector<double> splits = readTensor(node, "nodes_splits"), modes = readTensor(node, "nodes_modes");
  std::vector<double> leafWeights = readTensor(node, "leaf_weights"), members = readTensor(node, "membership_values");
  node.ignoreAttributes({"nodes_hitrates"});
  forest.targets = node.intAttribute("n_targets", 1);
  int64_t aggregate = node.intAttribute("aggregate_function", 1), transform = node.intAttribute("post_transform", 0);
  const size_t count = features.size();
  expectSize(node, "nodes_splits", splits.size(), count);
  expectSize(node, "nodes_modes", modes.size(), count);
  expectSize(node, "nodes_truenodeids", whenTrue.size(), count);
  expectSize(node, "nodes_trueleafs", trueLeafs.size(), count);
  expectSize(node, "nodes_falsenodeids", whenFalse.size(), count);
  expectSize(node, "nodes_falseleafs", falseLeafs.size(), count);
  expectSize(node, "leaf_weights", leafWeights.size(), leafTargets.size());
  if (!missing.empty())
    expectSize(node, "nodes_missing_value_tracks_true", missing.size(), count);
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4)
    node.fail(absl::StrCat("aggregate_function ", aggregate, " and post_transform ", transform,
                           " must be in [0, 3] and [0, 4]"));
  if (node.failed())
    return;
  // Leaves are numbered behind the nodes. A child that is no leaf or node is found by the check of the forest.
  const auto inner = static_cast<int64_t>(count), leaves = static_cast<int64_t>(leafTargets.size());
  auto child = [&](int64_t isLeaf, int64_t number) {
    return number < 0 || number >= (isLeaf ? leaves : inner) ? -1 : isLeaf ? inner + number : number;
  };
  size_t nextMember = 0;
  for (size_t n = 0; n < count; ++n) {
    Forest::Node tree{features[n],
                      child(trueLeafs[n], whenTrue[n]),
                      child(falseLeafs[n], whenFalse[n]),
                      splits[n],
                      SplitMode::LessEqual,
                      !missing.empty() && missing[n] != 0,
                      {}};
    if (!(modes[n] >= 0 && modes[n] <= 6))
      return node.fail(absl::StrCat("tree node ", n, " has mode ", modes[n], ", outside [0, 6]"));
    tree.mode = static_cast<SplitMode>(modes[n]);
    if (tree.mode == SplitMode::Member) { // the next set, which NaN ends
      while (nextMember < members.size() && !std::isnan(members[nextMember]))
        tree.members.push_back(members[nextMember++]);
      ++nextMember;
    }
    forest.nodes.push_back(std::move(tree));
  }
  for (int64_t leaf = 0; leaf < leaves; ++leaf) {
    Forest::Node own;
    own.whenTrue = own.whenFalse = inner + leaf;
    forest.nodes.push_back(own);
    forest.weights.push_back({inner + leaf, leafTargets[leaf], leafWeights[leaf]});
  }
  forest.roots = roots;
  Expression y = evaluateForest(node, forest, x, static_cast<Aggregate>(aggregate));
  node.setResult(transformed(y, static_cast<PostTransform>(transform)));
}

} // namespace

static const Operator table[] = {
    {"TreeEnsemble", 5, newestMlOpset, 1, 1, treeEnsemble, mlDomain},
    {"TreeEnsembleClassifier", 1, newestMlOpset, 1, 1, treeEnsembleClassifier, mlDomain, "labels are integers"},
    {"TreeEnsembleRegressor", 1, newestMlOpset, 1, 1, treeEnsembleRegressor, mlDomain},
};
llvm::ArrayRef<Operator> treeOperators() { return table; }

} // namespace wsc::import
