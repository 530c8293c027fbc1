// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Losses over classes: each place picks the element and the weight of its class.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

/// The dimensions behind the first `kept` as one.
static Expression flattened(const Expression &x, int64_t kept) {
  if (x.rank() <= kept + 1)
    return x;
  llvm::SmallVector<int64_t> shape(x.shape().take_front(kept));
  shape.push_back(productOf(x.shape().drop_front(kept)));
  return x.reshape(shape);
}

/// Loss of log-probabilities [N, C, …] for targets [N, …], with weights [C] or null.
static void setLoss(NodeContext &node, Expression logs, Expression target, const Expression &weights) {
  std::string reduction = node.stringAttribute("reduction", "mean");
  bool ignores = node.hasAttribute("ignore_index");
  int64_t ignored = node.intAttribute("ignore_index", -100);
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return node.fail("attribute 'reduction' is '" + reduction + "'; none, sum and mean are known");
  if (node.failed())
    return;
  if (logs.rank() < 2 || target.rank() != logs.rank() - 1)
    return node.fail(absl::StrCat("needs scores [N, C, …] and targets [N, …], found ", nn::formatShape(logs.shape()),
                                  " and ", nn::formatShape(target.shape())));
  LayerBuilder &layers = node.layers;
  const llvm::SmallVector<int64_t> shape(target.shape());
  logs = flattened(logs, 2);
  target = flattened(target, 1);
  // Ignored targets need be no class: they read class 0.
  Expression isIgnored{layers, {}}, index = target;
  if (ignores) {
    isIgnored = equal(target, static_cast<double>(ignored));
    index = select(isIgnored, 0, target);
  }
  Expression loss = -gatherElements(logs, index.unsqueeze(1), 1).squeeze(1), weight{layers, {}};
  if (weights)
    weight = gather(weights, index, 0);
  if (ignores) {
    weight = select(isIgnored, 0, weight ? weight : loss.filled(1));
    loss = select(isIgnored, 0, loss);
  }
  if (weight)
    loss = loss * weight;
  llvm::SmallVector<int64_t> all = axesBetween(0, loss.rank());
  if (reduction == "none")
    return node.setResult(loss.reshape(shape));
  if (reduction == "sum" || weight) {
    Expression sum = sumOver(loss, all, /*keepdims=*/false);
    return node.setResult(reduction == "sum" ? sum : sum / sumOver(weight, all, /*keepdims=*/false));
  }
  node.setResult(meanOver(loss, all, /*keepdims=*/false));
}

static void negativeLogLikelihoodLoss(NodeContext &node) { setLoss(node, node.in(0), node.in(1), node.in(2)); }

static void softmaxCrossEntropyLoss(NodeContext &node) {
  if (node.input(0).rank() < 2)
    return node.fail(absl::StrCat("needs scores [N, C, …], found ", nn::formatShape(node.input(0).shape())));
  Expression logs = softmax(flattened(node.in(0), 2), 1, /*log=*/true).reshape(node.input(0).shape());
  setLoss(node, logs, node.in(1), node.in(2));
  node.setResult(1, logs);
}

static const Operator table[] = {
    {"NegativeLogLikelihoodLoss", 12, newestOpset, 2, 3, negativeLogLikelihoodLoss},
    {"SoftmaxCrossEntropyLoss", 12, newestOpset, 2, 3, softmaxCrossEntropyLoss},
};
llvm::ArrayRef<Operator> lossOperators() { return table; }

} // namespace wsc::import
