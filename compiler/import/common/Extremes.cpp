// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extremes, order and running sums; see Extremes.h. The number of an extreme element is the least (or greatest) number
// among the elements equal to the extreme. Sorting counts for each element how many come before it, which is its place.
// A running sum is the reduction, for each place, of the elements up to it, those behind counting as neutral.
#include "compiler/import/common/Extremes.h"

namespace wsc::import {

Expression numbersAlong(LayerBuilder &layers, int64_t count, int64_t axis, int64_t rank, mlir::Type element) {
  if (layers.failed())
    return {layers, {}};
  llvm::SmallVector<int64_t> shape(rank, 1);
  shape[axis] = count;
  return countingUp(layers, count, element).reshape(shape);
}

Expression extremeIndex(const Expression &x, int64_t axis, bool greatest, bool last) {
  LayerBuilder &layers = x.layers();
  if (layers.failed())
    return x;
  int64_t extent = x.shape()[axis];
  Expression numbers = numbersAlong(layers, extent, axis, x.rank(), layers.builder().getI32Type());
  Expression isBest = equal(x, greatest ? maxOver(x, {axis}) : minOver(x, {axis}));
  return last ? maxOver(select(isBest, numbers, 0), {axis})
              : minOver(select(isBest, numbers, std::max<int64_t>(extent - 1, 0)), {axis});
}

Sorted sortedAlong(const Expression &x, int64_t axis, int64_t count, bool largest) {
  LayerBuilder &layers = x.layers();
  if (layers.failed())
    return {x, x};
  const int64_t extent = x.shape()[axis];
  mlir::Type i32 = layers.builder().getI32Type();
  // [.., element, other, ..]
  Expression element = x.unsqueeze(axis + 1), other = x.unsqueeze(axis);
  Expression elementNumber = numbersAlong(layers, extent, axis, x.rank() + 1, i32);
  Expression otherNumber = numbersAlong(layers, extent, axis + 1, x.rank() + 1, i32);
  Expression before = (largest ? less(element, other) : less(other, element)) |
                      (equal(element, other) & less(otherNumber, elementNumber));
  Expression place = sumOver(before.cast(i32), {axis + 1}, /*keepdims=*/false);
  // [.., place, element, ..]
  Expression isThere = equal(place.unsqueeze(axis), numbersAlong(layers, count, axis, x.rank() + 1, i32));
  Expression values = select(isThere, other, lowest(layers, x.elementType()));
  Expression numbers = select(isThere, otherNumber, 0);
  return {maxOver(values, {axis + 1}, /*keepdims=*/false), maxOver(numbers, {axis + 1}, /*keepdims=*/false)};
}

Expression running(nn::ReduceKind kind, const Expression &x, int64_t axis, bool exclusive, bool reverse) {
  LayerBuilder &layers = x.layers();
  if (layers.failed())
    return x;
  // [.., place, element, ..]
  mlir::Type i32 = layers.builder().getI32Type();
  int64_t extent = x.shape()[axis];
  Expression place = numbersAlong(layers, extent, axis, x.rank() + 1, i32);
  Expression element = numbersAlong(layers, extent, axis + 1, x.rank() + 1, i32);
  const Expression &first = reverse ? place : element, &second = reverse ? element : place;
  Expression counts = exclusive ? less(first, second) : lessEqual(first, second);
  Expression terms = select(counts, x.unsqueeze(axis), kind == nn::ReduceKind::Prod ? 1 : 0);
  return reduce(kind, terms, {axis + 1}, /*keepdims=*/false);
}

} // namespace wsc::import
