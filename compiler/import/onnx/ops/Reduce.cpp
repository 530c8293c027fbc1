// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over axes, softmax and its logarithm. Axes moved from an attribute to an input with opset 13 (ReduceSum) and 18 (the others).
#include "compiler/import/onnx/Registry.h"
#include "llvm/ADT/STLExtras.h"

namespace wsc::import {

using nn::BinaryKind;
using nn::ReduceKind;
using nn::UnaryKind;

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

template <ReduceKind kind, int64_t axesInputSince> static void reduce(NodeContext &node) {
  Reduction r = readReduction(node, axesInputSince);
  Tensor x = node.input(0);
  node.setResult(r.identity ? x : node.layers.reduce(kind, x, r.axes, r.keepdims));
}

/// Sum of a function of the elements, then a function of the sum; the functions apply without axes, too.
template <typename Before, typename After> static void reduceSumOf(NodeContext &node, Before before, After after) {
  Reduction r = readReduction(node, 18);
  Tensor x = before(node.input(0));
  node.setResult(after(r.identity ? x : node.layers.reduce(ReduceKind::Sum, x, r.axes, r.keepdims)));
}

static void reduceL1(NodeContext &node) {
  reduceSumOf(node, [&](const Tensor &x) { return node.layers.unary(UnaryKind::Abs, x); }, [](const Tensor &y) { return y; });
}

static void reduceL2(NodeContext &node) {
  reduceSumOf(node, [&](const Tensor &x) { return node.layers.binary(BinaryKind::Mul, x, x); },
              [&](const Tensor &y) { return node.layers.unary(UnaryKind::Sqrt, y); });
}

static void reduceSumSquare(NodeContext &node) {
  reduceSumOf(node, [&](const Tensor &x) { return node.layers.binary(BinaryKind::Mul, x, x); }, [](const Tensor &y) { return y; });
}

static void reduceLogSum(NodeContext &node) {
  reduceSumOf(node, [](const Tensor &x) { return x; }, [&](const Tensor &y) { return node.layers.unary(UnaryKind::Log, y); });
}

/// max + log(sum(exp(x - max))), which does not overflow.
static void reduceLogSumExp(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Reduction r = readReduction(node, 18);
  Tensor x = node.input(0);
  if (r.identity || node.failed())
    return node.setResult(x);
  Tensor max = layers.reduce(ReduceKind::Max, x, r.axes, true);
  Tensor sum = layers.reduce(ReduceKind::Sum, layers.unary(UnaryKind::Exp, layers.binary(BinaryKind::Sub, x, max)), r.axes, true);
  Tensor y = layers.binary(BinaryKind::Add, layers.unary(UnaryKind::Log, sum), max);
  if (y && !r.keepdims) {
    llvm::SmallVector<int64_t> shape;
    for (int64_t d = 0; d < x.rank(); ++d)
      if (!llvm::is_contained(r.axes, d))
        shape.push_back(x.shape()[d]);
    y = layers.reshape(y, shape);
  }
  node.setResult(y);
}

/// Until opset 12 the tensor counts as a matrix, dimensions from `axis` on being one; since 13 one axis is meant.
template <bool log> static void softmax(NodeContext &node) {
  Tensor x = node.input(0);
  bool flattens = node.opset() < 13;
  int64_t axis = node.intAttribute("axis", flattens ? 1 : -1);
  if (flattens && axis == x.rank() && x.rank() > 0) // allowed for the matrix form: columns of extent 1
    return node.setResult(node.layers.reshape(
        node.layers.softmax(node.layers.reshape(x, {x.type.getNumElements(), 1}), 1, log), x.shape()));
  axis = node.normalizedAxis(axis, x.rank());
  if (node.failed())
    return;
  if (!flattens || axis == x.rank() - 1)
    return node.setResult(node.layers.softmax(x, axis, log));
  int64_t rows = 1, columns = 1;
  for (int64_t d = 0; d < x.rank(); ++d)
    (d < axis ? rows : columns) *= x.shape()[d];
  Tensor flat = node.layers.softmax(node.layers.reshape(x, {rows, columns}), 1, log);
  node.setResult(node.layers.reshape(flat, x.shape()));
}

static const Operator table[] = {
    {"ReduceSum", 1, 12, 1, 1, reduce<ReduceKind::Sum, 13>},
    {"ReduceSum", 13, newestOpset, 1, 2, reduce<ReduceKind::Sum, 13>},
    {"ReduceMean", 1, 17, 1, 1, reduce<ReduceKind::Mean, 18>},
    {"ReduceMean", 18, newestOpset, 1, 2, reduce<ReduceKind::Mean, 18>},
    {"ReduceMax", 1, 17, 1, 1, reduce<ReduceKind::Max, 18>},
    {"ReduceMax", 18, newestOpset, 1, 2, reduce<ReduceKind::Max, 18>},
    {"ReduceMin", 1, 17, 1, 1, reduce<ReduceKind::Min, 18>},
    {"ReduceMin", 18, newestOpset, 1, 2, reduce<ReduceKind::Min, 18>},
    {"ReduceProd", 1, 17, 1, 1, reduce<ReduceKind::Prod, 18>},
    {"ReduceProd", 18, newestOpset, 1, 2, reduce<ReduceKind::Prod, 18>},
    {"ReduceL1", 1, 17, 1, 1, reduceL1},
    {"ReduceL1", 18, newestOpset, 1, 2, reduceL1},
    {"ReduceL2", 1, 17, 1, 1, reduceL2},
    {"ReduceL2", 18, newestOpset, 1, 2, reduceL2},
    {"ReduceSumSquare", 1, 17, 1, 1, reduceSumSquare},
    {"ReduceSumSquare", 18, newestOpset, 1, 2, reduceSumSquare},
    {"ReduceLogSum", 1, 17, 1, 1, reduceLogSum},
    {"ReduceLogSum", 18, newestOpset, 1, 2, reduceLogSum},
    {"ReduceLogSumExp", 1, 17, 1, 1, reduceLogSumExp},
    {"ReduceLogSumExp", 18, newestOpset, 1, 2, reduceLogSumExp},
    {"Softmax", 1, newestOpset, 1, 1, softmax<false>},
    {"LogSoftmax", 1, newestOpset, 1, 1, softmax<true>},
};
llvm::ArrayRef<Operator> reduceOperators() { return table; }

} // namespace wsc::import
