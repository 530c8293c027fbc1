// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax, its logarithm and Hardmax. Until opset 12 the tensor counts as a matrix, dimensions from `axis` on being its
// columns; since 13 one axis is meant.
#include "compiler/import/common/Extremes.h"
#include "compiler/import/onnx/Registry.h"

namespace wsc::import {

/// Applies function(tensor, axis) in either form.
template <typename Function> static void alongAxis(NodeContext &node, Function function) {
  Expression x = node.in(0);
  bool flattens = node.opset() < 13;
  int64_t axis = node.intAttribute("axis", flattens ? 1 : -1);
  if (!flattens || axis != x.rank()) // as an end of the rows the rank is allowed
    axis = node.normalizedAxis(axis, x.rank());
  if (node.failed())
    return;
  if (!flattens || axis == x.rank() - 1)
    return node.setResult(function(x, axis));
  int64_t rows = 1, columns = 1;
  for (int64_t d = 0; d < x.rank(); ++d)
    (d < axis ? rows : columns) *= x.shape()[d];
  node.setResult(function(x.reshape({rows, columns}), 1).reshape(x.shape()));
}

template <bool log> static void softmaxOf(NodeContext &node) {
  alongAxis(node, [](const Expression &x, int64_t axis) { return softmax(x, axis, log); });
}

/// 1 at the first greatest element, 0 elsewhere.
static void hardmax(NodeContext &node) {
  alongAxis(node, [](const Expression &x, int64_t axis) {
    Expression best = extremeIndex(x, axis, /*greatest=*/true, /*last=*/false);
    return equal(best, numbersAlong(x.layers(), x.shape()[axis], axis, x.rank(), best.elementType()))
        .cast(x.elementType());
  });
}

static const Operator table[] = {
    {"Softmax", 1, newestOpset, 1, 1, softmaxOf<false>},
    {"LogSoftmax", 1, newestOpset, 1, 1, softmaxOf<true>},
    {"Hardmax", 1, newestOpset, 1, 1, hardmax},
};
llvm::ArrayRef<Operator> softmaxOperators() { return table; }

} // namespace wsc::import
