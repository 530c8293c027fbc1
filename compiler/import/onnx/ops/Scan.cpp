// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running sums and products.
#include "compiler/import/common/Extremes.h"
#include "compiler/import/onnx/Registry.h"

namespace wsc::import {

template <nn::ReduceKind kind> static void scan(NodeContext &node) {
  Expression x = node.in(0);
  bool exclusive = node.intAttribute("exclusive", 0) != 0, reverse = node.intAttribute("reverse", 0) != 0;
  int64_t axis = node.normalizedAxis(node.constantInt(1, "axis"), x.rank());
  if (node.failed())
    return;
  node.setResult(running(kind, x, axis, exclusive, reverse));
}

static const Operator table[] = {
    {"CumSum", 11, newestOpset, 2, 2, scan<nn::ReduceKind::Sum>, "", "axis is known"},
    {"CumProd", 26, newestOpset, 2, 2, scan<nn::ReduceKind::Prod>, "", "axis is known"},
};
llvm::ArrayRef<Operator> scanOperators() { return table; }

} // namespace wsc::import
