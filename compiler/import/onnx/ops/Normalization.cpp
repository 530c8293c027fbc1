// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalisation layers: batch normalisation stays whole, the others decompose into means over axes.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

using nn::BinaryKind;
using nn::ReduceKind;
using nn::UnaryKind;

static void batchNormalization(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs", "momentum"});
  double epsilon = node.floatAttribute("epsilon", 1e-5);
  if (node.opset() >= 14 && node.intAttribute("training_mode", 0) != 0)
    return node.unsupported("training_mode is not supported; export the model for inference");
  if (node.opset() < 7 && node.intAttribute("is_test", 0) == 0)
    return node.unsupported("is_test = 0 (training) is not supported; export the model for inference");
  if (node.opset() < 9 && node.intAttribute("spatial", 1) == 0)
    return node.unsupported("spatial = 0 is not supported");
  node.setResult(node.layers.batchNorm(node.input(0), node.input(1), node.input(2), node.input(3), node.input(4), epsilon));
}

/// (x - mean) / sqrt(variance + epsilon) over axes.
static Tensor normalizeOver(LayerBuilder &layers, const Tensor &x, llvm::ArrayRef<int64_t> axes, double epsilon) {
  Tensor centred = layers.binary(BinaryKind::Sub, x, layers.reduce(ReduceKind::Mean, x, axes, true));
  Tensor variance = layers.reduce(ReduceKind::Mean, layers.binary(BinaryKind::Mul, centred, centred), axes, true);
  Tensor scale = layers.unary(UnaryKind::Rsqrt, layers.binary(BinaryKind::Add, variance, epsilon));
  return layers.binary(BinaryKind::Mul, centred, scale);
}

static void instanceNormalization(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  LayerBuilder &layers = node.layers;
  double epsilon = node.floatAttribute("epsilon", 1e-5);
  Tensor x = node.input(0), scale = node.input(1), bias = node.input(2);
  if (x.rank() < 3)
    return node.fail("needs a tensor with spatial dimensions, rank 3 or more");
  llvm::SmallVector<int64_t> axes, perChannel(x.rank() - 1, 1);
  for (int64_t d = 2; d < x.rank(); ++d)
    axes.push_back(d);
  perChannel[0] = x.shape()[1];
  Tensor y = normalizeOver(layers, x, axes, epsilon);
  y = layers.binary(BinaryKind::Mul, y, layers.reshape(scale, perChannel));
  node.setResult(layers.binary(BinaryKind::Add, y, layers.reshape(bias, perChannel)));
}

static void layerNormalization(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  double epsilon = node.floatAttribute("epsilon", 1e-5);
  Tensor x = node.input(0);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", -1), x.rank());
  int64_t stash = node.intAttribute("stash_type", 1);
  if (node.failed())
    return;
  auto stashType = elementType(*layers.builder().getContext(), static_cast<int>(stash));
  if (!stashType.ok() || !mlir::isa<mlir::FloatType>(*stashType))
    return node.fail(absl::StrCat("stash_type ", stash, " is no float type"));
  llvm::SmallVector<int64_t> axes;
  for (int64_t d = axis; d < x.rank(); ++d)
    axes.push_back(d);
  // The statistics are taken in the stash type, scale and bias in the input's.
  Tensor y = layers.cast(normalizeOver(layers, layers.cast(x, *stashType), axes, epsilon), x.elementType());
  y = layers.binary(BinaryKind::Mul, y, node.input(1));
  node.setResult(node.hasInput(2) ? layers.binary(BinaryKind::Add, y, node.input(2)) : y);
}

/// x / (bias + alpha/size · Σ x²)^beta over a window of channels. The sum over channels, divided by the window, is an average pool over
/// [N, 1, C, H·W] that counts its padding.
static void lrn(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  double alpha = node.floatAttribute("alpha", 1e-4), beta = node.floatAttribute("beta", 0.75);
  double bias = node.floatAttribute("bias", 1.0);
  int64_t size = node.intAttribute("size", 0);
  Tensor x = node.input(0);
  if (x.rank() < 2 || size < 1 || size >= (int64_t{1} << 31))
    return node.fail(absl::StrCat("needs [N, C, …] and a size of 1 or more, found ", nn::formatShape(x.shape()), " and ", size));
  int64_t spatial = 1;
  for (int64_t extent : x.shape().drop_front(2))
    spatial *= extent;
  Window window;
  window.pads = {(size - 1) / 2, 0, size - 1 - (size - 1) / 2, 0};
  Tensor square = layers.reshape(layers.binary(BinaryKind::Mul, x, x), {x.shape()[0], 1, x.shape()[1], spatial});
  Tensor average = layers.reshape(layers.pool(nn::PoolKind::Avg, square, {size, 1}, window, true), x.shape());
  Tensor base = layers.binary(BinaryKind::Add, layers.binary(BinaryKind::Mul, average, alpha), bias);
  node.setResult(layers.binary(BinaryKind::Div, x, layers.binary(BinaryKind::Pow, base, beta)));
}

static const Operator table[] = {
    {"BatchNormalization", 1, newestOpset, 5, 5, batchNormalization},
    {"InstanceNormalization", 1, newestOpset, 3, 3, instanceNormalization},
    {"LayerNormalization", 17, newestOpset, 2, 3, layerNormalization},
    {"LRN", 1, newestOpset, 1, 1, lrn},
};
llvm::ArrayRef<Operator> normalizationOperators() { return table; }

} // namespace wsc::import
