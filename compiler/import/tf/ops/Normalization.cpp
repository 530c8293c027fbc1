// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batch normalisation with its gradient, local response normalisation, and losses of softmax.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/ops/Layout.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

/// A vector along the channels of a tensor whose channels are second.
Expression alongChannels(const Expression &vector, const Expression &x) {
  if (x.layers().failed())
    return vector;
  llvm::SmallVector<int64_t> shape(x.rank() - 1, 1);
  shape[0] = vector.size();
  return vector.reshape(shape);
}

llvm::SmallVector<int64_t> allButChannels(const Expression &x) { return otherAxes(x.rank(), {1}); }

/// Results: y, mean, variance for the moving statistics, and what the gradient needs: mean and variance.
void fusedBatchNorm(NodeContext &node) {
  Expression given = node.in(0), scale = node.in(1), offset = node.in(2);
  const double epsilon = node.floatAttribute("epsilon", 1e-4),
               factor = node.floatAttribute("exponential_avg_factor", 1);
  const bool trains = node.boolAttribute("is_training", true), last = readChannelsLastOrJs(node, given.rank());
  if (node.failed())
    return;
  Expression x = toChannelsFirst(given, last), wide = widened(x);
  if (x.rank() < 3 || scale.rank() != 1 || scale.size() != x.shape()[1])
    return node.fail(
        absl::StrCat("scale ", nn::formatShape(scale.shape()), " does not fit ", nn::formatShape(given.shape())));
  if (!trains) {
    Expression mean = node.in(3), variance = node.in(4);
    Expression y{node.layers, node.layers.batchNorm(wide, scale, offset, mean, variance, epsilon)};
    node.setResult(0, fromChannelsFirst(y.cast(x.elementType()), last));
    for (size_t i : {1, 3})
      node.setResult(i, mean);
    for (size_t i : {2, 4, 5})
      node.setResult(i, variance);
    return;
  }
  llvm::SmallVector<int64_t> axes = allButChannels(x);
  const double count = static_cast<double>(x.size() / std::max<int64_t>(x.shape()[1], 1));
  Expression mean = meanOver(wide, axes, /*keepdims=*/false), centred = wide - alongChannels(mean, x);
  Expression variance = meanOver(square(centred), axes, /*keepdims=*/false);
  Expression factors = rsqrt(variance + epsilon) * scale;
  Expression y = centred * alongChannels(factors, x) + alongChannels(offset, x);
  Expression unbiased = count > 1 ? variance * (count / (count - 1)) : variance;
  node.setResult(0, fromChannelsFirst(y.cast(x.elementType()), last));
  node.setResult(1, factor == 1 ? mean : node.in(3) * (1 - factor) + mean * factor);
  node.setResult(2, factor == 1 ? unbiased : node.in(4) * (1 - factor) + unbiased * factor);
  node.setResult(3, mean);
  node.setResult(4, variance);
  node.setResult(5, variance);
}

/// Gradient, x, scale, mean, variance.
void fusedBatchNormGrad(NodeContext &node) {
  Expression givenDy = node.in(0), given = node.in(1), scale = node.in(2), mean = node.in(3), variance = node.in(4);
  const double epsilon = node.floatAttribute("epsilon", 1e-4);
  const bool trains = node.boolAttribute("is_training", true), last = readChannelsLast(node, given.rank());
  if (node.failed())
    return;
  Expression x = widened(toChannelsFirst(given, last)), dy = widened(toChannelsFirst(givenDy, last));
  if (x.rank() < 3 || scale.rank() != 1 || scale.size() != x.shape()[1] || x.shape() != dy.shape())
    return node.fail(absl::StrCat("gradient ", nn::formatShape(givenDy.shape()), " and scale ",
                                  nn::formatShape(scale.shape()), " do not fit ", nn::formatShape(given.shape())));
  llvm::SmallVector<int64_t> axes = allButChannels(x);
  Expression inverse = rsqrt(variance + epsilon), centred = x - alongChannels(mean, x);
  Expression sumDy = sumOver(dy, axes, false), sumProduct = sumOver(dy * centred, axes, false);
  Expression dx = dy;
  if (trains) {
    const double count = static_cast<double>(x.size() / std::max<int64_t>(x.shape()[1], 1));
    Expression slope = sumProduct / count * square(inverse);
    dx = dy - alongChannels(sumDy / count, x) - centred * alongChannels(slope, x);
  }
  dx = dx * alongChannels(scale * inverse, x);
  node.setResult(0, fromChannelsFirst(dx.cast(given.elementType()), last));
  node.setResult(1, sumProduct * inverse);
  node.setResult(2, sumDy);
}

void batchNormWithGlobal(NodeContext &node) {
  const double epsilon = node.floatAttribute("variance_epsilon", 1e-3);
  const bool scales = node.boolAttribute("scale_after_normalization", true);
  Expression factors = rsqrt(node.in(2) + epsilon);
  if (scales)
    factors = factors * node.in(4);
  node.setResult((node.in(0) - node.in(1)) * factors + node.in(3));
}

