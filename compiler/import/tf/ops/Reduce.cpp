// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over axes, extremes and their places, order, running sums.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/tf/Registry.h"

namespace wsc::import::tf {
namespace {

using nn::ReduceKind;

/// Applies function(tensor, axes, keepdims). No axes reduce nothing.
template <typename Function> void overAxes(NodeContext &node, Function function) {
  bool keepdims = node.boolAttribute("keep_dims", false);
  Expression x = node.in(0);
  std::vector<int64_t> axes = node.normalizedAxes(node.constantInts(1, "the axes"), x.rank());
  if (node.failed())
    return;
  node.setResult(axes.empty() ? x : function(x, llvm::ArrayRef<int64_t>(axes), keepdims));
}

template <ReduceKind kind> void reduceTo(NodeContext &node) {
  overAxes(node, [](const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims) {
    return reduceAny(kind, x, axes, keepdims);
  });
}

/// Integers have no mean of their own: the sum divided, truncated.
void mean(NodeContext &node) {
  overAxes(node, [](const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims) {
    if (x.isFloat())
      return meanOver(x, axes, keepdims);
    int64_t count = 1;
    for (int64_t axis : axes)
      count *= x.shape()[axis];
    return sumOver(x, axes, keepdims) / count;
  });
}

void euclideanNorm(NodeContext &node) {
  overAxes(node, [](const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims) {
    return sqrt(sumOver(square(x), axes, keepdims));
  });
}

void l2Loss(NodeContext &node) {
  Expression x = node.in(0);
  node.setResult(sumOver(square(x), axesBetween(0, x.rank()), /*keepdims=*/false) * 0.5);
}

template <bool greatest> void argExtreme(NodeContext &node) {
  Expression x = node.in(0);
  int64_t axis = node.normalizedAxis(node.inputCount() > 1 ? node.constantInt(1, "the dimension") : 0, x.rank());
  mlir::Type element = node.typeAttribute("output_type", wsc::tf::DT_INT64);
  if (node.failed())
    return;
  if (x.shape()[axis] == 0)
    return node.fail(absl::StrCat("axis ", axis, " has no elements to choose from"));
  node.setResult(extremeIndex(x, axis, greatest, /*last=*/false).squeeze(axis).cast(element));
}

/// Along the last axis, the greatest first.
void topK(NodeContext &node) {
  node.ignoreAttributes({"sorted"}); // without it any order will do
  Expression x = node.in(0);
  int64_t count = node.inputCount() > 1 ? node.constantInt(1, "k") : node.intAttribute("k", 0);
  if (node.failed())
    return;
  const int64_t extent = x.rank() > 0 ? x.shape()[x.rank() - 1] : 0;
  if (count < 1 || count > extent)
    return node.fail(absl::StrCat("k = ", count, " is outside [1, ", extent, "], the extent of the last axis"));
  Sorted sorted = sortedAlong(x, x.rank() - 1, count, /*largest=*/true);
  node.setResult(0, sorted.values);
  node.setResult(1, sorted.numbers);
}

/// The exact answer is one that an approximation may give.
void approximateTopK(NodeContext &node) {
  node.ignoreAttributes({"recall_target", "reduction_input_size_override", "aggregate_to_topk"});
  const bool largest = node.boolAttribute("is_max_k", true);
  const int64_t count = node.intAttribute("k", 1);
  Expression x = node.in(0);
  const int64_t axis = node.normalizedAxis(node.intAttribute("reduction_dimension", -1), x.rank());
  if (node.failed())
    return;
  if (count < 1 || count > x.shape()[axis])
    return node.fail(absl::StrCat("k = ", count, " is outside [1, ", x.shape()[axis], "]"));
  Sorted sorted = sortedAlong(x, axis, count, largest);
  node.setResult(0, sorted.values);
  node.setResult(1, sorted.numbers);
}

/// Whether the target's value is among the k greatest of its row.
void inTopK(NodeContext &node) {
  Expression x = node.in(0), targets = node.in(1);
  int64_t k = node.inputCount() > 2 ? node.constantInt(2, "k") : node.intAttribute("k", 1);
  if (node.failed())
    return;
  if (x.rank() != 2 || targets.rank() != 1)
    return node.fail("needs predictions [batch, classes] and targets [batch]");
  Expression value = gatherElements(x, targets.unsqueeze(1), 1);
  Expression before = sumOver(less(value, x).cast(node.i32()), {1}, /*keepdims=*/false);
  node.setResult(less(before, static_cast<double>(k)));
}

template <ReduceKind kind> void cumulative(NodeContext &node) {
  bool exclusive = node.boolAttribute("exclusive", false), reverse = node.boolAttribute("reverse", false);
  Expression x = node.in(0);
  int64_t axis = node.normalizedAxis(node.constantInt(1, "the axis"), x.rank());
  if (!node.failed())
    node.setResult(running(kind, x, axis, exclusive, reverse));
}

} // namespace

static const Operator table[] = {
    {"Sum", 2, 2, reduceTo<ReduceKind::Sum>},
    {"Prod", 2, 2, reduceTo<ReduceKind::Prod>},
    {"Max", 2, 2, reduceTo<ReduceKind::Max>},
    {"Min", 2, 2, reduceTo<ReduceKind::Min>},
    {"All", 2, 2, reduceTo<ReduceKind::Min>},
    {"Any", 2, 2, reduceTo<ReduceKind::Max>},
    {"Mean", 2, 2, mean},
    {"EuclideanNorm", 2, 2, euclideanNorm},
    {"L2Loss", 1, 1, l2Loss},
    {"ArgMax", 1, 2, argExtreme<true>},
    {"ArgMin", 1, 2, argExtreme<false>},
    {"TopK", 1, 1, topK, "values,indices"},
    {"TopKV2", 2, 2, topK, "values,indices"},
    {"ApproxTopK", 1, 1, approximateTopK, "values,indices"},
    {"InTopK", 2, 2, inTopK},
    {"InTopKV2", 3, 3, inTopK},
    {"Cumsum", 2, 2, cumulative<ReduceKind::Sum>},
    {"Cumprod", 2, 2, cumulative<ReduceKind::Prod>},
};
llvm::ArrayRef<Operator> reduceOperators() { return table; }

} // namespace wsc::import::tf
