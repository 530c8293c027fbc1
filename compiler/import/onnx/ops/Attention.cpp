// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention over heads: softmax(scale·Q·Kᵀ + bias)·V. Where several query heads share a key head, the queries of a
// group are rows of one product. 16-bit floats are calculated with in f32.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/common/Extremes.h"
#include "dialects/nn/Shape.h"
#include <cmath>
#include <limits>

namespace wsc::import {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// [batch, length, heads·size] as [batch, heads, length, size], and back.
Expression splitHeads(NodeContext &node, const Expression &x, int64_t heads, const char *what) {
  if (node.failed() || x.rank() == 4)
    return x;
  if (x.rank() != 3 || heads < 1 || x.shape()[2] % heads != 0) {
    node.fail(absl::StrCat(what, " ", nn::formatShape(x.shape()), " does not fall into ", heads, " heads"));
    return x;
  }
  int64_t size = x.shape()[2] / heads;
  return x.reshape({x.shape()[0], x.shape()[1], heads, size}).transpose({0, 2, 1, 3});
}
Expression joinHeads(const Expression &x) {
  if (x.layers().failed())
    return x;
  int64_t size = x.shape()[1] * x.shape()[3];
  return x.transpose({0, 2, 1, 3}).reshape({x.shape()[0], x.shape()[2], size});
}

/// Whether queries [B, H, L, E], keys [B, H', S, E] and values [B, H', S, E'] fit, H being a multiple of H'.
bool headsFit(NodeContext &node, const Expression &q, const Expression &k, const Expression &v) {
  if (node.failed())
    return false;
  bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && k.shape()[1] > 0 && q.shape()[1] % k.shape()[1] == 0 &&
              q.shape()[3] == k.shape()[3] && k.shape().take_front(3) == v.shape().take_front(3) &&
              q.shape()[0] == k.shape()[0];
  if (!fits)
    node.fail(absl::StrCat("query ", nn::formatShape(q.shape()), ", key ", nn::formatShape(k.shape()), " and value ",
                           nn::formatShape(v.shape()), " do not fit"));
  return fits;
}

/// Product per head of rows [B, H, L, K] with a matrix [B, H', …] shared by groups of heads.
Expression perHead(const Expression &rows, const Expression &shared, bool transposeRhs) {
  if (rows.layers().failed())
    return rows;
  auto shape = rows.shape();
  Expression y = matmul(rows.reshape({shape[0], shared.shape()[1], shape[1] / shared.shape()[1] * shape[2], shape[3]}),
                        shared, transposeRhs);
  return y.layers().failed() ? y : y.reshape({shape[0], shape[1], shape[2], y.shape()[3]});
}

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

/// Pairs of elements, from the two halves or neighbours, turned by an angle per position and pair.
void rotaryEmbedding(NodeContext &node) {
  bool interleaved = node.intAttribute("interleaved", 0) != 0;
  int64_t turned = node.intAttribute("rotary_embedding_dim", 0), heads = node.intAttribute("num_heads", 0);
  Expression x = splitHeads(node, node.in(0), heads, "input"), cosine = node.in(1), sine = node.in(2);
  if (node.failed())
    return;
  int64_t batch = x.shape()[0], length = x.shape()[2], size = x.shape()[3];
  turned = turned == 0 ? size : turned;
  int64_t half = turned / 2;
  if (turned < 2 || turned % 2 != 0 || turned > size || cosine.shape() != sine.shape() || cosine.rank() < 2 ||
      cosine.shape().back() != half)
    return node.fail(absl::StrCat("caches ", nn::formatShape(cosine.shape()), " and ", nn::formatShape(sine.shape()),
                                  " do not fit ", turned, " turned elements of ", size));
  if (node.hasInput(3)) {
    Expression positions = wrappedIndices(node.in(3), cosine.shape()[0]);
    cosine = gather(cosine, positions, 0);
    sine = gather(sine, positions, 0);
  }
  cosine = cosine.reshape({batch, 1, length, half});
  sine = sine.reshape({batch, 1, length, half});
  Expression first = interleaved ? x.slice(3, 0, half, 2) : x.slice(3, 0, half);
  Expression second = interleaved ? x.slice(3, 1, half, 2) : x.slice(3, half, half);
  Expression real = cosine * first - sine * second, imaginary = sine * first + cosine * second;
  if (node.failed())
    return;
  Expression y = concat({real, imaginary}, 3);
  if (interleaved) {
    llvm::SmallVector<int64_t> shape(real.shape());
    shape.back() = turned;
    y = concat({real.unsqueeze(4), imaginary.unsqueeze(4)}, 4).reshape(shape);
  }
  if (turned < size)
    y = concat({y, x.slice(3, turned, size - turned)}, 3);
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
