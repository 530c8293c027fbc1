// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores and labels; see Scores.h. The probit is √2·erf⁻¹(2x - 1) by Winitzki's approximation, as ONNX Runtime has it.
#include "compiler/import/onnx/ops/Scores.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "dialects/nn/Shape.h"
#include <cmath>

namespace wsc::import {

PostTransform readPostTransform(NodeContext &node) {
  static constexpr const char *names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  std::string name = node.stringAttribute("post_transform", "NONE");
  for (size_t i = 0; i < std::size(names); ++i)
    if (name == names[i])
      return static_cast<PostTransform>(i);
  node.fail(absl::StrCat("attribute 'post_transform' is '", name,
                         "'; NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO and PROBIT are known"));
  return PostTransform::None;
}

static Expression probit(const Expression &p) {
  Expression x = p * 2 - 1, half = log((1 - x) * (1 + x)) * 0.5;
  Expression v = half + 2 / (3.14159265358979323846 * 0.147);
  Expression inverse = sqrt(sqrt(v * v - half * (2 / 0.147)) - v);
  return select(less(x, 0), -inverse, inverse) * std::sqrt(2.0);
}

Expression transformed(const Expression &scores, PostTransform transform) {
  if (scores.layers().failed())
    return scores;
  switch (transform) {
  case PostTransform::None:
    return scores;
  case PostTransform::Softmax:
    return softmax(scores, 1);
  case PostTransform::Logistic:
    return sigmoid(scores);
  case PostTransform::SoftmaxZero: {
    // Zeros take no part in the sum and stay.
    Expression counts = logicalNot(lessEqual(abs(scores), 1e-7));
    Expression powers = select(counts, exp(scores - maxOver(scores, {1})), 0.0);
    Expression sum = sumOver(powers, {1});
    return select(counts, powers / select(equal(sum, 0), 1.0, sum), scores);
  }
  case PostTransform::Probit:
    return probit(scores);
  }
  return scores;
}

std::vector<int64_t> readLabels(NodeContext &node, const char *ints, const char *strings) {
  if (!node.stringsAttribute(strings).empty())
    node.unsupported("labels that are strings are not supported; give them as integers");
  return node.intsAttribute(ints);
}

Expression labelOfGreatest(const Expression &scores, const std::vector<int64_t> &labels) {
  LayerBuilder &layers = scores.layers();
  if (layers.failed())
    return scores;
  if (scores.rank() != 2 || scores.shape()[1] != static_cast<int64_t>(labels.size())) {
    layers.fail(absl::StrCat("scores ", nn::formatShape(scores.shape()), " do not fit ", labels.size(), " labels"));
    return scores;
  }
  const int64_t classes = scores.shape()[1];
  Expression numbers = countingUp(layers, classes, layers.builder().getI32Type());
  Expression isGreatest = equal(scores, maxOver(scores, {1}));
  Expression first = minOver(select(isGreatest, numbers, static_cast<double>(classes - 1)), {1}, /*keepdims=*/false);
  return gather(constant(layers, {classes}, labels), first, 0);
}

Expression labelWhere(const Expression &condition, int64_t whereTrue, int64_t whereFalse) {
  LayerBuilder &layers = condition.layers();
  if (layers.failed())
    return condition;
  return select(condition.squeeze(1), constant(layers, {}, {whereTrue}), constant(layers, {}, {whereFalse}));
}

Expression bothClasses(const Expression &score, PostTransform transform, bool complements) {
  if (transform == PostTransform::Probit)
    return transformed(score, transform);
  if (transform == PostTransform::Logistic)
    return concat({sigmoid(-score), sigmoid(score)}, 1);
  return concat({complements ? 1 - score : -score, score}, 1);
}

Expression readSamples(NodeContext &node, size_t input) {
  Expression x = node.in(input);
  if (node.failed())
    return x;
  if (x.rank() == 1)
    x = x.unsqueeze(0);
  if (x.rank() != 2) {
    node.fail(absl::StrCat("needs samples [samples, features], found ", nn::formatShape(x.shape())));
    return x;
  }
  return x.elementType().isF64() ? x : x.cast(node.layers.builder().getF32Type());
}

} // namespace wsc::import
