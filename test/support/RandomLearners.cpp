// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random models of ai.onnx.ml.
#include "test/support/RandomGraphParts.h"

namespace wsc::test {
namespace {

constexpr const char *domain = "ai.onnx.ml";
using Attributes = std::vector<Attribute>;

class LearnerMaker : public GraphMaker {
public:
  explicit LearnerMaker(uint64_t seed) : GraphMaker(seed) {
    samples = between(1, 5);
    features = between(1, 6);
    auto *import = graph.model.model().add_opset_import();
    import->set_domain(domain);
    import->set_version(3);
    graph.model.model().mutable_opset_import(0)->set_version(17);
  }

  std::vector<float> numbers(int64_t size) { return eighths(size, 2); }
  Value samplesInput() { return addInput({samples, features}); }
  void emitOutputs(const std::string &type, const std::vector<std::string> &inputs, const Attributes &attributes,
                   const std::vector<std::string> &outputs) {
    graph.model.nodeWithOutputs(type, inputs, outputs, attributes).set_domain(domain);
    for (const std::string &output : outputs)
      graph.model.output(output);
    graph.operators.push_back(type);
  }
  std::string oneOf(std::initializer_list<const char *> names) {
    return *(names.begin() + between(0, static_cast<int64_t>(names.size()) - 1));
  }

  int64_t samples, features;
};

/// Random binary trees, their nodes in any order of depth, and weights of their leaves.
struct Trees {
  std::vector<int64_t> trees, nodes, features, whenTrue, whenFalse, missing;
  std::vector<std::string> modes;
  std::vector<float> values;
  std::vector<int64_t> leafTrees, leafNodes, leafTargets;
  std::vector<float> leafWeights;

  int64_t grow(LearnerMaker &m, int64_t tree, int64_t &next, int64_t depth, int64_t targets, bool positive,
               int64_t only, const std::string &mode) {
    const int64_t own = next++;
    const size_t at = trees.size();
    trees.push_back(tree);
    nodes.push_back(own);
    features.push_back(m.between(0, m.features - 1));
    values.push_back(m.numbers(1)[0]);
    missing.push_back(m.between(0, 1));
    modes.push_back(mode);
    whenTrue.push_back(0);
    whenFalse.push_back(0);
    if (depth == 0 || (own > 0 && m.chance(4))) {
      modes[at] = "LEAF";
      for (int64_t i = only < 0 ? targets : 1; i > 0; --i) { // for every target
        leafTrees.push_back(tree);
        leafNodes.push_back(own);
        leafTargets.push_back(only >= 0 ? only : (own + i) % targets);
        leafWeights.push_back(positive ? std::abs(m.numbers(1)[0]) / 4 : m.numbers(1)[0]);
      }
      return own;
    }
    const int64_t yes = grow(m, tree, next, depth - 1, targets, positive, only, mode);
    whenTrue[at] = yes;
    const int64_t no = grow(m, tree, next, depth - 1, targets, positive, only, mode);
    whenFalse[at] = no;
    return own;
  }

