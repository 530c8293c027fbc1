// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that carry a state through a sequence without gates of their own: linear attention, step by step, and causal
// convolution with the last elements of the sequence before.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Windows.h"
#include "dialects/nn/Shape.h"
#include <cmath>

namespace wsc::import {
namespace {

/// Sequences are unrolled up to this many steps.
constexpr int64_t mostSteps = 10000;

/// [batch, steps, heads·size] as [batch, heads, steps, size].
Expression splitHeads(const Expression &x, int64_t heads) {
  return x.reshape({x.shape()[0], x.shape()[1], heads, x.shape()[2] / heads}).transpose({0, 2, 1, 3});
}

/// The state, a matrix [keys, values] per head, decays, takes the outer product of key and (corrected) value, and is
/// read by the query.
void linearAttention(NodeContext &node) {
  std::string rule = node.stringAttribute("update_rule", "gated_delta");
  int64_t queryHeads = node.intAttribute("q_num_heads", 0), heads = node.intAttribute("kv_num_heads", 0);
  double scale = node.floatAttribute("scale", 0);
  node.ignoreAttributes({"chunk_size"}); // how to schedule
  bool decays = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  if (!decays && !corrects && rule != "linear")
    return node.fail("attribute 'update_rule' is '" + rule + "'; linear, gated, delta and gated_delta are known");
  Expression query = node.in(0), key = node.in(1), value = node.in(2), decay = node.in(4), beta = node.in(5);
  if (node.failed())
    return;
  bool fits = query.rank() == 3 && key.rank() == 3 && value.rank() == 3 && heads > 0 && queryHeads > 0 &&
              queryHeads % heads == 0 && query.shape()[2] % queryHeads == 0 && key.shape()[2] % heads == 0 &&
              value.shape()[2] % heads == 0 && query.shape()[2] / queryHeads == key.shape()[2] / heads &&
              decays == static_cast<bool>(decay) && corrects == static_cast<bool>(beta);
  int64_t keys = fits ? key.shape()[2] / heads : 0, values = fits ? value.shape()[2] / heads : 0;
  fits = fits && (!decay || (decay.rank() == 3 && (decay.shape()[2] == heads || decay.shape()[2] == heads * keys))) &&
         (!beta || (beta.rank() == 3 && (beta.shape()[2] == heads || beta.shape()[2] == 1)));
  if (!fits)
    return node.fail(absl::StrCat("query ", nn::formatShape(query.shape()), ", key ", nn::formatShape(key.shape()),
                                  ", value ", nn::formatShape(value.shape()), ", ", queryHeads, " and ", heads,
                                  " heads, decay and beta do not fit update_rule ", rule));
  int64_t batch = query.shape()[0], steps = query.shape()[1], group = queryHeads / heads;
  if (steps < 1 || steps > mostSteps)
    return node.unsupported(absl::StrCat("a sequence of ", steps, " steps is not supported; 1 to ", mostSteps, " are"));
  Expression q = splitHeads(widened(query), queryHeads).reshape({batch, heads, group, steps, keys});
  Expression k = splitHeads(widened(key), heads), v = splitHeads(widened(value), heads);
  Expression past = node.in(3), state = past ? widened(past) : k.number(0).broadcast({batch, heads, keys, values});
  mlir::Type own = past ? past.elementType() : query.elementType();
  if (decays)
    decay = exp(splitHeads(widened(decay), heads));
  if (corrects)
    beta = splitHeads(widened(beta), beta.shape()[2]);
  scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(keys)) : scale;
  std::vector<Expression> outputs;
  for (int64_t step = 0; step < steps && !node.failed(); ++step) {
    Expression keyRow = k.slice(2, step, 1), valueRow = v.slice(2, step, 1); // [B, H, 1, size]
    if (decays)
      state = state * decay.slice(2, step, 1).transposed();
    if (corrects)
      valueRow = beta.slice(2, step, 1) * (valueRow - matmul(keyRow, state));
    state = state + keyRow.transposed() * valueRow;
    Expression read = matmul(q.slice(3, step, 1).reshape({batch, heads, group, keys}), state) * scale;
    outputs.push_back(read.reshape({batch, 1, queryHeads * values}));
  }
  if (node.failed())
    return;
  node.setResult(0, concat(outputs, 1).cast(query.elementType()));
  node.setResult(1, state.cast(own));
}

/// A convolution per channel over the sequence with the k - 1 elements before it, which the state holds.
void causalConvWithState(NodeContext &node) {
  Expression x = node.in(0), weight = node.in(1), past = node.in(3);
  std::string activation = node.stringAttribute("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return node.fail("attribute 'activation' is '" + activation + "'; none, silu and swish are known");
  if (x.rank() != 3 || weight.rank() != 3 || weight.shape()[0] != x.shape()[1] || weight.shape()[1] != 1)
    return node.fail(absl::StrCat("needs [N, C, L] and weight [C, 1, k], found ", nn::formatShape(x.shape()), " and ",
                                  nn::formatShape(weight.shape())));
  int64_t before = weight.shape()[2] - 1, channels = x.shape()[1];
  Expression whole = past && past.size() > 0 ? concat({past, x}, 2) : x.pad(2, past ? 0 : before, 0);
  Window window{{1}, {1}, {0, 0}};
  Expression wide = widened(whole);
  Expression bias = widened(node.in(2));
  Expression y = convolve(wide, widened(weight), bias, window, channels);
  if (activation != "none")
    y = y * sigmoid(y);
  if (node.failed())
    return;
  node.setResult(0, y.cast(x.elementType()));
  node.setResult(1, whole.slice(2, whole.shape()[2] - before, before));
}

} // namespace

static const Operator table[] = {
    {"LinearAttention", 27, newestOpset, 3, 6, linearAttention, "", "sequences of at most 10000 steps"},
    {"CausalConvWithState", 27, newestOpset, 2, 4, causalConvWithState},
};
llvm::ArrayRef<Operator> sequenceOperators() { return table; }

} // namespace wsc::import
