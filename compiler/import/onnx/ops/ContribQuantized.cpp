// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantised operators of com.microsoft: operands become numbers, the function is applied, the result is quantised.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Quantized.h"
#include "compiler/import/onnx/ops/Windows.h"

namespace wsc::import {
namespace {

/// Inputs i, i + 1 and i + 2 (tensor, scale, zero point, which may be left out) as numbers.
Expression operand(NodeContext &node, size_t i) {
  if (!node.hasInput(i) || !node.hasInput(i + 1))
    node.fail(absl::StrCat("inputs ", i, " and ", i + 1, ", a tensor and its scale, are missing"));
  return dequantized(node.in(i), node.in(i + 1), node.in(i + 2));
}

/// Quantised with inputs i and i + 1 to the type of the zero point, or of `like` where that is left out.
Expression result(NodeContext &node, const Expression &y, size_t i, const Expression &like) {
  if (!node.hasInput(i))
    node.fail(absl::StrCat("input ", i, ", the scale of the result, is missing"));
  if (node.failed())
    return y;
  Expression zeroPoint = node.in(i + 1);
  return quantized(y, node.in(i), zeroPoint, (zeroPoint ? zeroPoint : like).elementType());
}

void addOf(NodeContext &node) { node.setResult(result(node, operand(node, 0) + operand(node, 3), 6, node.in(0))); }

/// Halves are rounded with the zero point added, as ONNX Runtime has it of products.
void mulOf(NodeContext &node) {
  Expression product = operand(node, 0) * operand(node, 3);
  if (!node.hasInput(6))
    node.fail("input 6, the scale of the result, is missing");
  if (node.failed())
    return;
  Expression y = product / node.in(6), zeroPoint = node.in(7);
  mlir::Type element = (zeroPoint ? zeroPoint : node.in(0)).elementType();
  node.setResult(round(zeroPoint ? y + zeroPoint.cast(y.elementType()) : y).cast(element));
}

void sigmoidOf(NodeContext &node) { node.setResult(result(node, sigmoid(operand(node, 0)), 3, node.in(0))); }

void leakyRelu(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 0.01);
  Expression x = operand(node, 0);
  node.setResult(result(node, select(less(x, 0), x * alpha, x), 3, node.in(0)));
}

void softmaxOf(NodeContext &node) {
  Expression x = operand(node, 0);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", -1), x.rank());
  if (node.intAttribute("opset", 13) < 13)
    return node.unsupported("softmax of all dimensions behind an axis (opset below 13) is not supported");
  if (!node.failed())
    node.setResult(result(node, softmax(x, axis), 3, node.in(0)));
}

/// The channels behind the spatial dimensions brought before them, and back.
Expression channelsFirst(const Expression &x) {
  llvm::SmallVector<int64_t> order{0, x.rank() - 1};
  for (int64_t d = 1; d + 1 < x.rank(); ++d)
    order.push_back(d);
  return x.transpose(order);
}
Expression channelsLast(const Expression &x) {
  llvm::SmallVector<int64_t> order{0};
  for (int64_t d = 2; d < x.rank(); ++d)
    order.push_back(d);
  order.push_back(1);
  return x.transpose(order);
}

template <typename Function> void pooled(NodeContext &node, Function function) {
  const bool last = node.intAttribute("channels_last", 0) != 0;
  Expression x = operand(node, 0);
  if (!node.failed() && x.rank() < 3)
    node.fail("needs a tensor with spatial dimensions, rank 3 or more");
  if (node.failed())
    return;
  Expression y = function(last ? channelsFirst(x) : x);
  if (!node.failed())
    node.setResult(result(node, last ? channelsLast(y) : y, 3, node.in(0)));
}

void globalAveragePool(NodeContext &node) {
  pooled(node, [](const Expression &x) { return meanOver(x, axesBetween(2, x.rank())); });
}

void averagePool(NodeContext &node) {
  bool includesPads = node.intAttribute("count_include_pad", 0) != 0;
  pooled(node, [&](const Expression &x) {
    SpatialWindow window = readWindow(node, x, readKernel(node, {}), /*pooling=*/true);
    if (!node.failed() && window.overhangs())
      node.unsupported("ceil_mode with windows beyond the pads is not supported");
    return node.failed() ? x : poolOver(nn::PoolKind::Avg, x, window, includesPads);
  });
}

void concatOf(NodeContext &node) {
  if (node.inputCount() < 5 || (node.inputCount() - 2) % 3 != 0)
    return node.fail(
        absl::StrCat("needs tensor, scale and zero point for each operand behind those of the result, found ",
                     node.inputCount(), " inputs"));
  llvm::SmallVector<Expression> parts;
  for (size_t i = 2; i < node.inputCount(); i += 3)
    parts.push_back(operand(node, i));
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", 0), parts.front().rank());
  if (!node.failed())
    node.setResult(result(node, concat(parts, axis), 0, node.in(2)));
}

/// alpha·(A - zero)(B - zero)·scales + C, as floats or quantised again.
void qGemm(NodeContext &node) {
  for (size_t i : {1, 3, 4})
    if (!node.hasInput(i))
      return node.fail(absl::StrCat("input ", i, " is missing"));
  double alpha = node.floatAttribute("alpha", 1);
  Expression x = node.in(0), bZero = node.in(5);
  if (node.intAttribute("transA", 0) != 0)
    x = x.transposed();
  const bool transposeB = node.intAttribute("transB", 0) != 0;
  if (bZero && bZero.rank() == 1 && transposeB && bZero.size() > 1)
    bZero = bZero.unsqueeze(1);
  Factors factors = centredFactors(x, node.in(2), node.in(3), bZero);
  Expression sum = matmul(factors.a, factors.b, transposeB);
  if (node.hasInput(6))
    sum = sum + node.in(6);
  mlir::Type f32 = node.layers.builder().getF32Type();
  Expression y = sum.cast(f32) * (node.in(1).cast(f32) * node.in(4).cast(f32) * alpha);
  node.setResult(node.hasInput(7) ? result(node, y, 7, node.in(0)) : y);
}

void matMulIntegerToFloat(NodeContext &node) {
  mlir::Type f32 = node.layers.builder().getF32Type();
  Factors factors = centredFactors(node.in(0), node.in(4), node.in(1), node.in(5));
  Expression product = matmul(factors.a, factors.b);
  Expression y = product.cast(f32) * (node.in(2).cast(f32) * node.in(3).cast(f32));
  node.setResult(node.hasInput(6) ? y + node.in(6) : y);
}

constexpr const char *domain = "com.microsoft";

} // namespace

static const Operator table[] = {
    {"MatMulIntegerToFloat", 1, 1, 4, 7, matMulIntegerToFloat, domain},
    {"QGemm", 1, 1, 2, 9, qGemm, domain},
    {"QLinearAdd", 1, 1, 2, 8, addOf, domain},
    {"QLinearAveragePool", 1, 1, 2, 5, averagePool, domain, "ceil_mode only where windows stay inside of the pads"},
    {"QLinearConcat", 1, 1, 1, anyInputs, concatOf, domain},
    {"QLinearGlobalAveragePool", 1, 1, 2, 5, globalAveragePool, domain},
    {"QLinearLeakyRelu", 1, 1, 2, 5, leakyRelu, domain},
    {"QLinearMul", 1, 1, 2, 8, mulOf, domain},
    {"QLinearSigmoid", 1, 1, 2, 5, sigmoidOf, domain},
    {"QLinearSoftmax", 1, 1, 2, 5, softmaxOf, domain, "opset 13"},
};
llvm::ArrayRef<Operator> contribQuantizedOperators() { return table; }

} // namespace wsc::import
