// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements written at indices.
#include "compiler/import/common/Scatter.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

static std::string readScatterReduction(NodeContext &node, int64_t since) {
  std::string reduction = node.opset() >= since ? node.stringAttribute("reduction", "none") : "none";
  if (reduction != "none" && reduction != "add" && reduction != "mul" && reduction != "min" && reduction != "max")
    node.fail("attribute 'reduction' is '" + reduction + "'; none, add, mul, min and max are known");
  return reduction;
}

/// y[.., indices[.., i, ..], ..] = updates[.., i, ..]. Updates may be smaller than the data in the other dimensions.
static void scatterElements(NodeContext &node) {
  Expression data = node.in(0), indices = node.in(1), updates = node.in(2);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", 0), data.rank());
  std::string reduction = readScatterReduction(node, 16);
  if (node.failed())
    return;
  bool fits = indices.rank() == data.rank() && indices.shape() == updates.shape();
  for (int64_t d = 0; fits && d < data.rank(); ++d)
    fits = d == axis || indices.shape()[d] <= data.shape()[d];
  if (!fits)
    return node.fail(absl::StrCat("indices ", nn::formatShape(indices.shape()), " and updates ",
                                  nn::formatShape(updates.shape()), " do not fit data ",
                                  nn::formatShape(data.shape())));
  // [.., place, update, ..]
  int64_t extent = data.shape()[axis], rank = data.rank() + 1;
  Expression isHit = equal(wrappedIndices(indices, extent).unsqueeze(axis),
                           numbersAlong(node.layers, extent, axis, rank, indices.elementType()));
  Expression part = data;
  for (int64_t d = 0; d < data.rank(); ++d)
    if (d != axis)
      part = part.slice(d, 0, indices.shape()[d]);
  Expression y = applyUpdates(part, isHit, updates.unsqueeze(axis), axis + 1, reduction);
  // What the updates do not reach is put back around them.
  for (int64_t d = data.rank(); d-- > 0 && !node.failed();) {
    if (d == axis || indices.shape()[d] == data.shape()[d])
      continue;
    Expression rest = data;
    for (int64_t other = 0; other < d; ++other)
      if (other != axis)
        rest = rest.slice(other, 0, indices.shape()[other]);
    y = concat({y, rest.slice(d, indices.shape()[d], data.shape()[d] - indices.shape()[d])}, d);
  }
  node.setResult(y);
}

/// Each last dimension of the indices holds the numbers along the first dimensions of the data of the slice to change.
static void scatterNd(NodeContext &node) {
  Expression data = node.in(0), indices = node.in(1), updates = node.in(2);
  std::string reduction = readScatterReduction(node, 16);
  if (node.failed())
    return;
  int64_t depth = indices.rank() > 0 ? indices.shape().back() : 0;
  bool fits = indices.rank() > 0 && depth <= data.rank();
  if (fits) {
    llvm::SmallVector<int64_t> expected(indices.shape().drop_back(1));
    expected.append(data.shape().begin() + depth, data.shape().end());
    fits = updates.shape() == llvm::ArrayRef<int64_t>(expected);
  }
  if (!fits)
    return node.fail(absl::StrCat("indices ", nn::formatShape(indices.shape()), " and updates ",
                                  nn::formatShape(updates.shape()), " do not fit data ",
                                  nn::formatShape(data.shape())));
  node.setResult(scatterSlices(data, indices, updates, reduction));
}

/// A cache [batch, …] overwritten from write_indices[batch] on along `axis`, in circular mode beginning anew at its
/// end.
static void tensorScatter(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression cache = node.in(0), update = node.in(1);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", -2), cache.rank());
  std::string mode = node.stringAttribute("mode", "linear");
  if (node.failed())
    return;
  bool fits = axis > 0 && update.rank() == cache.rank();
  for (int64_t d = 0; fits && d < cache.rank(); ++d)
    fits = d == axis ? update.shape()[d] <= cache.shape()[d] : update.shape()[d] == cache.shape()[d];
  if (!fits || (mode != "linear" && mode != "circular"))
    return node.fail(absl::StrCat("update ", nn::formatShape(update.shape()), " does not fit cache ",
                                  nn::formatShape(cache.shape()), " along axis ", axis, " in mode ", mode));
  int64_t rank = cache.rank() + 1, batch = cache.shape()[0], extent = cache.shape()[axis];
  mlir::Type i64 = layers.builder().getI64Type();
  Expression step = numbersAlong(layers, update.shape()[axis], axis + 1, rank, i64);
  Expression target = step;
  if (node.hasInput(2)) {
    llvm::SmallVector<int64_t> shape(rank, 1);
    shape[0] = batch;
    target = node.in(2).reshape(shape) + step;
  }
  if (mode == "circular")
    target = modulo(target, extent);
  Expression isHit = equal(target, numbersAlong(layers, extent, axis, rank, i64));
  node.setResult(applyUpdates(cache, isHit, update.unsqueeze(axis), axis + 1, "none"));
}

static const Operator table[] = {
    {"Scatter", 9, 10, 3, 3, scatterElements},
    {"ScatterElements", 11, newestOpset, 3, 3, scatterElements},
    {"ScatterND", 11, newestOpset, 3, 3, scatterNd},
    {"TensorScatter", 24, newestOpset, 2, 3, tensorScatter},
};
llvm::ArrayRef<Operator> scatterOperators() { return table; }

} // namespace wsc::import
