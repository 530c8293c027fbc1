// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements by index: Gather is nn.gather, GatherElements nn.gather_elements; GatherND computes flat numbers of the
// slices and gathers those of the flattened tensor. Negative indices count from the end; nn knows none. OneHot and
// ReverseSequence.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

static void gatherOf(NodeContext &node) {
  Expression x = node.in(0), indices = node.in(1);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", 0), x.rank());
  if (node.failed())
    return;
  int64_t extent = x.shape()[axis];
  auto known = node.layers.literal(indices);
  if (!known || known->isFloat())
    return node.setResult(gather(x, wrappedIndices(indices, extent), axis));
  for (int64_t &index : known->ints) {
    if (index < -extent || index >= extent)
      return node.fail(absl::StrCat("index ", index, " is outside [", -extent, ", ", extent, ")"));
    index += index < 0 ? extent : 0;
  }
  llvm::SmallVector<int64_t> shape(x.shape().take_front(axis));
  shape.append(known->type.getShape().begin(), known->type.getShape().end());
  shape.append(x.shape().begin() + axis + 1, x.shape().end());
  node.setResult(picked(x, axis, known->ints).reshape(shape));
}

/// Row-major strides of a shape.
static llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// y[.., i, ..] = x[.., indices[.., i, ..], ..]
static void gatherElementsOf(NodeContext &node) {
  Expression x = node.in(0), indices = node.in(1);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", 0), x.rank());
  if (node.failed())
    return;
  if (indices.rank() != x.rank())
    return node.fail(absl::StrCat("indices ", nn::formatShape(indices.shape()), " must have the rank of ",
                                  nn::formatShape(x.shape())));
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d == axis)
      continue;
    if (indices.shape()[d] > x.shape()[d])
      return node.fail(absl::StrCat("indices ", nn::formatShape(indices.shape()), " have more elements along axis ", d,
                                    " than ", nn::formatShape(x.shape())));
    x = x.slice(d, 0, indices.shape()[d]);
  }
  node.setResult(gatherElements(x, wrappedIndices(indices, x.shape()[axis]), axis));
}

/// Each last dimension of the indices holds the numbers along the first dimensions of x behind the batch.
static void gatherNd(NodeContext &node) {
  Expression x = node.in(0), indices = node.in(1);
  int64_t batch = node.opset() >= 12 ? node.intAttribute("batch_dims", 0) : 0;
  if (node.failed())
    return;
  int64_t depth = indices.rank() > 0 ? indices.shape().back() : 0;
  if (indices.rank() < 1 || batch < 0 || batch >= indices.rank() || batch + depth > x.rank() ||
      x.shape().take_front(batch) != indices.shape().take_front(batch))
    return node.fail(absl::StrCat("indices ", nn::formatShape(indices.shape()), " with batch_dims ", batch,
                                  " do not fit ", nn::formatShape(x.shape())));
  llvm::ArrayRef<int64_t> indexed = x.shape().take_front(batch + depth);
  llvm::SmallVector<int64_t> strides = stridesOf(indexed);
  int64_t last = indices.rank() - 1;
  llvm::SmallVector<int64_t> places(indices.shape().drop_back(1)), flatShape{productOf(indexed)};
  Expression flat = indices.number(0).broadcast(places);
  for (int64_t d = 0; d < depth; ++d) {
    Expression number = wrappedIndices(indices.slice(last, d, 1).squeeze(last), indexed[batch + d]);
    flat = flat + number * strides[batch + d];
  }
  for (int64_t d = 0; d < batch; ++d)
    flat = flat + numbersAlong(node.layers, places[d], d, last, indices.elementType()) * strides[d];
  flatShape.append(x.shape().begin() + batch + depth, x.shape().end());
  node.setResult(gather(x.reshape(flatShape), flat, 0));
}

/// 1 (values[1]) where the number along the new axis is the index, 0 (values[0]) elsewhere.
static void oneHot(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression values = node.in(2), indices = node.in(0).cast(layers.builder().getI64Type());
  int64_t depth = node.constantInt(1, "depth");
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", -1), indices.rank() + 1);
  if (node.failed())
    return;
  if (values.rank() != 1 || values.size() != 2 || depth < 0)
    return node.fail("needs values [off, on] and a depth that is not negative");
  Expression isOn = equal(wrappedIndices(indices, depth).unsqueeze(axis),
                          numbersAlong(layers, depth, axis, indices.rank() + 1, indices.elementType()));
  node.setResult(select(isOn, values.slice(0, 1, 1).reshape({}), values.slice(0, 0, 1).reshape({})));
}

/// Of each sequence the first `length` steps in reverse, the others as they are.
static void reverseSequence(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0), lengths = node.in(1);
  int64_t batchAxis = node.intAttribute("batch_axis", 1), timeAxis = node.intAttribute("time_axis", 0);
  if (node.failed())
    return;
  const bool areFirst = (batchAxis == 0 && timeAxis == 1) || (batchAxis == 1 && timeAxis == 0);
  if (x.rank() < 2 || !areFirst || lengths.rank() != 1 || lengths.size() != x.shape()[batchAxis])
    return node.fail(absl::StrCat("batch_axis ", batchAxis, ", time_axis ", timeAxis, " and lengths ",
                                  nn::formatShape(lengths.shape()), " do not fit ", nn::formatShape(x.shape())));
  int64_t steps = x.shape()[timeAxis], batch = x.shape()[batchAxis];
  mlir::Type element = lengths.elementType();
  Expression step = numbersAlong(layers, steps, timeAxis, 2, element);
  Expression length = lengths.unsqueeze(timeAxis == 0 ? 0 : 1);
  Expression source = select(less(step, length), length - step - 1, step);
  Expression flat = source * (timeAxis == 0 ? batch : 1) +
                    numbersAlong(layers, batch, batchAxis, 2, element) * (batchAxis == 0 ? steps : 1);
  llvm::SmallVector<int64_t> joined{steps * batch};
  joined.append(x.shape().begin() + 2, x.shape().end());
  node.setResult(gather(x.reshape(joined), flat, 0));
}

static const Operator table[] = {
    {"Gather", 1, newestOpset, 2, 2, gatherOf},
    {"GatherElements", 11, newestOpset, 2, 2, gatherElementsOf},
    {"GatherND", 11, newestOpset, 2, 2, gatherNd},
    {"OneHot", 9, newestOpset, 3, 3, oneHot, "", "depth is known"},
    {"ReverseSequence", 10, newestOpset, 2, 2, reverseSequence},
};
llvm::ArrayRef<Operator> gatherOperators() { return table; }

} // namespace wsc::import
