// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conv, over any number of spatial dimensions.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Windows.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

Expression convolution(NodeContext &node) {
  Expression x = node.in(0), weight = node.in(1);
  int64_t groups = node.intAttribute("group", 1);
  if (weight.rank() != x.rank() || x.rank() < 3) {
    node.fail(absl::StrCat("input ", nn::formatShape(x.shape()), " and weight ", nn::formatShape(weight.shape()),
                           " must have the same rank, 3 or more"));
    return x;
  }
  SpatialWindow window = readWindow(node, x, readKernel(node, weight.shape().drop_front(2)), /*pooling=*/false);
  return node.failed() ? x : convolve(x, weight, node.input(2), window.window, groups);
}

static void conv(NodeContext &node) { node.setResult(convolution(node)); }

static const Operator table[] = {{"Conv", 1, newestOpset, 2, 3, conv}};
llvm::ArrayRef<Operator> convOperators() { return table; }

} // namespace wsc::import
