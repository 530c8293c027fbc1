// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that make tensors from nothing or from shapes: they are all known while importing.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Fold.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"
#include <cmath>

namespace wsc::import {

static Tensor numbers(NodeContext &node, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values) {
  Literal literal;
  literal.type = mlir::RankedTensorType::get(shape, node.layers.builder().getF32Type());
  literal.floats.assign(values.begin(), values.end());
  return node.layers.fromLiteral(literal);
}

static void constantOf(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  if (node.hasAttribute("value"))
    node.setResult(node.tensorAttribute("value"));
  else if (node.hasAttribute("value_int"))
    node.setResult(layers.reshape(layers.integers({node.intAttribute("value_int", 0)}), {}));
  else if (node.hasAttribute("value_ints"))
    node.setResult(layers.integers(node.intsAttribute("value_ints")));
  else if (node.hasAttribute("value_float"))
    node.setResult(numbers(node, {}, {node.floatAttribute("value_float", 0)}));
  else if (node.hasAttribute("value_floats")) {
    std::vector<double> values = node.floatsAttribute("value_floats");
    node.setResult(numbers(node, {static_cast<int64_t>(values.size())}, values));
  } else
    node.unsupported("has none of the attributes value, value_int, value_ints, value_float, value_floats");
}

/// Extents from an input: known and not negative.
static std::vector<int64_t> knownShape(NodeContext &node, size_t i) {
  std::vector<int64_t> shape = node.constantInts(i, "the shape");
  for (int64_t extent : shape)
    if (extent < 0)
      node.fail(absl::StrCat("the shape has a negative extent ", extent));
  if (std::string problem = nn::shapeProblem(shape); !problem.empty())
    node.fail("the shape " + problem);
  return shape;
}

static void constantOfShape(NodeContext &node) {
  Tensor value = node.hasAttribute("value") ? node.tensorAttribute("value")
                                            : node.layers.scalar(node.layers.builder().getF32Type(), 0.0);
  std::vector<int64_t> shape = knownShape(node, 0);
  if (node.failed())
    return;
  if (value.type.getNumElements() != 1)
    return node.fail("attribute 'value' must hold one element");
  auto literal = node.layers.literal(value);
  if (!literal)
    return node.fail("attribute 'value' cannot be read");
  // A splat, whatever the size.
  literal->type = mlir::RankedTensorType::get({}, literal->type.getElementType());
  auto splat = literal->toAttribute().resizeSplat(mlir::RankedTensorType::get(shape, literal->type.getElementType()));
  node.setResult(node.layers.fromAttribute(splat));
}

static void shape(NodeContext &node) {
  llvm::ArrayRef<int64_t> extents = node.input(0).shape();
  int64_t rank = node.input(0).rank();
  auto bound = [&](int64_t position) {
    return std::clamp<int64_t>(position < 0 ? position + rank : position, 0, rank);
  };
  int64_t start = bound(node.intAttribute("start", 0)), end = bound(node.intAttribute("end", rank));
  node.setResult(node.layers.integers(extents.slice(start, std::max<int64_t>(end - start, 0))));
}

static void size(NodeContext &node) {
  node.setResult(node.layers.reshape(node.layers.integers({node.input(0).type.getNumElements()}), {}));
}

static void range(NodeContext &node) {
  auto start = node.known(0, "start"), limit = node.known(1, "limit"), delta = node.known(2, "delta");
  if (!start || !limit || !delta)
    return;
  if (start->size() != 1 || limit->size() != 1 || delta->size() != 1)
    return node.fail("start, limit and delta must be one number each");
  mlir::Type element = node.input(0).elementType();
  if (node.input(1).elementType() != element || node.input(2).elementType() != element)
    return node.fail("start, limit and delta must have one element type");
  auto number = [](const Literal &l) { return l.isFloat() ? l.floats[0] : static_cast<double>(l.ints[0]); };
  double step = number(*delta), count = std::ceil((number(*limit) - number(*start)) / step);
  if (step == 0 || !(count <= maxLiteralElements))
    return node.fail(absl::StrCat("delta must not be 0 and the range hold at most ", maxLiteralElements, " elements"));
  int64_t elements = std::max<int64_t>(static_cast<int64_t>(count), 0);
  Literal result = Literal::zeros(mlir::RankedTensorType::get({elements}, element));
  for (int64_t i = 0; i < elements; ++i) {
    if (result.isFloat())
      result.floats[i] = start->floats[0] + static_cast<double>(i) * delta->floats[0];
    else
      result.ints[i] = static_cast<int64_t>(static_cast<uint64_t>(start->ints[0]) +
                                            static_cast<uint64_t>(i) * static_cast<uint64_t>(delta->ints[0]));
  }
  result.normalize();
  node.setResult(node.layers.fromLiteral(result));
}

/// 1 on diagonal k, 0 elsewhere, in the shape of a matrix.
static void eyeLike(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0);
  int64_t k = node.intAttribute("k", 0), declared = node.intAttribute("dtype", 0);
  mlir::Type element = x.elementType();
  if (declared != 0) {
    auto type = elementType(*layers.builder().getContext(), static_cast<int>(declared));
    if (!type.ok())
      return layers.fail(type.status());
    element = *type;
  }
  if (node.failed())
    return;
  if (x.rank() != 2)
    return node.fail(absl::StrCat("needs a matrix, found ", nn::formatShape(x.shape())));
  mlir::Type i64 = layers.builder().getI64Type();
  Expression row = countingUp(layers, x.shape()[0], i64).reshape({x.shape()[0], 1});
  node.setResult(equal(row + k, countingUp(layers, x.shape()[1], i64)).cast(element));
}

static const Operator table[] = {
    {"Constant", 1, newestOpset, 0, 0, constantOf, "", "numbers; no strings or sparse tensors"},
    {"ConstantOfShape", 9, newestOpset, 1, 1, constantOfShape, "", "the shape is known"},
    {"Shape", 1, newestOpset, 1, 1, shape},
    {"Size", 1, newestOpset, 1, 1, size},
    {"Range", 11, newestOpset, 3, 3, range, "", "start, limit and delta are known; at most 16384 elements"},
    {"EyeLike", 9, newestOpset, 1, 1, eyeLike},
};
llvm::ArrayRef<Operator> constantOperators() { return table; }

} // namespace wsc::import
