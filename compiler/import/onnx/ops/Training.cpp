// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of optimizers, of the domain ai.onnx.preview.training: inputs are the learning rate R, the number T of steps so
// far, then for each of several tensors its value X, gradient G and slots, one kind after another.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"

namespace wsc::import {
namespace {

/// Input number `kind` of tensor number `i` of `tensors`.
Expression slotOf(NodeContext &node, size_t kind, size_t i, size_t tensors) { return node.in(2 + kind * tensors + i); }

/// Number of tensors that an operator with `kinds` inputs for each is given; 0 and an error where they do not fit.
size_t countTensors(NodeContext &node, size_t kinds) {
  size_t tensors = (node.inputCount() - 2) / kinds;
  if (tensors > 0 && node.inputCount() == 2 + tensors * kinds)
    return tensors;
  node.fail(absl::StrCat("needs ", kinds, " inputs for each tensor behind R and T, found ", node.inputCount() - 2));
  return 0;
}

/// The gradient with that of norm/2·x² added.
Expression regularized(const Expression &x, const Expression &gradient, double norm) {
  return norm == 0 ? gradient : gradient + x * norm;
}

void adagrad(NodeContext &node) {
  double decay = node.floatAttribute("decay_factor", 0), epsilon = node.floatAttribute("epsilon", 0);
  double norm = node.floatAttribute("norm_coefficient", 0);
  size_t tensors = countTensors(node, 3);
  for (size_t i = 0; i < tensors; ++i) {
    Expression x = slotOf(node, 0, i, tensors), h = slotOf(node, 2, i, tensors);
    Expression rate = node.in(0).cast(x.elementType()) / (node.in(1).cast(x.elementType()) * decay + 1);
    Expression g = regularized(x, slotOf(node, 1, i, tensors), norm), next = h + square(g);
    node.setResult(i, x - rate * g / (sqrt(next) + epsilon));
    node.setResult(tensors + i, next);
  }
}

void adam(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 0.9), beta = node.floatAttribute("beta", 0.999);
  double epsilon = node.floatAttribute("epsilon", 0), norm = node.floatAttribute("norm_coefficient", 0);
  double normAfter = node.floatAttribute("norm_coefficient_post", 0);
  size_t tensors = countTensors(node, 4);
  for (size_t i = 0; i < tensors; ++i) {
    Expression x = slotOf(node, 0, i, tensors), v = slotOf(node, 2, i, tensors), h = slotOf(node, 3, i, tensors);
    Expression rate = node.in(0).cast(x.elementType()), steps = node.in(1).cast(x.elementType());
    Expression corrected = rate * sqrt(1 - power(beta, steps)) / (1 - power(alpha, steps));
    rate = select(less(0, steps), corrected, rate);
    Expression g = regularized(x, slotOf(node, 1, i, tensors), norm);
    Expression nextV = v * alpha + g * (1 - alpha), nextH = h * beta + square(g) * (1 - beta);
    node.setResult(i, (x - rate * nextV / (sqrt(nextH) + epsilon)) * (1 - normAfter));
    node.setResult(tensors + i, nextV);
    node.setResult(2 * tensors + i, nextH);
  }
}

void momentum(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 0.9), beta = node.floatAttribute("beta", 1);
  double norm = node.floatAttribute("norm_coefficient", 0);
  std::string mode = node.stringAttribute("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return node.fail("attribute 'mode' is '" + mode + "'; standard and nesterov are known");
  size_t tensors = countTensors(node, 3);
  for (size_t i = 0; i < tensors; ++i) {
    Expression x = slotOf(node, 0, i, tensors), v = slotOf(node, 2, i, tensors);
    Expression rate = node.in(0).cast(x.elementType()), steps = node.in(1).cast(x.elementType());
    Expression g = regularized(x, slotOf(node, 1, i, tensors), norm);
    // The first step takes the gradient whole.
    Expression next = v * alpha + g * select(less(0, steps), beta, rate.number(1));
    node.setResult(i, x - rate * (mode == "standard" ? next : g + next * alpha));
    node.setResult(tensors + i, next);
  }
}

constexpr const char *domain = "ai.onnx.preview.training";

} // namespace

static const Operator table[] = {
    {"Adagrad", 1, 1, 3, anyInputs, adagrad, domain},
    {"Adam", 1, 1, 3, anyInputs, adam, domain},
    {"Momentum", 1, 1, 3, anyInputs, momentum, domain},
};
llvm::ArrayRef<Operator> trainingOperators() { return table; }

} // namespace wsc::import
