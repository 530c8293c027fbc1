// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention over heads: softmax(scale·Q·Kᵀ + bias)·V. Where several query heads share a key head, the queries of a
// group are rows of one product. 16-bit floats are calculated with in f32.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Heads.h"
#include "dialects/nn/Shape.h"
#include <cmath>
#include <limits>

namespace wsc::import {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Additive bias of a mask: a boolean one allows or forbids.
Expression biasOf(const Expression &mask, mlir::Type element) {
  if (!mask.layers().failed() && mask.elementType().isInteger(1)) {
    Expression zero{mask.layers(), mask.layers().scalar(element, 0)};
    return select(mask, zero, -infinity);
  }
  return mask.cast(element);
}

/// The bias from attn_mask, is_causal and nonpad_kv_seqlen, which broadcasts to [B, H, L, S]; null without any. Sets
/// `blanks` if a row may have no key it may look at.
Expression readBias(NodeContext &node, const Expression &q, int64_t keys, mlir::Type element, bool &blanks) {
  LayerBuilder &layers = node.layers;
  Expression bias{layers, {}}, mask = node.in(3);
  bool isCausal = node.intAttribute("is_causal", 0) != 0;
  int64_t queries = q.shape()[2], batch = q.shape()[0], past = node.hasInput(4) ? node.input(4).shape()[2] : 0;
  mlir::Type i64 = layers.builder().getI64Type();
  Expression zero{layers, layers.scalar(element, 0)};
  if (mask) {
    int64_t last = mask.rank() - 1;
    if (last < 0 || mask.shape()[last] > keys) {
      node.fail(absl::StrCat("attn_mask ", nn::formatShape(mask.shape()), " does not fit ", keys, " keys"));
      return bias;
    }
    bias = biasOf(mask, element);
    if (mask.shape()[last] < keys)
      bias = bias.pad(last, 0, keys - mask.shape()[last], -infinity);
    blanks = true;
  }
  Expression allowed{layers, {}}, key = countingUp(layers, keys, i64);
  Expression lengths = node.in(6);
  if (isCausal) {
    Expression query = countingUp(layers, queries, i64).reshape({queries, 1});
    if (lengths) // the last query sees up to the last key that counts
      query = query + (lengths.reshape({batch, 1, 1, 1}).cast(i64) - queries);
    else
      query = query + past;
    allowed = lessEqual(key, query);
  }
  if (lengths) {
    Expression counts = less(key, lengths.reshape({batch, 1, 1, 1}).cast(i64));
    allowed = allowed ? allowed & counts : counts;
    blanks = true;
  }
  if (!allowed)
    return bias;
  return bias ? select(allowed, bias, -infinity) : select(allowed, zero, -infinity);
}

/// The type softmax is taken in: an attribute, or f32 at least.
std::optional<mlir::Type> readSoftmaxType(NodeContext &node, mlir::Type own) {
  int64_t declared = node.intAttribute("softmax_precision", 0);
  if (declared == 0)
    return own;
  auto type = elementType(*node.layers.builder().getContext(), static_cast<int>(declared));
  if (!type.ok() || !mlir::isa<mlir::FloatType>(*type)) {
    node.fail(absl::StrCat("softmax_precision ", declared, " is no float type"));
    return std::nullopt;
  }
  return type->getIntOrFloatBitWidth() < own.getIntOrFloatBitWidth() ? own : *type;
}

void attention(NodeContext &node) {
  Expression q = splitHeads(node, node.in(0), node.intAttribute("q_num_heads", 0), "query");
  int64_t keyHeads = node.intAttribute("kv_num_heads", 0);
  Expression k = splitHeads(node, node.in(1), keyHeads, "key"), v = splitHeads(node, node.in(2), keyHeads, "value");
  double cap = node.floatAttribute("softcap", 0);
  int64_t mode = node.intAttribute("qk_matmul_output_mode", 0);
  if (node.hasInput(4) != node.hasInput(5) || (node.hasInput(4) && node.input(4).rank() != 4))
    return node.fail("past_key and past_value must be given together, as [batch, heads, length, size]");
  if (mode < 0 || mode > 3)
    return node.fail(absl::StrCat("qk_matmul_output_mode ", mode, " is outside [0, 3]"));
  if (node.hasInput(4) && !node.failed()) {
    k = concat({node.in(4), k}, 2);
    v = concat({node.in(5), v}, 2);
  }
  if (!headsFit(node, q, k, v))
    return;
  node.setResult(1, k);
  node.setResult(2, v);
  double scale = node.floatAttribute("scale", 1 / std::sqrt(static_cast<double>(q.shape()[3])));
  Expression wide = widened(q);
  bool blanks = false;
  auto softmaxType = readSoftmaxType(node, wide.elementType());
  Expression bias = readBias(node, q, k.shape()[2], wide.elementType(), blanks);
  if (node.failed())
    return;
  Expression scores = perHead(wide * scale, widened(k), /*transposeRhs=*/true), shown = scores;
  // The cap comes before the bias: what is forbidden stays forbidden.
  if (cap > 0)
    scores = tanh(scores / cap) * cap;
  if (mode == 1)
    shown = scores;
  if (bias)
    scores = scores + bias;
  if (mode == 2)
    shown = scores;
  Expression weights = softmax(scores.cast(*softmaxType), 3);
  // A row without any key has no weights.
  if (blanks)
    weights = select(equal(maxOver(bias, {bias.rank() - 1}), -infinity), 0, weights);
  if (mode == 3)
    shown = weights;
  Expression y = perHead(weights.cast(wide.elementType()), widened(v), /*transposeRhs=*/false).cast(q.elementType());
  node.setResult(0, node.input(0).rank() == 3 ? joinHeads(y) : y);
  node.setResult(3, shown.cast(q.elementType()));
}

/// x, or what the subgraph of an attribute makes of it.
Expression modified(NodeContext &node, const char *attribute, const Expression &x) {
  const auto *graph = node.graphAttribute(attribute);
  if (!graph)
    return x;
  std::vector<Tensor> results = node.callGraph(*graph, {x});
  if (!node.failed() && (results.size() != 1 || results[0].type != x.tensor().type))
    node.fail(absl::StrCat("the subgraph '", attribute, "' must give one tensor like the one it takes"));
  return results.empty() ? x : Expression(node.layers, results[0]);
}

void flexAttention(NodeContext &node) {
  Expression q = node.in(0), k = node.in(1), v = node.in(2);
  if (!headsFit(node, q, k, v))
    return;
  double scale = node.floatAttribute("scale", 1 / std::sqrt(static_cast<double>(q.shape()[3])));
  Expression wide = widened(q);
  auto softmaxType = readSoftmaxType(node, wide.elementType());
  if (!softmaxType)
    return;
  Expression scores = perHead(wide * scale, widened(k), /*transposeRhs=*/true).cast(*softmaxType);
  scores = modified(node, "score_mod", scores);
  Expression weights = modified(node, "prob_mod", softmax(scores, 3));
  node.setResult(perHead(weights, widened(v).cast(*softmaxType), /*transposeRhs=*/false).cast(v.elementType()));
}

void rotaryEmbedding(NodeContext &node) {
  bool interleaved = node.intAttribute("interleaved", 0) != 0;
  int64_t turned = node.intAttribute("rotary_embedding_dim", 0), heads = node.intAttribute("num_heads", 0);
  Expression x = splitHeads(node, node.in(0), heads, "input"), cosine = node.in(1), sine = node.in(2);
  if (node.failed())
    return;
  if (node.hasInput(3)) {
    Expression positions = wrappedIndices(node.in(3), cosine.shape()[0]);
    cosine = gather(cosine, positions, 0);
    sine = gather(sine, positions, 0);
  }
  Expression y = turnedByAngles(x, cosine, sine, turned, interleaved);
  node.setResult(node.input(0).rank() == 3 ? joinHeads(y) : y);
}

} // namespace

static const Operator table[] = {
    {"Attention", 23, newestOpset, 3, 7, attention},
    {"RotaryEmbedding", 23, newestOpset, 3, 4, rotaryEmbedding},
    {"FlexAttention", 1, newestOpset, 3, 3, flexAttention, "ai.onnx.preview"},
};
llvm::ArrayRef<Operator> attentionOperators() { return table; }

} // namespace wsc::import
