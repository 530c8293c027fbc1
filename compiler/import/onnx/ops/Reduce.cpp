// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over axes. Axes moved from an attribute to an input with opset 13 (ReduceSum) and 18 (the others).
#include "compiler/import/onnx/Registry.h"
#include "llvm/ADT/STLExtras.h"

namespace wsc::import {

using nn::ReduceKind;

struct Reduction {
  std::vector<int64_t> axes;
  bool keepdims = true;
  bool identity = false; ///< no axes and noop_with_empty_axes
};

static Reduction readReduction(NodeContext &node, int64_t axesInputSince) {
  Reduction reduction;
  int64_t rank = node.input(0).rank();
  reduction.keepdims = node.intAttribute("keepdims", 1) != 0;
  if (node.opset() >= axesInputSince) {
    if (node.hasInput(1))
      reduction.axes = node.constantInts(1, "axes");
    reduction.identity = node.intAttribute("noop_with_empty_axes", 0) != 0 && reduction.axes.empty();
  } else {
    reduction.axes = node.intsAttribute("axes");
  }
  if (reduction.axes.empty() && !reduction.identity)
    for (int64_t d = 0; d < rank; ++d)
      reduction.axes.push_back(d);
  reduction.axes = node.normalizedAxes(reduction.axes, rank);
  return reduction;
}

/// Integers have no mean of their own: the sum divided, truncated.
static Expression meanOfAny(const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims) {
  if (x.isFloat() || x.layers().failed())
    return meanOver(x, axes, keepdims);
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= x.shape()[axis];
  return sumOver(x, axes, keepdims) / count;
}

template <ReduceKind kind, int64_t axesInputSince> static void reduceTo(NodeContext &node) {
  Reduction r = readReduction(node, axesInputSince);
  Expression x = node.in(0);
  if (node.failed() || r.identity)
    return node.setResult(x);
  node.setResult(kind == ReduceKind::Mean ? meanOfAny(x, r.axes, r.keepdims) : reduceAny(kind, x, r.axes, r.keepdims));
}

/// Functions before and behind a sum; they apply without axes, too. A function of integers is truncated.
static Expression same(const Expression &x) { return x; }
template <Expression (*function)(const Expression &)> static Expression throughFloat(const Expression &x) {
  return x.isFloat() ? function(x) : function(x.cast(x.layers().builder().getF32Type())).cast(x.elementType());
}

template <Expression (*before)(const Expression &), Expression (*after)(const Expression &)>
static void reduceSumOf(NodeContext &node) {
  Reduction r = readReduction(node, 18);
  Expression x = before(node.in(0));
  node.setResult(after(r.identity ? x : sumOver(x, r.axes, r.keepdims)));
}

static void reduceLogSumExp(NodeContext &node) {
  Reduction r = readReduction(node, 18);
  Expression x = node.in(0);
  if (r.identity || node.failed())
    return node.setResult(x);
  Expression wide = x.isFloat() ? x : x.cast(node.layers.builder().getF32Type());
  // The logarithm of no elements' sum; they have no maximum to begin with.
  Expression y = x.size() == 0 ? log(sumOver(exp(wide), r.axes, r.keepdims)) : logSumExp(wide, r.axes, r.keepdims);
  node.setResult(y.cast(x.elementType()));
}

static const Operator table[] = {
    {"ReduceSum", 1, 12, 1, 1, reduceTo<ReduceKind::Sum, 13>},
    {"ReduceSum", 13, newestOpset, 1, 2, reduceTo<ReduceKind::Sum, 13>},
    {"ReduceMean", 1, 17, 1, 1, reduceTo<ReduceKind::Mean, 18>},
    {"ReduceMean", 18, newestOpset, 1, 2, reduceTo<ReduceKind::Mean, 18>},
    {"ReduceMax", 1, 17, 1, 1, reduceTo<ReduceKind::Max, 18>},
    {"ReduceMax", 18, newestOpset, 1, 2, reduceTo<ReduceKind::Max, 18>},
    {"ReduceMin", 1, 17, 1, 1, reduceTo<ReduceKind::Min, 18>},
    {"ReduceMin", 18, newestOpset, 1, 2, reduceTo<ReduceKind::Min, 18>},
    {"ReduceProd", 1, 17, 1, 1, reduceTo<ReduceKind::Prod, 18>},
    {"ReduceProd", 18, newestOpset, 1, 2, reduceTo<ReduceKind::Prod, 18>},
    {"ReduceL1", 1, 17, 1, 1, reduceSumOf<abs, same>},
    {"ReduceL1", 18, newestOpset, 1, 2, reduceSumOf<abs, same>},
    {"ReduceL2", 1, 17, 1, 1, reduceSumOf<square, throughFloat<sqrt>>},
    {"ReduceL2", 18, newestOpset, 1, 2, reduceSumOf<square, throughFloat<sqrt>>},
    {"ReduceSumSquare", 1, 17, 1, 1, reduceSumOf<square, same>},
    {"ReduceSumSquare", 18, newestOpset, 1, 2, reduceSumOf<square, same>},
    {"ReduceLogSum", 1, 17, 1, 1, reduceSumOf<same, throughFloat<log>>},
    {"ReduceLogSum", 18, newestOpset, 1, 2, reduceSumOf<same, throughFloat<log>>},
    {"ReduceLogSumExp", 1, 17, 1, 1, reduceLogSumExp},
    {"ReduceLogSumExp", 18, newestOpset, 1, 2, reduceLogSumExp},
};
llvm::ArrayRef<Operator> reduceOperators() { return table; }

} // namespace wsc::import
