// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ArgMax, ArgMin, TopK. The number of an extreme element is the least (or greatest) number among the elements equal to
// the extreme. Sorting counts for each element how many come before it, which is its place.
#include "compiler/import/onnx/ops/Extremes.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"

namespace wsc::import {

Expression numbersAlong(LayerBuilder &layers, int64_t count, int64_t axis, int64_t rank, mlir::Type element) {
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

template <bool greatest> static void argExtreme(NodeContext &node) {
  Expression x = node.in(0);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", 0), x.rank());
  bool keepdims = node.intAttribute("keepdims", 1) != 0;
  bool last = node.opset() >= 12 && node.intAttribute("select_last_index", 0) != 0;
  if (node.failed())
    return;
  if (x.shape()[axis] == 0)
    return node.fail(absl::StrCat("axis ", axis, " has no elements to choose from"));
  Expression index = extremeIndex(x, axis, greatest, last);
  index = keepdims ? index : index.squeeze(axis);
  node.setResult(index.cast(node.layers.builder().getI64Type()));
}

/// The element in place r is the one before which r others come; of equal ones the first comes first.
static void topK(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", -1), x.rank());
  bool largest = node.opset() < 11 || node.intAttribute("largest", 1) != 0;
  node.ignoreAttributes({"sorted"}); // without it any order will do
  int64_t count = node.opset() < 10 ? node.intAttribute("k", 0) : node.constantInt(1, "k");
  if (node.failed())
    return;
  int64_t extent = x.shape()[axis];
  if (count < 0 || count > extent)
    return node.fail(absl::StrCat("k = ", count, " is outside [0, ", extent, "], the extent of axis ", axis));
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
  if (count == 0)
    return node.unsupported("k = 0 is not supported");
  node.setResult(0, maxOver(values, {axis + 1}, /*keepdims=*/false));
  node.setResult(1, maxOver(numbers, {axis + 1}, /*keepdims=*/false).cast(layers.builder().getI64Type()));
}

static const Operator table[] = {
    {"ArgMax", 1, newestOpset, 1, 1, argExtreme<true>},
    {"ArgMin", 1, newestOpset, 1, 1, argExtreme<false>},
    {"TopK", 1, 9, 1, 1, topK, "", "k is known and not 0 as input"},
    {"TopK", 10, newestOpset, 2, 2, topK, "", "k is known and not 0 as input"},
};
llvm::ArrayRef<Operator> extremeOperators() { return table; }

} // namespace wsc::import
