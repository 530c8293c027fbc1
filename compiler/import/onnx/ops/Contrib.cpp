// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fused operators of the domain com.microsoft, as the graph optimiser of ONNX Runtime writes them for transformers.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Windows.h"
#include "dialects/nn/Shape.h"
#include <cmath>
#include <limits>

namespace wsc::import {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Normalised over the last dimension, times scale, plus bias where there is one.
Expression layerNorm(const Expression &x, const Expression &scale, const Expression &bias, double epsilon) {
  Expression y = normalized(widened(x), {x.rank() - 1}, epsilon).cast(x.elementType()) * scale;
  return bias ? y + bias : y;
}

/// Sums of word, position and segment embeddings, normalised.
void embedLayerNormalization(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  double epsilon = node.floatAttribute("epsilon", 1e-12);
  bool masks = node.hasInput(7);
  node.ignoreAttributes({"mask_index_type"});
  for (size_t i : {2, 3, 5, 6})
    if (!node.hasInput(i))
      return node.fail(absl::StrCat("input ", i, " is missing"));
  Expression words = node.in(0), segments = node.in(1), positions = node.in(8), table = node.in(3);
  if (words.rank() != 2 || node.input(2).rank() != 2 || table.rank() != 2 || words.shape()[1] > table.shape()[0])
    return node.fail(absl::StrCat("input_ids ", nn::formatShape(words.shape()), " and position embeddings ",
                                  nn::formatShape(table.shape()), " do not fit"));
  Expression sum = gather(node.in(2), words, 0);
  sum = sum + (positions ? gather(table, positions, 0) : table.slice(0, 0, words.shape()[1]));
  if (segments)
    sum = sum + gather(node.in(4), segments, 0);
  node.setResult(0, layerNorm(sum, node.in(5), node.in(6), epsilon));
  mlir::Type i32 = layers.builder().getI32Type();
  if (masks) // positions up to the first 0 count
    node.setResult(1, sumOver(node.in(7).cast(i32), {1}, /*keepdims=*/false));
  else
    node.setResult(1, words.cast(i32).slice(1, 0, 1).squeeze(1).filled(0));
  node.setResult(2, sum);
}

void skipLayerNormalization(NodeContext &node) {
  double epsilon = node.floatAttribute("epsilon", 1e-12);
  Expression sum = node.in(0) + node.in(1);
  if (node.hasInput(4))
    sum = sum + node.in(4);
  node.setResult(0, layerNorm(sum, node.in(2), node.in(3), epsilon));
  node.setResult(3, sum);
}

void skipSimplifiedLayerNormalization(NodeContext &node) {
  double epsilon = node.floatAttribute("epsilon", 1e-6);
  Expression sum = node.in(0) + node.in(1);
  if (node.hasInput(3))
    sum = sum + node.in(3);
  Expression wide = widened(sum), scale = rsqrt(meanOver(square(wide), {wide.rank() - 1}) + epsilon);
  node.setResult(0, (wide * scale).cast(sum.elementType()) * node.in(2));
  node.setResult(3, sum);
}

Expression plusBias(NodeContext &node) { return node.hasInput(1) ? node.in(0) + node.in(1) : node.in(0); }

void gelu(NodeContext &node) {
  Expression x = plusBias(node);
  node.setResult(x * 0.5 * (erf(x * std::sqrt(0.5)) + 1));
}

void fastGelu(NodeContext &node) {
  Expression x = plusBias(node);
  node.setResult(x * 0.5 * (tanh((x + x * x * x * 0.044715) * std::sqrt(2.0 / 3.14159265358979323846)) + 1));
}

void quickGelu(NodeContext &node) {
  Expression x = node.in(0);
  node.setResult(x * sigmoid(x * node.floatAttribute("alpha", 1.702)));
}

void fusedMatMul(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1);
  bool transposeA = node.intAttribute("transA", 0) != 0, transposeB = node.intAttribute("transB", 0) != 0;
  Expression a = node.in(0), b = node.in(1);
  if (node.intAttribute("transBatchA", 0) != 0 || node.intAttribute("transBatchB", 0) != 0)
    return node.unsupported("transBatchA and transBatchB are not supported");
  if (a.rank() < 2 || b.rank() < 2)
    return node.fail("needs matrices");
  Expression y = matmul(transposeA ? a.transposed() : a, b, transposeB);
  node.setResult(alpha == 1 ? y : y * alpha);
}

/// Bias of a mask [batch, keys], [batch, queries, keys] or [batch, 1, queries, keys] of 0 and 1; null without one.
Expression readMask(NodeContext &node, int64_t batch, int64_t queries, int64_t keys, mlir::Type element,
                    double filter) {
  Expression mask = node.in(3), none{node.layers, {}};
  if (!mask)
    return none;
  bool isRaw = mask.rank() >= 2 && mask.rank() <= 4 && mask.shape()[0] == batch && mask.shape().back() == keys;
  if (!isRaw) {
    node.unsupported(
        absl::StrCat("mask_index ", nn::formatShape(mask.shape()), " is not supported; a mask of ", keys, " keys is"));
    return none;
  }
  if (mask.rank() == 2)
    mask = mask.reshape({batch, 1, 1, keys});
  else if (mask.rank() == 3)
    mask = mask.reshape({batch, 1, queries, keys});
  Expression zero{node.layers, node.layers.scalar(element, 0)};
  return select(less(0, mask), zero, filter);
}

