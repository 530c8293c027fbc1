// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Losses over classes: the element of each place's class is the sum over classes of the elements whose number is the
// target's, the others counting as 0.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Extremes.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

/// Loss of log-probabilities [N, C, …] for targets [N, …], with weights [C] or null.
static void setLoss(NodeContext &node, const Expression &logs, const Expression &target, const Expression &weights) {
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
  int64_t classes = logs.shape()[1];
  Expression isClass = equal(target.unsqueeze(1), numbersAlong(layers, classes, 1, logs.rank(), target.elementType()));
  Expression loss = -sumOver(select(isClass, logs, 0), {1}, /*keepdims=*/false);
  Expression weight{layers, {}};
  if (weights) {
    llvm::SmallVector<int64_t> shape(logs.rank(), 1);
    shape[1] = classes;
    weight = sumOver(select(isClass, weights.reshape(shape), 0), {1}, /*keepdims=*/false);
  }
  if (ignores) {
    Expression counts = equal(target, static_cast<double>(ignored));
    weight = select(counts, 0, weight ? weight : loss.filled(1));
    loss = select(counts, 0, loss);
  }
  if (weight)
    loss = loss * weight;
  llvm::SmallVector<int64_t> all = axesBetween(0, loss.rank());
  if (reduction == "none")
    return node.setResult(loss);
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
  Expression logs = softmax(node.in(0), 1, /*log=*/true);
  setLoss(node, logs, node.in(1), node.in(2));
  node.setResult(1, logs);
}

static const Operator table[] = {
    {"NegativeLogLikelihoodLoss", 12, newestOpset, 2, 3, negativeLogLikelihoodLoss},
    {"SoftmaxCrossEntropyLoss", 12, newestOpset, 2, 3, softmaxCrossEntropyLoss},
};
llvm::ArrayRef<Operator> lossOperators() { return table; }

} // namespace wsc::import
