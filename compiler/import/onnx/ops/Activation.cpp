// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activations: one nn.unary, or a formula of a few elementwise layers. Positive and negative part are added rather than
// selected where both forms are exact: sums have more kernels.
#include "compiler/import/onnx/Registry.h"
#include <cmath>

namespace wsc::import {

using nn::UnaryKind;

template <UnaryKind kind> static void unary(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  node.setResult(node.layers.unary(kind, node.input(0)));
}

static void leakyRelu(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  double alpha = node.floatAttribute("alpha", 0.01);
  Expression x = node.in(0);
  // With a slope in [0, 1] the larger of the two is the right one.
  node.setResult(alpha >= 0.0 && alpha <= 1.0 ? maximum(x, x * alpha) : relu(x) + minimum(x, 0) * alpha);
}

static void prelu(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  Expression x = node.in(0), slope = node.in(1);
  // Before opset 7 a slope [C] belongs to dimension 1; since then it broadcasts from the right.
  if (node.opset() < 7 && slope.rank() == 1 && x.rank() > 1 && slope.shape()[0] != 1) {
    llvm::SmallVector<int64_t> shape(x.rank() - 1, 1);
    shape[0] = slope.shape()[0];
    slope = slope.reshape(shape);
  }
  node.setResult(relu(x) + minimum(x, 0) * slope);
}

static void clip(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  Expression x = node.in(0), low = node.in(1), high = node.in(2);
  if (node.opset() < 11) {
    if (node.hasAttribute("min"))
      low = x.number(node.floatAttribute("min", 0));
    if (node.hasAttribute("max"))
      high = x.number(node.floatAttribute("max", 0));
  }
  if ((low && low.size() != 1) || (high && high.size() != 1))
    return node.fail("min and max must be scalars");
  if (low)
    x = maximum(x, low.reshape({}));
  if (high)
    x = minimum(x, high.reshape({}));
  node.setResult(x);
}

static void hardSigmoidOf(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  double alpha = node.floatAttribute("alpha", 0.2), beta = node.floatAttribute("beta", 0.5);
  node.setResult(hardSigmoid(node.in(0), alpha, beta));
}

static void hardSwish(NodeContext &node) { node.setResult(node.in(0) * hardSigmoid(node.in(0), 1.0 / 6.0, 0.5)); }

static void elu(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  double alpha = node.floatAttribute("alpha", 1.0);
  node.setResult(relu(node.in(0)) + expMinusOneNegative(node.in(0)) * alpha);
}

/// Like Elu, with x/alpha in the exponent.
static void celu(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1.0);
  if (!(alpha > 0))
    return node.unsupported("attribute 'alpha' must be greater than 0");
  node.setResult(relu(node.in(0)) + expMinusOneNegative(node.in(0) / alpha) * alpha);
}

static void selu(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  double alpha = node.floatAttribute("alpha", node.opset() < 6 ? 1.6732 : 1.67326319217681884765625);
  double gamma = node.floatAttribute("gamma", node.opset() < 6 ? 1.0507 : 1.05070102214813232421875);
  node.setResult((relu(node.in(0)) + expMinusOneNegative(node.in(0)) * alpha) * gamma);
}

static void softplusOf(NodeContext &node) {
  Expression x = node.in(0);
  node.setResult(softplus(widened(x)).cast(x.elementType()));
}

static void softsign(NodeContext &node) { node.setResult(node.in(0) / (abs(node.in(0)) + 1)); }

static void mish(NodeContext &node) {
  Expression x = node.in(0), wide = widened(x);
  node.setResult((wide * tanh(softplus(wide))).cast(x.elementType()));
}

static void swish(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1.0);
  Expression x = node.in(0);
  node.setResult(x * sigmoid(alpha == 1.0 ? x : x * alpha));
}

static void thresholdedRelu(NodeContext &node) {
  Expression x = node.in(0);
  node.setResult(select(less(node.floatAttribute("alpha", 1.0), x), x, 0));
}

/// Elements within [-lambd, lambd] vanish, the others move towards 0 by bias.
static void shrink(NodeContext &node) {
  double lambda = node.floatAttribute("lambd", 0.5), bias = node.floatAttribute("bias", 0.0);
  Expression x = node.in(0);
  node.setResult(select(less(x, -lambda), x + bias, select(less(lambda, x), x - bias, x.filled(0))));
}

/// x/2·(1 + erf(x/√2)), or with tanh x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
static void gelu(NodeContext &node) {
  std::string approximate = node.stringAttribute("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.fail("attribute 'approximate' is '" + approximate + "'; none and tanh are known");
  Expression x = node.in(0);
  Expression inner = approximate == "none" ? erf(x * std::sqrt(0.5))
                                           : tanh((x + x * x * x * 0.044715) * std::sqrt(2.0 / 3.14159265358979323846));
  node.setResult(x * 0.5 * (inner + 1));
}

static const Operator table[] = {
    {"Relu", 1, newestOpset, 1, 1, unary<UnaryKind::Relu>},
    {"Tanh", 1, newestOpset, 1, 1, unary<UnaryKind::Tanh>},
    {"Sigmoid", 1, newestOpset, 1, 1, unary<UnaryKind::Sigmoid>},
    {"LeakyRelu", 1, newestOpset, 1, 1, leakyRelu},
    {"PRelu", 1, newestOpset, 2, 2, prelu},
    {"Clip", 1, 10, 1, 1, clip},
    {"Clip", 11, newestOpset, 1, 3, clip},
    {"HardSigmoid", 1, newestOpset, 1, 1, hardSigmoidOf},
    {"HardSwish", 14, newestOpset, 1, 1, hardSwish},
    {"Elu", 1, newestOpset, 1, 1, elu},
    {"Celu", 12, newestOpset, 1, 1, celu, "", "alpha is positive"},
    {"Selu", 1, newestOpset, 1, 1, selu},
    {"Softplus", 1, newestOpset, 1, 1, softplusOf},
    {"Softsign", 1, newestOpset, 1, 1, softsign},
    {"Mish", 18, newestOpset, 1, 1, mish},
    {"Swish", 24, newestOpset, 1, 1, swish},
    {"ThresholdedRelu", 10, newestOpset, 1, 1, thresholdedRelu},
    {"Shrink", 9, newestOpset, 1, 1, shrink},
    {"Gelu", 20, newestOpset, 1, 1, gelu},
};
llvm::ArrayRef<Operator> activationOperators() { return table; }

} // namespace wsc::import