/// Attributes of local response normalisation.
struct Response {
  int64_t radius = 0;
  double bias = 0, alpha = 0, beta = 0;
};
Response readResponse(NodeContext &node, const Expression &x) {
  Response form{node.intAttribute("depth_radius", 5), node.floatAttribute("bias", 1), node.floatAttribute("alpha", 1),
                node.floatAttribute("beta", 0.5)};
  if (!node.failed() && (x.rank() < 1 || form.radius < 0 || form.radius > 65536))
    node.fail(absl::StrCat("depth_radius ", form.radius, " does not fit ", nn::formatShape(x.shape())));
  return form;
}

/// The sum over channels up to `radius` away.
Expression sumAround(const Expression &x, int64_t radius) {
  const int64_t channels = x.shape()[x.rank() - 1], rows = x.size() / std::max<int64_t>(channels, 1);
  SpatialWindow window;
  window.kernel = {1, 2 * radius + 1};
  window.window.pads = {0, radius, 0, radius};
  return poolOver(nn::PoolKind::Sum, x.reshape({1, 1, rows, channels}), window, false).reshape(x.shape());
}

/// x / (bias + alpha · Σ x²)^beta
void lrn(NodeContext &node) {
  Expression x = node.in(0);
  const Response form = readResponse(node, x);
  if (!node.failed())
    node.setResult(x / power(sumAround(square(x), form.radius) * form.alpha + form.bias, form.beta));
}

/// gradient, x, y
void lrnGrad(NodeContext &node) {
  Expression g = node.in(0), x = node.in(1), y = node.in(2);
  const Response form = readResponse(node, x);
  if (node.failed())
    return;
  if (g.shape() != x.shape() || y.shape() != x.shape())
    return node.fail(absl::StrCat("gradient ", nn::formatShape(g.shape()), " and result ", nn::formatShape(y.shape()),
                                  " do not fit ", nn::formatShape(x.shape())));
  Expression norm = sumAround(square(x), form.radius) * form.alpha + form.bias;
  Expression around = sumAround(g * y / norm, form.radius);
  node.setResult(g * power(norm, -form.beta) - x * around * (2 * form.alpha * form.beta));
}

/// Loss of each row, and its gradient with respect to the features.
void softmaxLoss(NodeContext &node, const Expression &features, const Expression &labels) {
  node.setResult(0, -sumOver(labels * softmax(features, 1, /*log=*/true), {1}, /*keepdims=*/false));
  node.setResult(1, softmax(features, 1) - labels);
}

void softmaxCrossEntropy(NodeContext &node) {
  Expression features = node.in(0), labels = node.in(1);
  if (node.failed())
    return;
  auto shape = nn::broadcastShapes(features.shape(), labels.shape());
  if (!shape || shape->size() != 2)
    return node.fail(absl::StrCat("features ", nn::formatShape(features.shape()), " and labels ",
                                  nn::formatShape(labels.shape()), " are no two matrices [batch, classes]"));
  softmaxLoss(node, features.broadcast(*shape), labels.broadcast(*shape));
}

void sparseSoftmaxCrossEntropy(NodeContext &node) {
  Expression features = node.in(0), labels = node.in(1);
  if (node.failed())
    return;
  if (features.rank() != 2 || labels.rank() != 1 || labels.size() != features.shape()[0])
    return node.fail(absl::StrCat("features ", nn::formatShape(features.shape()), " and labels ",
                                  nn::formatShape(labels.shape()), " do not fit"));
  Expression isLabel =
      equal(labels.unsqueeze(1), numbersAlong(node.layers, features.shape()[1], 1, 2, labels.elementType()));
  softmaxLoss(node, features, isLabel.cast(features.elementType()));
}

constexpr const char *normResults = "y,batch_mean,batch_variance,reserve_space_1,reserve_space_2,reserve_space_3";
constexpr const char *gradResults = "x_backprop,scale_backprop,offset_backprop,reserve_space_3,reserve_space_4";

} // namespace

static const Operator table[] = {
    {"FusedBatchNorm", 5, 5, fusedBatchNorm, normResults},
    {"FusedBatchNormV2", 5, 5, fusedBatchNorm, normResults},
    {"FusedBatchNormV3", 5, 5, fusedBatchNorm, normResults},
    {"FusedBatchNormGrad", 5, 5, fusedBatchNormGrad, gradResults},
    {"FusedBatchNormGradV2", 5, 5, fusedBatchNormGrad, gradResults},
    {"FusedBatchNormGradV3", 5, 6, fusedBatchNormGrad, gradResults},
    {"BatchNormWithGlobalNormalization", 5, 5, batchNormWithGlobal},
    {"LRN", 1, 1, lrn},
    {"LRNGrad", 3, 3, lrnGrad},
    {"SoftmaxCrossEntropyWithLogits", 2, 2, softmaxCrossEntropy, "loss,backprop"},
    {"SparseSoftmaxCrossEntropyWithLogits", 2, 2, sparseSoftmaxCrossEntropy, "loss,backprop"},
};
llvm::ArrayRef<Operator> normalizationOperators() { return table; }

} // namespace wsc::import::tf
