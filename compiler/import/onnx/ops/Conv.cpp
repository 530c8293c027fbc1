// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conv, over any number of spatial dimensions. Of tensors made from whole numbers, the numbers are convolved.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Quantized.h"
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
  if (node.failed())
    return x;
  auto product = integerProduct(node.layers, x, weight, 0, productOf(weight.shape().drop_front(1)));
  if (!product)
    return convolve(x, weight, node.input(2), window.window, groups);
  Expression sum = convolve(product->factors.a, product->factors.b, {}, window.window, groups).cast(x.elementType());
  auto alongChannels = [&](const Expression &values) {
    llvm::SmallVector<int64_t> shape(x.rank(), 1);
    shape[1] = values.size();
    return values.reshape(shape);
  };
  Expression y = sum * alongChannels(product->scale);
  return node.hasInput(2) ? y + alongChannels(node.in(2)) : y;
}

static void conv(NodeContext &node) { node.setResult(convolution(node)); }

static const Operator table[] = {{"Conv", 1, newestOpset, 2, 3, conv}};
llvm::ArrayRef<Operator> convOperators() { return table; }

} // namespace wsc::import