/// Self-attention with one weight for query, key and value.
void attention(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0), weight = node.in(1), past = node.in(4);
  int64_t heads = node.intAttribute("num_heads", 0);
  bool isCausal = node.intAttribute("unidirectional", 0) != 0;
  double filter = node.floatAttribute("mask_filter_value", -10000), scale = node.floatAttribute("scale", 0);
  if (node.intAttribute("do_rotary", 0) != 0 || !node.intsAttribute("qkv_hidden_sizes").empty() ||
      node.intAttribute("past_present_share_buffer", 0) != 0 || node.hasInput(6))
    return node.unsupported("do_rotary, qkv_hidden_sizes and past_present_share_buffer are not supported");
  if (node.failed())
    return;
  int64_t hidden = weight.rank() == 2 ? weight.shape()[1] / 3 : 0;
  if (x.rank() != 3 || heads < 1 || hidden < heads || hidden % heads != 0)
    return node.fail(absl::StrCat("input ", nn::formatShape(x.shape()), " and weights ",
                                  nn::formatShape(weight.shape()), " do not fit ", heads, " heads"));
  int64_t batch = x.shape()[0], length = x.shape()[1], size = hidden / heads;
  Expression all{layers, layers.matmul(x, weight, node.input(2), false)};
  auto part = [&](int64_t number) {
    return all.slice(2, number * hidden, hidden).reshape({batch, length, heads, size}).transpose({0, 2, 1, 3});
  };
  Expression q = part(0), k = part(1), v = part(2);
  if (past) {
    k = concat({past.slice(0, 0, 1).squeeze(0), k}, 2);
    v = concat({past.slice(0, 1, 1).squeeze(0), v}, 2);
  }
  if (node.failed())
    return;
  int64_t keys = k.shape()[2];
  Expression wide = widened(q);
  scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(size)) : scale;
  Expression scores = matmul(wide * scale, widened(k), /*transposeRhs=*/true);
  Expression bias = readMask(node, batch, length, keys, wide.elementType(), filter);
  if (bias)
    scores = scores + bias;
  if (node.hasInput(5))
    scores = scores + node.in(5).cast(wide.elementType());
  if (isCausal) {
    mlir::Type i32 = layers.builder().getI32Type();
    Expression query = countingUp(layers, length, i32).reshape({length, 1}) + (keys - length);
    scores = select(lessEqual(countingUp(layers, keys, i32), query), scores, filter);
  }
  Expression y = matmul(softmax(scores, 3), widened(v)).cast(x.elementType());
  node.setResult(0, y.transpose({0, 2, 1, 3}).reshape({batch, length, hidden}));
  node.setResult(1, concat({k.unsqueeze(0), v.unsqueeze(0)}, 0));
}

/// Activation by name with its parameters.
Expression activated(NodeContext &node, const Expression &x) {
  std::string name = node.stringAttribute("activation", "");
  std::vector<double> parameters = node.floatsAttribute("activation_params");
  auto parameter = [&](size_t i, double otherwise) { return i < parameters.size() ? parameters[i] : otherwise; };
  if (name.empty())
    return x;
  if (name == "Relu")
    return relu(x);
  if (name == "Tanh")
    return tanh(x);
  if (name == "Sigmoid")
    return sigmoid(x);
  if (name == "LeakyRelu")
    return select(less(x, 0), x * parameter(0, 0.01), x);
  if (name == "Clip")
    return minimum(maximum(x, parameter(0, -infinity)), parameter(1, infinity));
  if (name == "HardSigmoid")
    return hardSigmoid(x, parameter(0, 0.2), parameter(1, 0.5));
  node.unsupported(absl::StrCat("activation '", name,
                                "' is not supported; Relu, Tanh, Sigmoid, LeakyRelu, Clip and HardSigmoid are"));
  return x;
}

void fusedConv(NodeContext &node) {
  Expression y = convolution(node);
  if (node.hasInput(3))
    y = y + node.in(3);
  node.setResult(activated(node, y));
}

void fusedGemm(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1), beta = node.floatAttribute("beta", 1);
  bool transposeA = node.intAttribute("transA", 0) != 0, transposeB = node.intAttribute("transB", 0) != 0;
  Expression a = node.in(0);
  if (a.rank() != 2 || node.input(1).rank() != 2)
    return node.fail("needs matrices");
  Expression y = matmul(transposeA ? a.transposed() : a, node.in(1), transposeB);
  y = alpha == 1 ? y : y * alpha;
  if (node.hasInput(2))
    y = y + (beta == 1 ? node.in(2) : node.in(2) * beta);
  for (const char *name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (node.hasAttribute(name))
      return node.unsupported(absl::StrCat("attribute '", name, "' is not supported"));
  node.setResult(activated(node, y));
}

constexpr const char *domain = "com.microsoft";

} // namespace

static const Operator table[] = {
    {"EmbedLayerNormalization", 1, 1, 1, 9, embedLayerNormalization, domain},
    {"SkipLayerNormalization", 1, 1, 3, 5, skipLayerNormalization, domain},
    {"SkipSimplifiedLayerNormalization", 1, 1, 3, 4, skipSimplifiedLayerNormalization, domain},
    {"Gelu", 1, 1, 1, 1, gelu, domain},
    {"BiasGelu", 1, 1, 2, 2, gelu, domain},
    {"FastGelu", 1, 1, 1, 2, fastGelu, domain},
    {"QuickGelu", 1, 1, 1, 1, quickGelu, domain},
    {"FusedConv", 1, 1, 2, 4, fusedConv, domain, "activations Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid"},
    {"FusedGemm", 1, 1, 2, 3, fusedGemm, domain,
     "activations Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid without parameters"},
    {"FusedMatMul", 1, 1, 2, 2, fusedMatMul, domain, "without transBatchA and transBatchB"},
    {"Attention", 1, 1, 2, 7, attention, domain,
     "masks of [batch, keys] and more; without do_rotary, qkv_hidden_sizes and shared buffers"},
};
llvm::ArrayRef<Operator> contribOperators() { return table; }

} // namespace wsc::import
