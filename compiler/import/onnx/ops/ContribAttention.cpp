// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention over a cache, and rotary positions, of com.microsoft. Each sequence of a batch has a length of its own: its
// last `length` keys are those of this call, the ones before come from the cache.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Heads.h"
#include "dialects/nn/Shape.h"
#include <cmath>
#include <limits>

namespace wsc::import {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Rows of a cache of angles at positions [batch or 1, length].
Expression anglesAt(const Expression &cache, const Expression &positions) { return gather(cache, positions, 0); }

/// Positions [1 or batch, length]: given for each element, or those from a first one on.
Expression positionsOf(NodeContext &node, const Expression &given, int64_t batch, int64_t length) {
  if (given.size() != 1)
    return given.reshape({batch, length});
  mlir::Type i32 = node.layers.builder().getI32Type();
  return given.cast(i32).reshape({1, 1}) + countingUp(node.layers, length, i32).reshape({1, length});
}

void rotaryEmbedding(NodeContext &node) {
  bool interleaved = node.intAttribute("interleaved", 0) != 0;
  int64_t turned = node.intAttribute("rotary_embedding_dim", 0), heads = node.intAttribute("num_heads", 0);
  if (node.intAttribute("is_packed_batching", 0) != 0)
    return node.unsupported("is_packed_batching is not supported");
  double scale = node.floatAttribute("scale", 1);
  Expression x = node.in(0), cosine = node.in(2), sine = node.in(3);
  if (node.failed())
    return;
  if (cosine.rank() != 2)
    return node.fail(absl::StrCat("cos_cache ", nn::formatShape(cosine.shape()), " must be [positions, size / 2]"));
  if (x.rank() == 3 && heads == 0) {
    const int64_t size = 2 * cosine.shape()[1];
    heads = size == 0 ? 0 : x.shape()[2] / size;
  }
  x = splitHeads(node, x, heads, "input");
  if (node.failed())
    return;
  Expression positions = positionsOf(node, node.in(1), x.shape()[0], x.shape()[2]);
  Expression y = turnedByAngles(x, anglesAt(cosine, positions), anglesAt(sine, positions), turned, interleaved);
  if (scale != 1)
    y = y * scale;
  node.setResult(node.input(0).rank() == 3 ? joinHeads(y) : y);
}

/// Keys or values of the call [batch, heads, length, size] behind those of a cache, `before` [batch] of which count, in
/// `total` places.
Expression cached(const Expression &past, const Expression &now, const Expression &before, int64_t total) {
  LayerBuilder &layers = now.layers();
  if (layers.failed())
    return now;
  llvm::SmallVector<int64_t> shape(now.shape());
  const int64_t batch = shape[0], length = shape[2];
  shape[2] = total;
  Expression place =
      countingUp(layers, total, before.elementType()).reshape({1, 1, total, 1}) - before.reshape({batch, 1, 1, 1});
  Expression number = minimum(maximum(place, 0), static_cast<double>(length - 1)).broadcast(shape);
  Expression fresh = gatherElements(now, number, 2);
  // Behind the sequence's end there is nothing.
  Expression isNow = lessEqual(place, static_cast<double>(length - 1));
  fresh = select(isNow, fresh, 0.0);
  if (!past)
    return fresh;
  Expression old = past.shape()[2] >= total ? past.slice(2, 0, total) : past.pad(2, 0, total - past.shape()[2]);
  return select(less(place, 0), old, fresh);
}

void groupQueryAttention(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  const int64_t heads = node.intAttribute("num_heads", 0), keyHeads = node.intAttribute("kv_num_heads", 0);
  const int64_t window = node.intAttribute("local_window_size", -1);
  const bool rotates = node.intAttribute("do_rotary", 0) != 0;
  const bool interleaved = node.intAttribute("rotary_interleaved", 0) != 0;
  double scale = node.floatAttribute("scale", 0), cap = node.floatAttribute("softcap", 0);
  if (node.intAttribute("smooth_softmax", 0) > 0 || node.intAttribute("qk_output", 0) != 0)
    return node.unsupported("smooth_softmax and qk_output are not supported");
  for (size_t i = 11; i < node.inputCount(); ++i)
    if (node.hasInput(i))
      return node.unsupported(absl::StrCat("input ", i, " is not supported"));
  if (!node.hasInput(5) || !node.hasInput(6))
    return node.fail("seqlens_k (input 5) and total_sequence_length (input 6) are missing");
  const int64_t declared = node.constantInt(6, "total_sequence_length");
  Expression q = node.in(0), k = node.in(1), v = node.in(2), past = node.in(3), pastValue = node.in(4);
  if (node.failed())
    return;
  if (q.rank() != 3 || heads < 1 || keyHeads < 1 || static_cast<bool>(past) != static_cast<bool>(pastValue))
    return node.fail(absl::StrCat("query ", nn::formatShape(q.shape()), " and caches do not fit ", heads, " and ",
                                  keyHeads, " heads"));
  if (!k) { // query, key and value side by side
    const int64_t size = q.shape()[2] / (heads + 2 * keyHeads);
    Expression all = q;
    q = all.slice(2, 0, heads * size);
    k = all.slice(2, heads * size, keyHeads * size);
    v = all.slice(2, (heads + keyHeads) * size, keyHeads * size);
  }
  q = splitHeads(node, q, heads, "query");
  k = splitHeads(node, k, keyHeads, "key");
  v = splitHeads(node, v, keyHeads, "value");
  if (!headsFit(node, q, k, v))
    return;
  const int64_t batch = q.shape()[0], length = q.shape()[2];
  if (past && past.size() == 0)
    past = pastValue = {layers, {}};
  if (past && (past.rank() != 4 || past.shape()[0] != batch || past.shape()[1] != keyHeads ||
               past.shape()[3] != k.shape()[3] || past.shape() != pastValue.shape()))
    return node.fail(
        absl::StrCat("past_key ", nn::formatShape(past.shape()), " does not fit keys ", nn::formatShape(k.shape())));
  if (node.in(5).size() != batch)
    return node.fail(
        absl::StrCat("seqlens_k ", nn::formatShape(node.in(5).shape()), " must have ", batch, " elements"));
  const int64_t total = std::max(declared, past ? past.shape()[2] : length);
  if (declared < length || total > maxConstantElements)
    return node.fail(
        absl::StrCat("total_sequence_length ", declared, " is outside [", length, ", ", maxConstantElements, "]"));
  mlir::Type i32 = layers.builder().getI32Type();
  // A first call may hold sequences shorter than its length: they begin at 0.
  Expression before = maximum(node.in(5).cast(i32).reshape({batch}) + static_cast<double>(1 - length), 0);
  Expression query = before.reshape({batch, 1}) + countingUp(layers, length, i32).reshape({1, length});
  if (rotates) {
    Expression cosine = node.in(7), sine = node.in(8);
    if (!cosine || !sine || cosine.rank() != 2)
      return node.fail("do_rotary needs cos_cache and sin_cache, [positions, size / 2]");
    Expression positions = node.hasInput(9) ? node.in(9).reshape({batch, length}) : query;
    Expression c = anglesAt(cosine, positions), s = anglesAt(sine, positions);
    const int64_t turned = 2 * cosine.shape()[1];
    q = turnedByAngles(q, c, s, turned, interleaved);
    k = turnedByAngles(k, c, s, turned, interleaved);
  }
  k = cached(past, k, before, total);
  v = cached(pastValue, v, before, total);
  node.setResult(1, k);
  node.setResult(2, v);
  Expression wide = widened(q);
  if (node.failed())
    return;
  scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(q.shape()[3])) : scale;
  Expression scores = perHead(wide * scale, widened(k), /*transposeRhs=*/true);
  if (cap > 0)
    scores = tanh(scores / cap) * cap;
  if (node.hasInput(10)) {
    Expression bias = node.in(10).cast(wide.elementType());
    scores = scores + (bias.shape().back() < total ? bias.pad(bias.rank() - 1, 0, total - bias.shape().back()) : bias);
  }
  Expression key = countingUp(layers, total, i32), place = query.reshape({batch, 1, length, 1});
  Expression visible = lessEqual(key, place);
  if (window > 0)
    visible = visible & less(place - static_cast<double>(window), key);
  scores = select(visible, scores, -infinity);
  Expression y = perHead(softmax(scores, 3), widened(v), /*transposeRhs=*/false);
  node.setResult(0, joinHeads(y.cast(q.elementType())));
}

constexpr const char *domain = "com.microsoft";

} // namespace

static const Operator table[] = {
    {"GroupQueryAttention", 1, 1, 1, 14, groupQueryAttention, domain,
     "total_sequence_length is known; without smooth_softmax, qk_output and head sinks"},
    {"RotaryEmbedding", 1, 1, 4, 4, rotaryEmbedding, domain, "without is_packed_batching"},
};
llvm::ArrayRef<Operator> contribAttentionOperators() { return table; }

} // namespace wsc::import
