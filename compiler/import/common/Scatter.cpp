// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements written at indices; see Scatter.h.
#include "compiler/import/common/Scatter.h"

namespace wsc::import {

Expression applyUpdates(const Expression &data, const Expression &isHit, const Expression &updates, int64_t axis,
                        const std::string &reduction) {
  using nn::ReduceKind;
  LayerBuilder &layers = data.layers();
  if (layers.failed())
    return data;
  if (isHit.shape()[axis] == 0)
    return data;
  mlir::Type element = data.elementType();
  ReduceKind kind = reduction == "add"   ? ReduceKind::Sum
                    : reduction == "mul" ? ReduceKind::Prod
                    : reduction == "min" ? ReduceKind::Min
                                         : ReduceKind::Max;
  Expression neutral = kind == ReduceKind::Sum    ? updates.number(0)
                       : kind == ReduceKind::Prod ? updates.number(1)
                       : kind == ReduceKind::Min  ? highest(layers, element)
                                                  : lowest(layers, element);
  Expression isChanged = reduceAny(ReduceKind::Max, isHit, {axis}, /*keepdims=*/false);
  Expression change = reduceAny(kind, select(isHit, updates, neutral), {axis}, /*keepdims=*/false);
  if (reduction == "none")
    return select(isChanged, change, data);
  Expression changed = kind == ReduceKind::Sum    ? data + change
                       : kind == ReduceKind::Prod ? data * change
                       : kind == ReduceKind::Min  ? minimum(data, change)
                                                  : maximum(data, change);
  return select(isChanged, changed, data);
}

Expression scatterSlices(const Expression &data, const Expression &indices, const Expression &updates,
                         const std::string &reduction) {
  LayerBuilder &layers = data.layers();
  if (layers.failed())
    return data;
  const int64_t depth = indices.shape().back();
  int64_t places = productOf(data.shape().take_front(depth));
  int64_t inner = productOf(data.shape().drop_front(depth));
  int64_t count = productOf(indices.shape().drop_back(1)), stride = 1;
  Expression rows = indices.reshape({count, depth}), flat = indices.number(0).broadcast({count});
  for (int64_t d = depth; d-- > 0; stride *= data.shape()[d])
    flat = flat + wrappedIndices(rows.slice(1, d, 1).reshape({count}), data.shape()[d]) * stride;
  // [place, update, inner]
  Expression isHit =
      equal(flat.reshape({1, count, 1}), countingUp(layers, places, indices.elementType()).reshape({places, 1, 1}));
  Expression y = applyUpdates(data.reshape({places, inner}), isHit, updates.reshape({1, count, inner}), 1, reduction);
  return y.reshape(data.shape());
}

} // namespace wsc::import