  Attributes attributes(const std::string &prefix) const {
    return {
        Attribute::ints("nodes_treeids", trees),          Attribute::ints("nodes_nodeids", nodes),
        Attribute::ints("nodes_featureids", features),    Attribute::ints("nodes_truenodeids", whenTrue),
        Attribute::ints("nodes_falsenodeids", whenFalse), Attribute::ints("nodes_missing_value_tracks_true", missing),
        Attribute::strings("nodes_modes", modes),         Attribute::floats("nodes_values", values),
        Attribute::ints(prefix + "_treeids", leafTrees),  Attribute::ints(prefix + "_nodeids", leafNodes),
        Attribute::ints(prefix + "_ids", leafTargets),    Attribute::floats(prefix + "_weights", leafWeights)};
  }
};

Trees forest(LearnerMaker &m, int64_t targets, bool positive = false, int64_t only = -1) {
  Trees trees;
  const std::string mode = m.oneOf({"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"});
  for (int64_t tree = m.between(1, 4); tree > 0; --tree) {
    int64_t next = 0;
    trees.grow(m, tree, next, m.between(1, 4), targets, positive, only, mode);
  }
  return trees;
}

void treeRegressor(LearnerMaker &m) {
  const int64_t targets = m.between(1, 3);
  Attributes attributes = forest(m, targets).attributes("target");
  attributes.push_back(Attribute::i("n_targets", targets));
  attributes.push_back(Attribute::s("aggregate_function", m.oneOf({"SUM", "AVERAGE", "MIN", "MAX"})));
  if (m.chance(2))
    attributes.push_back(Attribute::floats("base_values", m.numbers(targets)));
  m.emitOutputs("TreeEnsembleRegressor", {m.samplesInput().name}, attributes, {"y"});
}

void treeClassifier(LearnerMaker &m) {
  const int64_t classes = m.between(2, 4), only = classes == 2 ? m.between(0, 1) : -1;
  Attributes attributes = forest(m, classes, m.chance(2), only).attributes("class");
  std::vector<int64_t> labels{5, -2, 9, 7};
  labels.resize(static_cast<size_t>(classes));
  attributes.push_back(Attribute::ints("classlabels_int64s", labels));
  attributes.push_back(Attribute::s("post_transform", m.oneOf({"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"})));
  if (only < 0 && m.chance(2) && classes > 2)
    attributes.push_back(Attribute::floats("base_values", m.numbers(classes)));
  m.emitOutputs("TreeEnsembleClassifier", {m.samplesInput().name}, attributes, {"label", "scores"});
}

void linearRegressor(LearnerMaker &m) {
  const int64_t targets = m.between(1, 3);
  m.emitOutputs("LinearRegressor", {m.samplesInput().name},
                {Attribute::i("targets", targets), Attribute::floats("coefficients", m.numbers(targets * m.features)),
                 Attribute::floats("intercepts", m.numbers(targets)),
                 Attribute::s("post_transform", targets == 1 ? "NONE" : m.oneOf({"NONE", "SOFTMAX", "LOGISTIC"}))},
                {"y"});
}

void linearClassifier(LearnerMaker &m) {
  const int64_t classes = m.between(1, 4);
  std::vector<int64_t> labels{5, -2, 9, 7};
  labels.resize(static_cast<size_t>(std::max<int64_t>(classes, 2)));
  m.emitOutputs("LinearClassifier", {m.samplesInput().name},
                {Attribute::floats("coefficients", m.numbers(classes * m.features)),
                 Attribute::floats("intercepts", m.numbers(classes)), Attribute::ints("classlabels_ints", labels),
                 Attribute::s("post_transform", m.oneOf({"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"}))},
                {"label", "scores"});
}

Attributes kernel(LearnerMaker &m) {
  return {Attribute::s("kernel_type", m.oneOf({"LINEAR", "POLY", "RBF", "SIGMOID"})),
          Attribute::floats("kernel_params", {0.25f, 0.5f, 2})};
}

void svmRegressor(LearnerMaker &m) {
  const int64_t supports = m.between(1, 5);
  Attributes attributes = kernel(m);
  for (const Attribute &attribute :
       {Attribute::i("n_supports", supports), Attribute::floats("support_vectors", m.numbers(supports * m.features)),
        Attribute::floats("coefficients", m.numbers(supports)), Attribute::floats("rho", m.numbers(1)),
        Attribute::i("one_class", m.between(0, 1))})
    attributes.push_back(attribute);
  m.emitOutputs("SVMRegressor", {m.samplesInput().name}, attributes, {"y"});
}

void svmClassifier(LearnerMaker &m) {
  const int64_t classes = m.between(2, 4);
  std::vector<int64_t> labels{5, -2, 9, 7}, perClass;
  labels.resize(static_cast<size_t>(classes));
  int64_t vectors = 0;
  for (int64_t c = 0; c < classes; ++c) {
    perClass.push_back(m.between(1, 3));
    vectors += perClass.back();
  }
  Attributes attributes = kernel(m);
  for (const Attribute &attribute :
       {Attribute::ints("vectors_per_class", perClass), Attribute::ints("classlabels_ints", labels),
        Attribute::floats("support_vectors", m.numbers(vectors * m.features)),
        Attribute::floats("coefficients", m.numbers(vectors * (classes - 1))),
        Attribute::floats("rho", m.numbers(classes * (classes - 1) / 2)),
        Attribute::s("post_transform", m.oneOf({"NONE", "LOGISTIC", "SOFTMAX"}))})
    attributes.push_back(attribute);
  m.emitOutputs("SVMClassifier", {m.samplesInput().name}, attributes, {"label", "scores"});
}

void preparation(LearnerMaker &m) {
  const std::string x = m.samplesInput().name;
  switch (m.between(0, 6)) {
  case 0:
    return m.emitOutputs(
        "Scaler", {x},
        {Attribute::floats("offset", m.numbers(m.features)), Attribute::floats("scale", m.numbers(m.features))}, {"y"});
  case 1:
    return m.emitOutputs("Normalizer", {x}, {Attribute::s("norm", m.oneOf({"MAX", "L1", "L2"}))}, {"y"});
  case 2:
    return m.emitOutputs("Imputer", {x},
                         {Attribute::floats("imputed_value_floats", m.numbers(m.chance(2) ? 1 : m.features)),
                          Attribute::f("replaced_value_float", 0)},
                         {"y"});
  case 3:
    return m.emitOutputs("Binarizer", {x}, {Attribute::f("threshold", 0.5f)}, {"y"});
  case 4:
    return m.emitOutputs("LabelEncoder", {x},
                         {Attribute::floats("keys_floats", {0, 1, 0.5f, -1}),
                          Attribute::floats("values_floats", m.numbers(4)), Attribute::f("default_float", 7)},
                         {"y"});
  case 5:
    return m.emitOutputs("FeatureVectorizer", {x, m.addInput({m.samples, 2}).name},
                         {Attribute::ints("inputdimensions", {m.features, 2})}, {"y"});
  default:
    return m.emitOutputs("ArrayFeatureExtractor", {x, m.integers({m.between(0, m.features - 1), 0})}, {}, {"y"});
  }
}

} // namespace

RandomGraph makeRandomLearner(uint64_t seed) {
  static constexpr void (*kinds[])(LearnerMaker &) = {treeRegressor, treeClassifier, linearRegressor, linearClassifier,
                                                      svmRegressor,  svmClassifier,  preparation};
  LearnerMaker maker(seed);
  kinds[maker.between(0, std::size(kinds) - 1)](maker);
  return std::move(maker.graph);
}

} // namespace wsc::test
