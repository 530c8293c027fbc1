// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that only give a tensor another shape.
#include "dialects/nn/Shape.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "llvm/ADT/STLExtras.h"

namespace wsc::import {

/// 0 takes the input's extent (unless allowzero), one -1 what is left.
static void reshape(NodeContext &node) {
  Tensor x = node.input(0);
  node.ignoreAttributes({"consumed_inputs"});
  std::vector<int64_t> shape = node.opset() < 5 ? node.intsAttribute("shape") : node.constantInts(1, "the shape");
  bool allowZero = node.opset() >= 14 && node.intAttribute("allowzero", 0) != 0;
  if (node.failed())
    return;
  std::string text = nn::formatShape(shape);
  int64_t known = 1, inferred = -1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !allowZero) {
      if (static_cast<int64_t>(d) >= x.rank())
        return node.fail(absl::StrCat("shape ", text, " copies dimension ", d, ", which ", nn::formatShape(x.shape()),
                                      " does not have"));
      shape[d] = x.shape()[d];
    }
    if (shape[d] == -1 && inferred < 0) {
      inferred = static_cast<int64_t>(d);
      continue;
    }
    if (shape[d] < 0 || __builtin_mul_overflow(known, shape[d], &known))
      return node.fail(absl::StrCat("shape ", text, " is not valid"));
  }
  int64_t count = x.type.getNumElements();
  if (inferred >= 0) {
    if (known == 0 || count % known != 0)
      return node.fail(absl::StrCat("shape ", text, " does not fit ", nn::formatShape(x.shape()), ": ", count,
                                    " elements are no multiple of ", known));
    shape[inferred] = count / known;
  } else if (known != count) {
    return node.fail(absl::StrCat("shape ", text, " has ", known, " elements, the tensor ", nn::formatShape(x.shape()),
                                  " has ", count));
  }
  node.setResult(node.layers.reshape(x, shape));
}

static void flatten(NodeContext &node) {
  Tensor x = node.input(0);
  int64_t axis = node.intAttribute("axis", 1);
  if (axis != x.rank())
    axis = node.normalizedAxis(axis, x.rank());
  int64_t rows = 1, columns = 1;
  for (int64_t d = 0; d < x.rank(); ++d)
    (d < axis ? rows : columns) *= x.shape()[d];
  node.setResult(node.layers.reshape(x, {rows, columns}));
}

static std::vector<int64_t> readAxes(NodeContext &node, int64_t rank) {
  std::vector<int64_t> axes;
  if (node.opset() < 13)
    axes = node.intsAttribute("axes");
  else if (node.hasInput(1))
    axes = node.constantInts(1, "axes");
  return node.normalizedAxes(axes, rank);
}

static void squeeze(NodeContext &node) {
  Tensor x = node.input(0);
  bool given = node.opset() < 13 ? node.hasAttribute("axes") : node.hasInput(1);
  std::vector<int64_t> axes = readAxes(node, x.rank());
  llvm::SmallVector<int64_t> shape;
  for (int64_t d = 0; d < x.rank(); ++d) {
    int64_t extent = x.shape()[d];
    bool removed = given ? llvm::is_contained(axes, d) : extent == 1;
    if (removed && extent != 1)
      return node.fail(
          absl::StrCat("dimension ", d, " of ", nn::formatShape(x.shape()), " has extent ", extent, ", not 1"));
    if (!removed)
      shape.push_back(extent);
  }
  node.setResult(node.layers.reshape(x, shape));
}

static void unsqueeze(NodeContext &node) {
  Tensor x = node.input(0);
  size_t added = node.opset() < 13 ? node.intsAttribute("axes").size() : node.constantInts(1, "axes").size();
  int64_t rank = x.rank() + static_cast<int64_t>(added);
  std::vector<int64_t> axes = readAxes(node, rank);
  if (node.failed())
    return;
  llvm::SmallVector<int64_t> shape;
  auto next = x.shape().begin();
  for (int64_t d = 0; d < rank; ++d)
    shape.push_back(llvm::is_contained(axes, d) ? 1 : *next++);
  node.setResult(node.layers.reshape(x, shape));
}

static void transpose(NodeContext &node) {
  Tensor x = node.input(0);
  std::vector<int64_t> permutation = node.intsAttribute("perm");
  if (permutation.empty())
    for (int64_t d = x.rank(); d-- > 0;)
      permutation.push_back(d);
  node.setResult(node.layers.transpose(x, permutation));
}

static void expand(NodeContext &node) {
  Tensor x = node.input(0);
  std::vector<int64_t> shape = node.constantInts(1, "the shape");
  if (node.failed())
    return;
  auto joined = nn::broadcastShapes(x.shape(), shape);
  if (!joined || llvm::any_of(*joined, [](int64_t extent) { return extent < 0; }))
    return node.fail(absl::StrCat("tensor ", nn::formatShape(x.shape()), " and shape ", nn::formatShape(shape),
                                  " do not broadcast"));
  node.setResult(node.layers.broadcastTo(x, *joined));
}

/// Repeats by broadcasting a new dimension before each: [d0, d1] -> [1, d0, 1, d1] -> [r0, d0, r1, d1] -> [r0·d0,
/// r1·d1].
static void tile(NodeContext &node) {
  Tensor x = node.input(0);
  std::vector<int64_t> repeats = node.constantInts(1, "repeats");
  if (node.failed())
    return;
  if (static_cast<int64_t>(repeats.size()) != x.rank())
    return node.fail(absl::StrCat("needs ", x.rank(), " repeats, found ", repeats.size()));
  llvm::SmallVector<int64_t> split, repeated, joined;
  for (int64_t d = 0; d < x.rank(); ++d) {
    int64_t extent = x.shape()[d], product = 0;
    if (repeats[d] < 0 || __builtin_mul_overflow(extent, repeats[d], &product))
      return node.fail(absl::StrCat("repeat ", repeats[d], " is not valid"));
    split.append({1, extent});
    repeated.append({repeats[d], extent});
    joined.push_back(product);
  }
  node.setResult(node.layers.reshape(node.layers.broadcastTo(node.layers.reshape(x, split), repeated), joined));
}

static const Operator table[] = {
    {"Reshape", 1, 4, 1, 1, reshape, "", "the shape is known"},
    {"Reshape", 5, newestOpset, 2, 2, reshape, "", "the shape is known"},
    {"Flatten", 1, newestOpset, 1, 1, flatten},
    {"Squeeze", 1, 12, 1, 1, squeeze, "", "axes are known"},
    {"Squeeze", 13, newestOpset, 1, 2, squeeze, "", "axes are known"},
    {"Unsqueeze", 1, 12, 1, 1, unsqueeze, "", "axes are known"},
    {"Unsqueeze", 13, newestOpset, 2, 2, unsqueeze, "", "axes are known"},
    {"Transpose", 1, newestOpset, 1, 1, transpose},
    {"Expand", 8, newestOpset, 2, 2, expand, "", "the shape is known"},
    {"Tile", 6, newestOpset, 2, 2, tile, "", "repeats are known"},
};
llvm::ArrayRef<Operator> shapeOperators() { return table; }

} // namespace wsc::import
