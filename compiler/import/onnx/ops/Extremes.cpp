// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ArgMax, ArgMin, TopK.
#include "compiler/import/common/Extremes.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"

namespace wsc::import {

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
  if (count == 0)
    return node.unsupported("k = 0 is not supported");
  Sorted sorted = sortedAlong(x, axis, count, largest);
  node.setResult(0, sorted.values);
  node.setResult(1, sorted.numbers.cast(layers.builder().getI64Type()));
}

static const Operator table[] = {
    {"ArgMax", 1, newestOpset, 1, 1, argExtreme<true>},
    {"ArgMin", 1, newestOpset, 1, 1, argExtreme<false>},
    {"TopK", 1, 9, 1, 1, topK, "", "k is known and not 0 as input"},
    {"TopK", 10, newestOpset, 2, 2, topK, "", "k is known and not 0 as input"},
};
llvm::ArrayRef<Operator> extremeOperators() { return table; }

} // namespace wsc::import
