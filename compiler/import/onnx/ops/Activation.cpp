// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activations that decompose into a few elementwise layers. The forms are chosen so that no intermediate overflows where the result does not.
#include "compiler/import/onnx/Registry.h"
#include <cmath>

namespace wsc::import {

using nn::BinaryKind;
using nn::UnaryKind;

/// x < 0 ? negative : x
static Tensor selectNegative(LayerBuilder &layers, const Tensor &x, const Tensor &negative) {
  return layers.select(layers.binary(BinaryKind::Less, x, 0.0), negative, x);
}

/// exp(min(x, 0)) - 1
static Tensor expMinusOne(LayerBuilder &layers, const Tensor &x) {
  Tensor e = layers.unary(UnaryKind::Exp, layers.binary(BinaryKind::Min, x, 0.0));
  return layers.binary(BinaryKind::Sub, e, 1.0);
}

/// max(x, 0) + log(1 + exp(-|x|))
static Tensor softplusOf(LayerBuilder &layers, const Tensor &x) {
  Tensor e = layers.unary(UnaryKind::Exp, layers.unary(UnaryKind::Neg, layers.unary(UnaryKind::Abs, x)));
  Tensor log = layers.unary(UnaryKind::Log, layers.binary(BinaryKind::Add, e, 1.0));
  return layers.binary(BinaryKind::Add, layers.unary(UnaryKind::Relu, x), log);
}

/// max(0, min(1, alpha·x + beta))
static Tensor hardSigmoidOf(LayerBuilder &layers, const Tensor &x, double alpha, double beta) {
  Tensor line = layers.binary(BinaryKind::Add, layers.binary(BinaryKind::Mul, x, alpha), beta);
  return layers.binary(BinaryKind::Max, layers.binary(BinaryKind::Min, line, 1.0), 0.0);
}

static void leakyRelu(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  LayerBuilder &layers = node.layers;
  double alpha = node.floatAttribute("alpha", 0.01);
  Tensor x = node.input(0), scaled = layers.binary(BinaryKind::Mul, x, alpha);
  // With a slope in [0, 1] the larger of the two is the right one.
  node.setResult(alpha >= 0.0 && alpha <= 1.0 ? layers.binary(BinaryKind::Max, x, scaled) : selectNegative(layers, x, scaled));
}

static void prelu(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  LayerBuilder &layers = node.layers;
  Tensor x = node.input(0), slope = node.input(1);
  // Before opset 7 a slope [C] belongs to dimension 1; since then it broadcasts from the right.
  if (node.opset() < 7 && slope.rank() == 1 && x.rank() > 1 && slope.shape()[0] != 1) {
    llvm::SmallVector<int64_t> shape(x.rank() - 1, 1);
    shape[0] = slope.shape()[0];
    slope = layers.reshape(slope, shape);
  }
  node.setResult(selectNegative(layers, x, layers.binary(BinaryKind::Mul, x, slope)));
}

static void clip(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  LayerBuilder &layers = node.layers;
  Tensor x = node.input(0), low = node.input(1), high = node.input(2);
  if (node.opset() < 11) {
    if (node.hasAttribute("min"))
      low = layers.scalar(x.elementType(), node.floatAttribute("min", 0));
    if (node.hasAttribute("max"))
      high = layers.scalar(x.elementType(), node.floatAttribute("max", 0));
  }
  if ((low && low.type.getNumElements() != 1) || (high && high.type.getNumElements() != 1))
    return node.fail("min and max must be scalars");
  if (low)
    x = layers.binary(BinaryKind::Max, x, layers.reshape(low, {}));
  if (high)
    x = layers.binary(BinaryKind::Min, x, layers.reshape(high, {}));
  node.setResult(x);
}

static void hardSigmoid(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  double alpha = node.floatAttribute("alpha", 0.2), beta = node.floatAttribute("beta", 0.5);
  node.setResult(hardSigmoidOf(node.layers, node.input(0), alpha, beta));
}

static void hardSwish(NodeContext &node) {
  Tensor x = node.input(0);
  node.setResult(node.layers.binary(BinaryKind::Mul, x, hardSigmoidOf(node.layers, x, 1.0 / 6.0, 0.5)));
}

static void elu(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  LayerBuilder &layers = node.layers;
  double alpha = node.floatAttribute("alpha", 1.0);
  Tensor x = node.input(0);
  node.setResult(selectNegative(layers, x, layers.binary(BinaryKind::Mul, expMinusOne(layers, x), alpha)));
}

static void selu(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  LayerBuilder &layers = node.layers;
  double alpha = node.floatAttribute("alpha", node.opset() < 6 ? 1.6732 : 1.67326319217681884765625);
  double gamma = node.floatAttribute("gamma", node.opset() < 6 ? 1.0507 : 1.05070102214813232421875);
  Tensor x = node.input(0);
  Tensor y = selectNegative(layers, x, layers.binary(BinaryKind::Mul, expMinusOne(layers, x), alpha));
  node.setResult(layers.binary(BinaryKind::Mul, y, gamma));
}

static void softplus(NodeContext &node) { node.setResult(softplusOf(node.layers, node.input(0))); }

static void softsign(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Tensor x = node.input(0);
  node.setResult(layers.binary(BinaryKind::Div, x, layers.binary(BinaryKind::Add, layers.unary(UnaryKind::Abs, x), 1.0)));
}

static void mish(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Tensor x = node.input(0);
  node.setResult(layers.binary(BinaryKind::Mul, x, layers.unary(UnaryKind::Tanh, softplusOf(layers, x))));
}

static void thresholdedRelu(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Tensor x = node.input(0);
  Tensor alpha = layers.scalar(x.elementType(), node.floatAttribute("alpha", 1.0));
  node.setResult(layers.select(layers.binary(BinaryKind::Less, alpha, x), x, layers.scalar(x.elementType(), 0.0)));
}

/// x/2·(1 + erf(x/√2)), or with tanh x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
static void gelu(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  std::string approximate = node.stringAttribute("approximate", "none");
  Tensor x = node.input(0), inner;
  if (approximate == "none") {
    inner = layers.unary(UnaryKind::Erf, layers.binary(BinaryKind::Mul, x, std::sqrt(0.5)));
  } else if (approximate == "tanh") {
    Tensor cube = layers.binary(BinaryKind::Mul, layers.binary(BinaryKind::Mul, x, x), x);
    Tensor sum = layers.binary(BinaryKind::Add, x, layers.binary(BinaryKind::Mul, cube, 0.044715));
    inner = layers.unary(UnaryKind::Tanh, layers.binary(BinaryKind::Mul, sum, std::sqrt(2.0 / 3.14159265358979323846)));
  } else {
    return node.fail("attribute 'approximate' is '" + approximate + "'; none and tanh are known");
  }
  Tensor half = layers.binary(BinaryKind::Mul, x, 0.5);
  node.setResult(layers.binary(BinaryKind::Mul, half, layers.binary(BinaryKind::Add, inner, 1.0)));
}

static const Operator table[] = {
    {"LeakyRelu", 1, newestOpset, 1, 1, leakyRelu},
    {"PRelu", 1, newestOpset, 2, 2, prelu},
    {"Clip", 1, 10, 1, 1, clip},
    {"Clip", 11, newestOpset, 1, 3, clip},
    {"HardSigmoid", 1, newestOpset, 1, 1, hardSigmoid},
    {"HardSwish", 14, newestOpset, 1, 1, hardSwish},
    {"Elu", 1, newestOpset, 1, 1, elu},
    {"Selu", 1, newestOpset, 1, 1, selu},
    {"Softplus", 1, newestOpset, 1, 1, softplus},
    {"Softsign", 1, newestOpset, 1, 1, softsign},
    {"Mish", 18, newestOpset, 1, 1, mish},
    {"ThresholdedRelu", 10, newestOpset, 1, 1, thresholdedRelu},
    {"Gelu", 20, newestOpset, 1, 1, gelu},
};
llvm::ArrayRef<Operator> activationOperators() { return table; }

} // namespace wsc::import
