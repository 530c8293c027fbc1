// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conv with one or two spatial dimensions.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Windows.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

static void conv(NodeContext &node) {
  Tensor x = node.input(0), weight = node.input(1);
  int64_t groups = node.intAttribute("group", 1);
  if (weight.rank() != x.rank() || x.rank() < 3)
    return node.fail(absl::StrCat("input ", nn::formatShape(x.shape()), " and weight ", nn::formatShape(weight.shape()),
                                  " must have the same rank, 3 or more"));
  std::vector<int64_t> kernel(weight.shape().begin() + 2, weight.shape().end());
  if (auto declared = node.intsAttribute("kernel_shape"); !declared.empty() && declared != kernel)
    return node.fail(absl::StrCat("kernel_shape ", nn::formatShape(declared), " differs from the weight's ",
                                  nn::formatShape(kernel)));
  SpatialWindow window = readWindow(node, x, kernel, /*pooling=*/false);
  if (node.failed())
    return;
  Tensor y = node.layers.conv(liftSpatial(node, x), liftSpatial(node, weight), node.input(2), window.window, groups);
  node.setResult(lowerSpatial(node, y, x));
}

static const Operator table[] = {{"Conv", 1, newestOpset, 2, 3, conv}};
llvm::ArrayRef<Operator> convOperators() { return table; }

} // namespace wsc::import
