// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear models and support vector machines of ai.onnx.ml. A machine computes kernels of samples and support vectors
// [samples, vectors], then for each pair of classes i < j a sum of the vectors of both, weighted by coefficients: row
// j - 1 for vectors of i, row i for those of j. All pairs are one product with a constant matrix.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Scores.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {
namespace {

Expression rows(NodeContext &node, int64_t count, const std::vector<double> &values, mlir::Type element) {
  const auto size = static_cast<int64_t>(values.size());
  if (count < 1 || size % count != 0) {
    node.fail(absl::StrCat(values.size(), " coefficients do not fall into ", count, " rows"));
    return {node.layers, {}};
  }
  return constant(node.layers, {count, size / count}, values, element);
}

/// x·rowsᵀ, or nothing and an error where features differ.
Expression times(NodeContext &node, const Expression &x, const Expression &rows) {
  if (!node.failed() && x.shape()[1] != rows.shape()[1])
    node.fail(absl::StrCat("samples have ", x.shape()[1], " features, coefficients are for ", rows.shape()[1]));
  return node.failed() ? x : matmul(x, rows, /*transposeRhs=*/true);
}

void linearRegressor(NodeContext &node) {
  Expression x = readSamples(node, 0);
  int64_t targets = node.intAttribute("targets", 1);
  std::vector<double> intercepts = node.floatsAttribute("intercepts");
  PostTransform transform = readPostTransform(node);
  Expression y = times(node, x, rows(node, targets, node.floatsAttribute("coefficients"), x.elementType()));
  if (!intercepts.empty())
    y = y + constant(node.layers, {static_cast<int64_t>(intercepts.size())}, intercepts, x.elementType());
  node.setResult(transformed(y, transform).cast(node.layers.builder().getF32Type()));
}

void linearClassifier(NodeContext &node) {
  Expression x = readSamples(node, 0);
  std::vector<int64_t> labels = readLabels(node, "classlabels_ints", "classlabels_strings");
  std::vector<double> intercepts = node.floatsAttribute("intercepts"),
                      coefficients = node.floatsAttribute("coefficients");
  node.ignoreAttributes({"multi_class"});
  PostTransform transform = readPostTransform(node);
  if (node.failed())
    return;
  const int64_t features = x.shape()[1];
  const int64_t classes = features == 0 ? 0 : static_cast<int64_t>(coefficients.size()) / features;
  Expression scores = times(node, x, rows(node, classes, coefficients, x.elementType()));
  if (!intercepts.empty())
    scores = scores + constant(node.layers, {static_cast<int64_t>(intercepts.size())}, intercepts, x.elementType());
  if (node.failed())
    return;
  if (classes == 1 && labels.size() <= 2) {
    const bool isNamed = labels.size() == 2;
    node.setResult(0, labelWhere(less(scores.number(0), scores), isNamed ? labels[1] : 1, isNamed ? labels[0] : 0));
    node.setResult(1, isNamed ? bothClasses(scores, transform, /*complements=*/true) : transformed(scores, transform));
    return;
  }
  node.setResult(0, labelOfGreatest(scores, labels));
  node.setResult(1, transformed(scores, transform));
}

/// Kernels [samples, vectors] by attribute kernel_type with gamma, coef0 and degree in kernel_params.
Expression kernels(NodeContext &node, const Expression &x, const Expression &vectors) {
  std::string type = node.stringAttribute("kernel_type", "LINEAR");
  std::vector<double> parameters = node.floatsAttribute("kernel_params");
  parameters.resize(std::max<size_t>(parameters.size(), 3));
  const double gamma = parameters[0], offset = parameters[1], degree = parameters[2];
  Expression product = times(node, x, vectors);
  if (type == "LINEAR" || node.failed())
    return product;
  if (type == "POLY")
    return power(product * gamma + offset, degree);
  if (type == "SIGMOID")
    return tanh(product * gamma + offset);
  if (type == "RBF") { // of the distance
    Expression difference = x.unsqueeze(1) - vectors;
    return exp(sumOver(square(difference), {2}, /*keepdims=*/false) * -gamma);
  }
  node.fail(absl::StrCat("attribute 'kernel_type' is '", type, "'; LINEAR, POLY, RBF and SIGMOID are known"));
  return product;
}

void svmRegressor(NodeContext &node) {
  Expression x = readSamples(node, 0);
  int64_t supports = node.intAttribute("n_supports", 0);
  std::vector<double> coefficients = node.floatsAttribute("coefficients"), rho = node.floatsAttribute("rho");
  std::vector<double> vectors = node.floatsAttribute("support_vectors");
  bool oneClass = node.intAttribute("one_class", 0) != 0;
  PostTransform transform = readPostTransform(node);
  if (node.failed())
    return;
  Expression weights = rows(node, 1, coefficients, x.elementType());
  Expression y = supports > 0 ? times(node, kernels(node, x, rows(node, supports, vectors, x.elementType())), weights)
                              : kernels(node, x, weights);
  y = y + (rho.empty() ? 0.0 : rho[0]);
  if (oneClass)
    y = select(less(y.number(0), y), y.number(1), -1.0);
  node.setResult(transformed(y, transform));
}

struct Machine {
  std::vector<int64_t> labels, vectorsPerClass;
  std::vector<double> coefficients, rho;
};

/// Sums [samples, pairs] of all pairs of classes from kernels, and the number of pairs each class wins.
void comparePairs(NodeContext &node, const Expression &kernel, const Machine &machine, Expression &sums,
                  Expression &votes) {
  const size_t classes = machine.vectorsPerClass.size(), pairs = classes * (classes - 1) / 2;
  const auto vectors = static_cast<size_t>(kernel.shape()[1]);
  if (machine.coefficients.size() != vectors * (classes - 1) || machine.rho.size() != pairs)
    return node.fail(absl::StrCat("attributes 'coefficients' and 'rho' have ", machine.coefficients.size(), " and ",
                                  machine.rho.size(), " elements; ", classes, " classes with ", vectors,
                                  " support vectors need ", vectors * (classes - 1), " and ", pairs));
  std::vector<size_t> first(classes + 1, 0);
  for (size_t c = 0; c < classes; ++c)
    first[c + 1] = first[c] + static_cast<size_t>(machine.vectorsPerClass[c]);
  std::vector<double> weights(pairs * vectors, 0), wins(pairs * classes, 0), losses(pairs * classes, 0);
  for (size_t i = 0, pair = 0; i < classes; ++i)
    for (size_t j = i + 1; j < classes; ++j, ++pair) {
      for (size_t k = first[i]; k < first[i + 1]; ++k)
        weights[pair * vectors + k] = machine.coefficients[(j - 1) * vectors + k];
      for (size_t k = first[j]; k < first[j + 1]; ++k)
        weights[pair * vectors + k] = machine.coefficients[i * vectors + k];
      wins[pair * classes + i] = 1;
      losses[pair * classes + j] = 1;
    }
  mlir::Type element = kernel.elementType();
  const auto count = static_cast<int64_t>(pairs), width = static_cast<int64_t>(classes);
  sums = matmul(kernel, constant(node.layers, {count, static_cast<int64_t>(vectors)}, weights, element), true) +
         constant(node.layers, {count}, machine.rho, element);
  Expression first1 = less(sums.number(0), sums).cast(element);
  votes = matmul(first1, constant(node.layers, {count, width}, wins, element)) +
          matmul(1 - first1, constant(node.layers, {count, width}, losses, element));
}

void svmClassifier(NodeContext &node) {
  Expression x = readSamples(node, 0);
  Machine machine;
  machine.labels = readLabels(node, "classlabels_ints", "classlabels_strings");
  machine.vectorsPerClass = node.intsAttribute("vectors_per_class");
  machine.coefficients = node.floatsAttribute("coefficients");
  machine.rho = node.floatsAttribute("rho");
  std::vector<double> vectors = node.floatsAttribute("support_vectors");
  PostTransform transform = readPostTransform(node);
  if (!node.floatsAttribute("prob_a").empty() || !node.floatsAttribute("prob_b").empty())
    return node.unsupported("prob_a and prob_b, probabilities found by iteration, are not supported; export the model "
                            "without probabilities");
  if (node.failed())
    return;
  if (machine.vectorsPerClass.empty()) { // linear: a row for each class
    const auto classes = static_cast<int64_t>(machine.labels.size());
    Expression scores = kernels(node, x, rows(node, classes, machine.coefficients, x.elementType()));
    scores = scores + (machine.rho.empty() ? 0.0 : machine.rho[0]);
    node.setResult(0, labelOfGreatest(scores, machine.labels));
    return node.setResult(1, transformed(scores, transform));
  }
  int64_t total = 0;
  for (int64_t count : machine.vectorsPerClass)
    if (count < 0 || count > (int64_t{1} << 31) - total)
      return node.fail(absl::StrCat("attribute 'vectors_per_class' has an element ", count));
    else
      total += count;
  if (machine.vectorsPerClass.size() < 2 || machine.labels.size() != machine.vectorsPerClass.size())
    return node.fail(absl::StrCat(machine.vectorsPerClass.size(), " classes have support vectors, ",
                                  machine.labels.size(), " have labels; two at least are needed"));
  Expression kernel = kernels(node, x, rows(node, total, vectors, x.elementType()));
  Expression sums = kernel, votes = kernel;
  if (!node.failed())
    comparePairs(node, kernel, machine, sums, votes);
  if (node.failed())
    return;
  node.setResult(0, labelOfGreatest(votes, machine.labels));
  const bool complements = transform == PostTransform::Softmax || transform == PostTransform::SoftmaxZero;
  node.setResult(1,
                 machine.labels.size() == 2 ? bothClasses(sums, transform, complements) : transformed(sums, transform));
}

} // namespace

static const Operator table[] = {
    {"LinearClassifier", 1, newestMlOpset, 1, 1, linearClassifier, mlDomain, "labels are integers"},
    {"LinearRegressor", 1, newestMlOpset, 1, 1, linearRegressor, mlDomain},
    {"SVMClassifier", 1, newestMlOpset, 1, 1, svmClassifier, mlDomain,
     "labels are integers; without probabilities (prob_a, prob_b)"},
    {"SVMRegressor", 1, newestMlOpset, 1, 1, svmRegressor, mlDomain},
};
llvm::ArrayRef<Operator> machineOperators() { return table; }

} // namespace wsc::import
