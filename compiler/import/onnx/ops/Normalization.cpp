// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalisation layers: batch normalisation stays whole, the others decompose into means over axes. Means of 16-bit
// floats are formed in f32.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

/// [C] as [C, 1, …], which broadcasts along dimension 1 of a tensor of `rank` dimensions.
static Expression perChannel(const Expression &parameter, int64_t rank) {
  if (parameter.layers().failed())
    return parameter;
  llvm::SmallVector<int64_t> shape(std::max<int64_t>(rank - 1, 1), 1);
  shape[0] = parameter.size();
  return parameter.reshape(shape);
}

/// Statistics of the sample, and the running ones moved towards them.
static void trainingBatchNormalization(NodeContext &node, double epsilon, double momentum) {
  Expression x = widened(node.in(0));
  llvm::SmallVector<int64_t> axes = otherAxes(x.rank(), {1});
  Expression mean = meanOver(x, axes), variance = meanOver(square(x - mean), axes);
  Expression y = (x - mean) * rsqrt(variance + epsilon) * perChannel(widened(node.in(1)), x.rank()) +
                 perChannel(widened(node.in(2)), x.rank());
  node.setResult(y.cast(node.input(0).elementType()));
  for (size_t i : {1, 2}) {
    Expression running = node.in(2 + i), current = i == 1 ? mean : variance;
    Expression moved = widened(running) * momentum + current.reshape(running.shape()) * (1 - momentum);
    node.setResult(i, moved.cast(running.elementType()));
  }
}

static void batchNormalization(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  double epsilon = node.floatAttribute("epsilon", 1e-5), momentum = node.floatAttribute("momentum", 0.9);
  Expression x = node.in(0);
  if (x.rank() < 2)
    return node.fail(absl::StrCat("needs [N, C, …], found ", nn::formatShape(x.shape())));
  if (node.opset() >= 14 && node.intAttribute("training_mode", 0) != 0)
    return trainingBatchNormalization(node, epsilon, momentum);
  if (node.opset() < 7 && node.intAttribute("is_test", 0) == 0)
    return node.unsupported("is_test = 0 (training) is not supported; export the model for inference");
  if (node.opset() < 9 && node.intAttribute("spatial", 1) == 0)
    return node.unsupported("spatial = 0 is not supported");
  auto parameter = [&](size_t i) { return node.in(i).cast(x.elementType()); };
  node.setResult(node.layers.batchNorm(x, parameter(1), parameter(2), parameter(3), parameter(4), epsilon));
}

static void instanceNormalization(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  double epsilon = node.floatAttribute("epsilon", 1e-5);
  Expression x = node.in(0);
  if (x.rank() < 3)
    return node.fail("needs a tensor with spatial dimensions, rank 3 or more");
  Expression y = normalized(widened(x), axesBetween(2, x.rank()), epsilon).cast(x.elementType());
  node.setResult(y * perChannel(node.in(1), x.rank()) + perChannel(node.in(2), x.rank()));
}

/// Channels in groups, each normalised over its channels and space. Scale and bias are per group until opset 20, then
/// per channel.
static void groupNormalization(NodeContext &node) {
  double epsilon = node.floatAttribute("epsilon", 1e-5);
  int64_t groups = node.intAttribute("num_groups", 0), stash = node.intAttribute("stash_type", 1);
  Expression x = node.in(0);
  if (x.rank() < 2 || groups < 1 || x.shape()[1] % groups != 0)
    return node.fail(
        absl::StrCat("num_groups ", groups, " does not divide the channels of ", nn::formatShape(x.shape())));
  auto stashType = elementType(*node.layers.builder().getContext(), static_cast<int>(stash));
  if (!stashType.ok() || !mlir::isa<mlir::FloatType>(*stashType))
    return node.fail(absl::StrCat("stash_type ", stash, " is no float type"));
  int64_t batch = x.shape()[0], channels = x.shape()[1];
  Expression grouped = x.cast(*stashType).reshape({batch, groups, batch * groups ? x.size() / (batch * groups) : 0});
  Expression y = normalized(grouped, {2}, epsilon).cast(x.elementType());
  if (node.opset() < 21) {
    y = y * node.in(1).reshape({groups, 1}) + node.in(2).reshape({groups, 1});
    return node.setResult(y.reshape(x.shape()));
  }
  Expression whole = y.reshape({batch, channels, batch * channels ? x.size() / (batch * channels) : 0});
  whole = whole * node.in(1).reshape({channels, 1}) + node.in(2).reshape({channels, 1});
  node.setResult(whole.reshape(x.shape()));
}

