// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gemm and MatMul. alpha and beta become multiplications (exact on small constants, so a folded bias costs nothing); a
// vector C becomes the bias of nn.matmul, a matrix C an addition. Of matrices made from whole numbers, the numbers are
// multiplied.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Quantized.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

static void gemm(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Tensor a = node.input(0), b = node.input(1), c = node.input(2);
  double alpha = node.floatAttribute("alpha", 1.0), beta = node.floatAttribute("beta", 1.0);
  bool transposeA = node.intAttribute("transA", 0) != 0, transposeB = node.intAttribute("transB", 0) != 0;
  node.ignoreAttributes({"broadcast"}); // opset 6 and before; later rules allow all it allowed
  if (a.rank() != 2 || b.rank() != 2)
    return node.fail(
        absl::StrCat("needs two matrices, found ", nn::formatShape(a.shape()), " and ", nn::formatShape(b.shape())));
  auto product = integerProduct(layers, a, b, transposeB ? 0 : 1, a.shape()[transposeA ? 0 : 1]);
  if (product) {
    a = product->factors.a;
    b = product->factors.b;
  }
  if (transposeA)
    a = layers.transpose(a, {1, 0});
  if (beta == 0.0)
    c = {};
  if (c && beta != 1.0)
    c = layers.binary(nn::BinaryKind::Mul, c, beta);
  int64_t columns = b.shape()[transposeB ? 0 : 1];
  Tensor bias;
  bool isRow = c && (c.rank() <= 1 || (c.rank() == 2 && c.shape()[0] == 1));
  if (isRow && !product && alpha == 1.0 && c.shape().size() > 0 && c.shape().back() == columns) {
    bias = layers.reshape(c, {columns});
    c = {};
  }
  Tensor y = layers.matmul(a, b, bias, transposeB);
  if (product)
    y = Expression(layers, y).cast(product->scale.elementType()) * product->scale;
  if (alpha != 1.0)
    y = layers.binary(nn::BinaryKind::Mul, y, alpha);
  if (c && y) {
    auto joined = nn::broadcastShapes(c.shape(), y.shape());
    if (!joined || llvm::ArrayRef<int64_t>(*joined) != y.shape())
      return node.fail(
          absl::StrCat("C ", nn::formatShape(c.shape()), " does not broadcast to ", nn::formatShape(y.shape())));
    y = layers.binary(nn::BinaryKind::Add, y, c);
  }
  node.setResult(y);
}

/// Vectors are rows on the left and columns on the right; the dimension added goes away again.
static void matmul(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Tensor a = node.input(0), b = node.input(1);
  if (a.rank() == 0 || b.rank() == 0)
    return node.fail("scalars have no matrix product");
  if (auto product = integerProduct(layers, a, b, b.rank() - 1, a.shape().back());
      product && a.rank() > 1 && b.rank() > 1) {
    Expression sum = wsc::import::matmul(product->factors.a, product->factors.b);
    return node.setResult(sum.cast(product->scale.elementType()) * product->scale);
  }
  bool vectorA = a.rank() == 1, vectorB = b.rank() == 1;
  if (vectorA)
    a = layers.reshape(a, {1, a.shape()[0]});
  if (vectorB)
    b = layers.reshape(b, {b.shape()[0], 1});
  Tensor y = layers.matmul(a, b, {}, false);
  if (y && (vectorA || vectorB)) {
    llvm::SmallVector<int64_t> shape(y.shape());
    if (vectorB)
      shape.pop_back();
    if (vectorA)
      shape.erase(shape.end() - (vectorB ? 1 : 2));
    y = layers.reshape(y, shape);
  }
  node.setResult(y);
}

static const Operator table[] = {
    {"Gemm", 1, newestOpset, 2, 3, gemm},
    {"MatMul", 1, newestOpset, 2, 2, matmul},
};
llvm::ArrayRef<Operator> gemmOperators() { return table; }

} // namespace wsc::import
