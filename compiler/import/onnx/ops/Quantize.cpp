// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantised tensors: q = round(x / scale) + zero point, saturated, and x = (q - zero point)·scale. Products of
// quantised tensors are exact in i32.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/StorageCasts.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Quantized.h"
#include "compiler/import/onnx/ops/Windows.h"
#include "dialects/nn/Shape.h"
#include "dialects/nn/Storage.h"
#include <cmath>

namespace wsc::import {

/// A scale or zero point in the shape of x as far as broadcasting needs it: one number, one per place of `axis`, or one
/// per block of `block` places of it.
static Expression alongAxis(NodeContext &node, const Expression &parameter, const Expression &x, int64_t axis,
                            int64_t block) {
  if (node.failed() || !parameter || parameter.size() == 1)
    return parameter ? parameter.reshape({}) : parameter;
  axis = node.normalizedAxis(axis, x.rank());
  if (node.failed())
    return parameter;
  llvm::SmallVector<int64_t> shape(x.rank(), 1);
  if (parameter.rank() == 1 && parameter.shape()[0] == x.shape()[axis]) {
    shape[axis] = x.shape()[axis];
    return parameter.reshape(shape);
  }
  bool isBlocked = block > 0 && block <= nn::maxExtent && parameter.rank() == x.rank() &&
                   parameter.shape()[axis] * block >= x.shape()[axis];
  if (!isBlocked) {
    node.fail(absl::StrCat("scale or zero point ", nn::formatShape(parameter.shape()), " with axis ", axis,
                           " and block_size ", block, " does not fit ", nn::formatShape(x.shape())));
    return parameter;
  }
  Expression split = parameter.unsqueeze(axis + 1);
  if (node.failed())
    return parameter;
  llvm::SmallVector<int64_t> repeated(split.shape()), joined(parameter.shape());
  repeated[axis + 1] = block;
  joined[axis] *= block;
  return split.broadcast(repeated).reshape(joined).slice(axis, 0, x.shape()[axis]);
}

Expression quantized(const Expression &x, const Expression &scale, const Expression &zeroPoint, mlir::Type element,
                     bool saturate) {
  const bool isFloat = mlir::isa_and_nonnull<mlir::FloatType>(element);
  Expression y = isFloat ? x / scale : round(x / scale);
  if (zeroPoint)
    y = y + zeroPoint.cast(y.elementType());
  StorageRounding rounding;
  rounding.saturate = saturate;
  if (!isFloat && nn::isStorage(element)) { // the cast keeps low bits
    const int width = static_cast<int>(element.getIntOrFloatBitWidth()), sign = element.isUnsignedInteger() ? 0 : 1;
    const double low = -sign * std::ldexp(1, width - 1), high = std::ldexp(1, width - sign) - 1;
    return maximum(minimum(y, high), low).cast(element);
  }
  return isFloat && nn::isStorage(element) ? castStorage(y, element, rounding) : y.cast(element);
}

static Expression asI32(const Expression &x) { return x.cast(x.layers().builder().getI32Type()); }
Expression centred(const Expression &x, const Expression &zeroPoint) {
  return zeroPoint ? asI32(x) - asI32(zeroPoint) : asI32(x);
}

/// Whether nothing has to be taken away.
static bool isZero(const Expression &zeroPoint) {
  if (!zeroPoint)
    return true;
  std::optional<Literal> literal = zeroPoint.layers().literal(zeroPoint);
  return literal && std::all_of(literal->ints.begin(), literal->ints.end(), [](int64_t value) { return value == 0; });
}

Factors centredFactors(const Expression &a, const Expression &aZero, const Expression &b, const Expression &bZero) {
  LayerBuilder &layers = a.layers();
  auto bits = [](const Expression &x) {
    return x.elementType().isIntOrFloat() ? x.elementType().getIntOrFloatBitWidth() : 0;
  };
  if (layers.failed() || bits(a) > 8 || bits(b) > 8)
    return {centred(a, aZero), centred(b, bZero)};
  if (a.elementType() == b.elementType() && bits(a) == 8 && isZero(aZero) && isZero(bZero))
    return {asI32(a), asI32(b)};
  mlir::Type i16 = layers.builder().getIntegerType(16);
  auto narrow = [&](const Expression &x, const Expression &zero) {
    return asI32(isZero(zero) ? x.cast(i16) : x.cast(i16) - zero.cast(i16));
  };
  return {narrow(a, aZero), narrow(b, bZero)};
}

std::optional<IntegerProduct> integerProduct(LayerBuilder &layers, const Tensor &a, const Tensor &b, int64_t channels,
                                             int64_t terms) {
  constexpr int64_t mostTerms = (int64_t{1} << 31) / (255 * 255) - 1;
  const Quantised *left = layers.quantisedOf(a), *right = layers.quantisedOf(b);
  if (layers.failed() || !left || !right || terms > mostTerms || !a.elementType().isF32() || !b.elementType().isF32())
    return std::nullopt;
  auto isOne = [](const Tensor &tensor) { return !tensor || tensor.type.getNumElements() == 1; };
  auto fits = [&](const Tensor &tensor) {
    return isOne(tensor) || (tensor.rank() == 1 && right->axis == channels &&
                             tensor.shape()[0] == b.shape()[static_cast<size_t>(channels)]);
  };
  if (!isOne(left->scale) || !isOne(left->zeroPoint) || !fits(right->scale) || !fits(right->zeroPoint))
    return std::nullopt;
  auto number = [&](const Tensor &tensor) {
    Expression x(layers, tensor);
    return tensor && isOne(tensor) ? x.reshape({}) : x;
  };
  Expression rightZero = number(right->zeroPoint);
  if (!isOne(right->zeroPoint)) {
    llvm::SmallVector<int64_t> shape(static_cast<size_t>(b.rank()), 1);
    shape[static_cast<size_t>(channels)] = rightZero.size();
    rightZero = rightZero.reshape(shape);
  }
  return IntegerProduct{
      centredFactors({layers, left->number}, number(left->zeroPoint), {layers, right->number}, rightZero),
      number(left->scale) * number(right->scale)};
}

Expression dequantized(const Expression &x, const Expression &scale, const Expression &zeroPoint) {
  Expression wide = widened(scale);
  return centred(x, zeroPoint).cast(wide.elementType()) * wide;
}

static void quantizeLinear(NodeContext &node) {
  Expression x = node.in(0);
  int64_t axis = node.intAttribute("axis", 1), block = node.intAttribute("block_size", 0);
  node.ignoreAttributes({"precision"}); // of the division, which f32 has anyway
  bool saturate = node.intAttribute("saturate", 1) != 0;
  int64_t declared = node.intAttribute("output_dtype", 0);
  mlir::Type element = node.layers.builder().getIntegerType(8, /*isSigned=*/false);
  if (node.hasInput(2)) {
    element = node.input(2).elementType();
  } else if (declared != 0) {
    auto type = elementType(*node.layers.builder().getContext(), static_cast<int>(declared));
    if (!type.ok())
      return node.layers.fail(type.status());
    element = *type;
  }
  mlir::Type f32 = node.layers.builder().getF32Type();
  Expression wide = x.elementType().isF64() ? x : x.cast(f32);
  Expression scale = alongAxis(node, node.in(1), x, axis, block).cast(wide.elementType());
  node.setResult(quantized(wide, scale, alongAxis(node, node.in(2), x, axis, block), element, saturate));
}

static void dequantizeLinear(NodeContext &node) {
  Expression x = node.in(0);
  int64_t axis = node.intAttribute("axis", 1), block = node.intAttribute("block_size", 0);
  int64_t declared = node.intAttribute("output_dtype", 0);
  Expression scale = alongAxis(node, node.in(1), x, axis, block);
  mlir::Type element = scale.elementType();
  if (declared != 0) {
    auto type = elementType(*node.layers.builder().getContext(), static_cast<int>(declared));
    if (!type.ok())
      return node.layers.fail(type.status());
    element = *type;
  }
  Expression wide = widened(scale), zeroPoint = alongAxis(node, node.in(2), x, axis, block);
  Expression number = x;
  if (x.isFloat())
    number = zeroPoint ? x.cast(wide.elementType()) - zeroPoint.cast(wide.elementType()) : x;
  else
    number = centred(x, zeroPoint);
  Expression y = (number.cast(wide.elementType()) * wide).cast(element);
  const bool isNarrow =
      !node.failed() && mlir::isa<mlir::IntegerType>(x.elementType()) && x.elementType().getIntOrFloatBitWidth() <= 8;
  if (isNarrow && element == scale.elementType()) {
    const bool isOne = scale.size() == 1 && (!zeroPoint || zeroPoint.size() == 1);
    node.layers.setQuantised(y, {x, node.input(1), node.input(2), isOne ? 0 : node.normalizedAxis(axis, x.rank())});
  }
  node.setResult(y);
}

/// Scale and zero point such that [min(x, 0), max(x, 0)] fills 0 … 255.
static void dynamicQuantizeLinear(NodeContext &node) {
  Expression x = node.in(0);
  llvm::SmallVector<int64_t> axes = axesBetween(0, x.rank());
  Expression low = minimum(minOver(x, axes, /*keepdims=*/false), 0);
  Expression high = maximum(maxOver(x, axes, /*keepdims=*/false), 0);
  Expression scale = (high - low) / 255;
  mlir::Type byte = node.layers.builder().getIntegerType(8, /*isSigned=*/false);
  Expression zeroPoint = round(minimum(maximum(-low / scale, 0), 255)).cast(byte);
  node.setResult(0, quantized(x, scale, zeroPoint, byte));
  node.setResult(1, scale);
  node.setResult(2, zeroPoint);
}

/// A zero point of the left factor has one number, or one per row.
static Expression perRow(const Expression &zeroPoint) {
  return zeroPoint && zeroPoint.rank() == 1 && zeroPoint.size() != 1 ? zeroPoint.unsqueeze(1) : zeroPoint;
}

static void matMulInteger(NodeContext &node) {
  Factors factors = centredFactors(node.in(0), perRow(node.in(2)), node.in(1), node.in(3));
  node.setResult(matmul(factors.a, factors.b));
}

static void qLinearMatMul(NodeContext &node) {
  mlir::Type f32 = node.layers.builder().getF32Type();
  Factors factors = centredFactors(node.in(0), perRow(node.in(2)), node.in(3), node.in(5));
  Expression product = matmul(factors.a, factors.b);
  Expression scale = perRow(node.in(1)).cast(f32) * node.in(4).cast(f32) / node.in(6).cast(f32);
  Expression y = round(product.cast(f32) * scale) + node.in(7).cast(f32);
  node.setResult(y.cast(node.in(7).elementType()));
}

/// One number, or one per output channel of a tensor of `rank` dimensions.
static Expression perChannel(const Expression &parameter, int64_t axis, int64_t rank) {
  if (!parameter || parameter.layers().failed() || parameter.size() == 1)
    return parameter ? parameter.reshape({}) : parameter;
  llvm::SmallVector<int64_t> shape(rank, 1);
  shape[axis] = parameter.size();
  return parameter.reshape(shape);
}

/// Convolution of centred integers; padding is the zero point, which is 0 then.
static Expression integerConvolution(NodeContext &node, const Expression &x, const Expression &xZero,
                                     const Expression &weight, const Expression &weightZero, const Tensor &bias) {
  int64_t groups = node.intAttribute("group", 1);
  if (weight.rank() != x.rank() || x.rank() < 3) {
    node.fail(absl::StrCat("input ", nn::formatShape(x.shape()), " and weight ", nn::formatShape(weight.shape()),
                           " must have the same rank, 3 or more"));
    return x;
  }
  SpatialWindow window = readWindow(node, x, readKernel(node, weight.shape().drop_front(2)), /*pooling=*/false);
  if (node.failed())
    return x;
  Factors factors = centredFactors(x, xZero, weight, perChannel(weightZero, 0, weight.rank()));
  return convolve(factors.a, factors.b, bias, window.window, groups);
}

static void convInteger(NodeContext &node) {
  node.setResult(integerConvolution(node, node.in(0), node.in(2), node.in(1), node.in(3), {}));
}

static void qLinearConv(NodeContext &node) {
  mlir::Type f32 = node.layers.builder().getF32Type();
  Expression sum = integerConvolution(node, node.in(0), node.in(2), node.in(3), node.in(5), node.input(8));
  Expression scale = node.in(1).cast(f32) * perChannel(node.in(4), 1, sum.rank()).cast(f32) / node.in(6).cast(f32);
  node.setResult((round(sum.cast(f32) * scale) + node.in(7).cast(f32)).cast(node.in(7).elementType()));
}

static const Operator table[] = {
    {"QuantizeLinear", 10, newestOpset, 2, 3, quantizeLinear},
    {"DequantizeLinear", 10, newestOpset, 2, 3, dequantizeLinear},
    {"DynamicQuantizeLinear", 11, newestOpset, 1, 1, dynamicQuantizeLinear},
    {"MatMulInteger", 10, newestOpset, 2, 4, matMulInteger},
    {"QLinearMatMul", 10, newestOpset, 8, 8, qLinearMatMul},
    {"ConvInteger", 10, newestOpset, 2, 4, convInteger},
    {"QLinearConv", 10, newestOpset, 8, 9, qLinearConv},
    {"QuantizeLinear", 1, 1, 2, 3, quantizeLinear, "com.microsoft"},
    {"DequantizeLinear", 1, 1, 2, 3, dequantizeLinear, "com.microsoft"},
};
llvm::ArrayRef<Operator> quantizeOperators() { return table; }

} // namespace wsc::import