/// The stash type, in which statistics are taken, and the axes from `axis` on; nothing after an error.
struct LayerForm {
  mlir::Type stash;
  llvm::SmallVector<int64_t> axes;
};
static std::optional<LayerForm> readLayerForm(NodeContext &node) {
  int64_t rank = node.input(0).rank(), axis = node.normalizedAxis(node.intAttribute("axis", -1), rank);
  int64_t stash = node.intAttribute("stash_type", 1);
  if (node.failed())
    return std::nullopt;
  auto stashType = elementType(*node.layers.builder().getContext(), static_cast<int>(stash));
  if (!stashType.ok() || !mlir::isa<mlir::FloatType>(*stashType)) {
    node.fail(absl::StrCat("stash_type ", stash, " is no float type"));
    return std::nullopt;
  }
  // The statistics of doubles are taken in double.
  mlir::Type own = node.input(0).elementType();
  return LayerForm{own.isF64() ? own : *stashType, axesBetween(axis, rank)};
}

static void layerNormalization(NodeContext &node) {
  double epsilon = node.floatAttribute("epsilon", 1e-5);
  auto form = readLayerForm(node);
  if (!form)
    return;
  Expression x = node.in(0), wide = x.cast(form->stash);
  Expression mean = meanOver(wide, form->axes), centred = wide - mean;
  Expression inverse = rsqrt(meanOver(square(centred), form->axes) + epsilon);
  // Scale and bias in the input's type.
  Expression y = (centred * inverse).cast(x.elementType()) * node.in(1);
  node.setResult(0, node.hasInput(2) ? y + node.in(2) : y);
  node.setResult(1, mean);
  node.setResult(2, inverse);
}

static void rmsNormalization(NodeContext &node) {
  double epsilon = node.floatAttribute("epsilon", 1e-5);
  auto form = readLayerForm(node);
  if (!form)
    return;
  Expression x = node.in(0), wide = x.cast(form->stash);
  Expression y = wide * rsqrt(meanOver(square(wide), form->axes) + epsilon);
  node.setResult(y.cast(node.in(1).elementType()) * node.in(1));
}

/// x divided by the norm of its row along an axis; a row of norm 0 stays 0.
static void lpNormalization(NodeContext &node) {
  Expression x = node.in(0);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", -1), x.rank()), p = node.intAttribute("p", 2);
  if (node.failed())
    return;
  if (p != 1 && p != 2)
    return node.fail(absl::StrCat("p = ", p, " is neither 1 nor 2"));
  Expression norm = p == 1 ? sumOver(abs(x), {axis}) : sqrt(sumOver(square(x), {axis}));
  node.setResult(x / select(equal(norm, 0), 1, norm));
}

/// (x - mean) / (standard deviation + 1e-9)
static void meanVarianceNormalization(NodeContext &node) {
  Expression x = node.in(0);
  std::vector<int64_t> axes = node.intsAttribute("axes");
  if (axes.empty())
    axes = {0, 2, 3};
  axes = node.normalizedAxes(axes, x.rank());
  if (node.failed())
    return;
  Expression centred = x - meanOver(x, axes);
  node.setResult(centred / (sqrt(meanOver(square(centred), axes)) + 1e-9));
}

/// x / (bias + alpha/size · Σ x²)^beta over a window of channels. The sum over channels, divided by the window, is an
/// average pool over [N, 1, C, H·W] that counts its padding.
static void lrn(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1e-4), beta = node.floatAttribute("beta", 0.75);
  double bias = node.floatAttribute("bias", 1.0);
  int64_t size = node.intAttribute("size", 0);
  Expression x = node.in(0);
  if (x.rank() < 2 || size < 1 || size >= (int64_t{1} << 31))
    return node.fail(
        absl::StrCat("needs [N, C, …] and a size of 1 or more, found ", nn::formatShape(x.shape()), " and ", size));
  int64_t spatial = 1;
  for (int64_t extent : x.shape().drop_front(2))
    spatial *= extent;
  Window window;
  window.pads = {(size - 1) / 2, 0, size - 1 - (size - 1) / 2, 0};
  Expression planes = square(x).reshape({x.shape()[0], 1, x.shape()[1], spatial});
  Expression average{node.layers, node.layers.pool(nn::PoolKind::Avg, planes, {size, 1}, window, true)};
  node.setResult(x / power(average.reshape(x.shape()) * alpha + bias, beta));
}

static const Operator table[] = {
    {"BatchNormalization", 1, newestOpset, 5, 5, batchNormalization, "",
     "inference only (training_mode, is_test and spatial at 0 are refused)"},
    {"InstanceNormalization", 1, newestOpset, 3, 3, instanceNormalization},
    {"GroupNormalization", 18, newestOpset, 3, 3, groupNormalization},
    {"LayerNormalization", 17, newestOpset, 2, 3, layerNormalization},
    {"RMSNormalization", 23, newestOpset, 2, 2, rmsNormalization},
    {"LpNormalization", 1, newestOpset, 1, 1, lpNormalization},
    {"MeanVarianceNormalization", 9, newestOpset, 1, 1, meanVarianceNormalization},
    {"LRN", 1, newestOpset, 1, 1, lrn},
};
llvm::ArrayRef<Operator> normalizationOperators() { return table; }

} // namespace wsc::import
