// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Det: Gaussian elimination with partial pivoting, unrolled over the columns. The pivot's row is picked by selection,
// and the row it changes places with is put where it was.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

static void det(NodeContext &node) {
  constexpr int64_t largest = 64;
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0);
  if (x.rank() < 2 || x.shape()[x.rank() - 1] != x.shape()[x.rank() - 2])
    return node.fail(absl::StrCat("needs square matrices, found ", nn::formatShape(x.shape())));
  int64_t n = x.shape().back(), count = productOf(x.shape().drop_back(2));
  if (n < 1 || n > largest)
    return node.unsupported(absl::StrCat("matrices of ", n, " rows are not supported; 1 to ", largest, " are"));
  Expression rest = widened(x).reshape({count, n, n});
  Expression result = rest.number(1).broadcast({count, 1, 1});
  for (; n > 1 && !node.failed(); --n) {
    // Row 0 takes the place of the pivot's row.
    Expression column = rest.slice(2, 0, 1);
    Expression best = extremeIndex(abs(column), 1, /*greatest=*/true, /*last=*/false);
    Expression isPivot = equal(best, numbersAlong(layers, n, 1, 3, best.elementType()));
    Expression row = sumOver(select(isPivot, rest, 0), {1});
    Expression pivot = row.slice(2, 0, 1);
    result = result * select(equal(best, 0), pivot, -pivot);
    Expression below = select(isPivot, rest.slice(1, 0, 1), rest).slice(1, 1, n - 1);
    Expression factor = below.slice(2, 0, 1) / select(equal(pivot, 0), 1, pivot);
    rest = below.slice(2, 1, n - 1) - factor * row.slice(2, 1, n - 1);
  }
  llvm::SmallVector<int64_t> shape(x.shape().drop_back(2));
  node.setResult((result * rest).reshape(shape).cast(x.elementType()));
}

static const Operator table[] = {{"Det", 11, newestOpset, 1, 1, det, "", "up to 64 rows"}};
llvm::ArrayRef<Operator> determinantOperators() { return table; }

} // namespace wsc::import
