// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running sums and products: the reduction, for each place, of the elements up to it; those behind count as neutral.
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Extremes.h"

namespace wsc::import {

template <nn::ReduceKind kind> static void scan(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0);
  bool exclusive = node.intAttribute("exclusive", 0) != 0, reverse = node.intAttribute("reverse", 0) != 0;
  int64_t axis = node.normalizedAxis(node.constantInt(1, "axis"), x.rank());
  if (node.failed())
    return;
  // [.., place, element, ..]
  mlir::Type i32 = layers.builder().getI32Type();
  int64_t extent = x.shape()[axis];
  Expression place = numbersAlong(layers, extent, axis, x.rank() + 1, i32);
  Expression element = numbersAlong(layers, extent, axis + 1, x.rank() + 1, i32);
  const Expression &first = reverse ? place : element, &second = reverse ? element : place;
  Expression counts = exclusive ? less(first, second) : lessEqual(first, second);
  Expression terms = select(counts, x.unsqueeze(axis), kind == nn::ReduceKind::Prod ? 1 : 0);
  node.setResult(reduce(kind, terms, {axis + 1}, /*keepdims=*/false));
}

static const Operator table[] = {
    {"CumSum", 11, newestOpset, 2, 2, scan<nn::ReduceKind::Sum>, "", "axis is known"},
    {"CumProd", 26, newestOpset, 2, 2, scan<nn::ReduceKind::Prod>, "", "axis is known"},
};
llvm::ArrayRef<Operator> scanOperators() { return table; }

} // namespace wsc::import
