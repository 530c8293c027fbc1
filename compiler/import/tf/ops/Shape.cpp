// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes as tensors, and other shapes for the same elements. All extents are known, so what depends on shapes alone is
// a constant.
#include "dialects/nn/Shape.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include <algorithm>
#include <limits>

namespace wsc::import::tf {
namespace {

/// The shape of an input; random tensors have one, too.
llvm::ArrayRef<int64_t> shapeIn(NodeContext &node, size_t i) {
  return node.value(i).random ? node.value(i).random->type.getShape() : node.input(i).type.getShape();
}

bool hasShape(NodeContext &node, size_t i) { return node.value(i).random || node.input(i); }

void shapeOf(NodeContext &node) {
  mlir::Type element = node.typeAttribute("out_type", wsc::tf::DT_INT32);
  for (size_t i = 0; i < node.inputCount() && !node.failed(); ++i)
    if (hasShape(node, i))
      node.setResult(i, node.integers(shapeIn(node, i), element));
}

void rankOf(NodeContext &node) {
  if (hasShape(node, 0))
    node.setResult(Value(node.layers.scalar(node.i32(), static_cast<double>(shapeIn(node, 0).size()))));
}

void sizeOf(NodeContext &node) {
  mlir::Type element = node.typeAttribute("out_type", wsc::tf::DT_INT32);
  if (!node.failed() && hasShape(node, 0))
    node.setResult(constant(node.layers, {}, {productOf(shapeIn(node, 0))}).cast(element));
}

void reshape(NodeContext &node) {
  Expression x = node.in(0);
  std::vector<int64_t> shape = node.constantInts(1, "the shape");
  if (node.failed())
    return;
  int64_t unknown = -1, others = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1 && unknown < 0)
      unknown = static_cast<int64_t>(d);
    else if (shape[d] < 0 || __builtin_mul_overflow(others, shape[d], &others))
      return node.fail(absl::StrCat("the shape ", nn::formatShape(shape), " is not valid"));
  }
  if (unknown >= 0 && others > 0 && x.size() % others == 0)
    shape[unknown] = x.size() / others;
  else if (unknown >= 0)
    return node.fail(absl::StrCat("the shape ", nn::formatShape(shape), " does not divide the ", x.size(),
                                  " elements of ", nn::formatShape(x.shape())));
  if (productOf(shape) != x.size())
    return node.fail(absl::StrCat("the shape ", nn::formatShape(shape), " has not as many elements as ",
                                  nn::formatShape(x.shape())));
  node.setResult(x.reshape(shape));
}

void squeeze(NodeContext &node) {
  std::vector<int64_t> axes = node.intsAttribute("squeeze_dims");
  if (node.hasAttribute("axis"))
    axes = node.intsAttribute("axis");
  Expression x = node.in(0);
  axes = node.normalizedAxes(axes, x.rank());
  if (node.failed())
    return;
  llvm::SmallVector<int64_t> shape;
  for (int64_t d = 0; d < x.rank(); ++d) {
    const bool isNamed = llvm::is_contained(axes, d);
    if (isNamed && x.shape()[d] != 1)
      return node.fail(absl::StrCat("dimension ", d, " of ", nn::formatShape(x.shape()), " is not 1"));
    if (!isNamed && !(axes.empty() && x.shape()[d] == 1))
      shape.push_back(x.shape()[d]);
  }
  node.setResult(x.reshape(shape));
}

void expandDims(NodeContext &node) {
  Expression x = node.in(0);
  int64_t axis = node.normalizedAxis(node.constantInt(1, "the axis"), x.rank() + 1);
  if (!node.failed())
    node.setResult(x.unsqueeze(axis));
}

void broadcastTo(NodeContext &node) {
  std::vector<int64_t> shape = node.constantInts(1, "the shape");
  if (!node.failed())
    node.setResult(node.in(0).broadcast(shape));
}

/// The shape that two shapes broadcast to.
void broadcastArgs(NodeContext &node) {
  std::vector<int64_t> a = node.constantInts(0, "a shape"), b = node.constantInts(1, "a shape");
  mlir::Type element = node.input(0).elementType();
  auto joined = nn::broadcastShapes(a, b);
  if (node.failed())
    return;
  if (!joined)
    return node.fail(absl::StrCat("shapes ", nn::formatShape(a), " and ", nn::formatShape(b), " do not broadcast"));
  node.setResult(node.integers(*joined, element));
}

/// The axes over which gradients of two operands that were broadcast are summed.
void broadcastGradientArgs(NodeContext &node) {
  std::vector<int64_t> shapes[2] = {node.constantInts(0, "a shape"), node.constantInts(1, "a shape")};
  mlir::Type element = node.input(0).elementType();
  if (node.failed())
    return;
  const size_t rank = std::max(shapes[0].size(), shapes[1].size());
  for (std::vector<int64_t> &shape : shapes)
    shape.insert(shape.begin(), rank - shape.size(), -1); // a dimension that is not there
  for (size_t i = 0; i < 2; ++i) {
    std::vector<int64_t> axes;
    for (size_t d = 0; d < rank; ++d) {
      // Where both are 1 the sum over one element changes nothing.
      if (shapes[i][d] == -1 || shapes[i][d] == 1)
        axes.push_back(static_cast<int64_t>(d));
    }
    node.setResult(i, node.integers(axes, element));
  }
}

void invertPermutation(NodeContext &node) {
  std::vector<int64_t> permutation = node.constantInts(0, "the permutation");
  mlir::Type element = node.input(0).elementType();
  if (node.failed())
    return;
  std::vector<int64_t> inverse(permutation.size(), -1);
  for (size_t i = 0; i < permutation.size(); ++i) {
    const int64_t at = permutation[i];
    if (at < 0 || at >= static_cast<int64_t>(permutation.size()) || inverse[at] >= 0)
      return node.fail(absl::StrCat(nn::formatShape(permutation), " is no permutation"));
    inverse[at] = static_cast<int64_t>(i);
  }
  node.setResult(node.integers(inverse, element));
}

/// Where each of several tensors begins in their concatenation.
void concatOffset(NodeContext &node) {
  int64_t axis = node.constantInt(0, "the axis");
  std::vector<int64_t> first = node.constantInts(1, "a shape");
  axis = node.normalizedAxis(axis, static_cast<int64_t>(first.size()));
  int64_t at = 0;
  for (size_t i = 1; i < node.inputCount() && !node.failed(); ++i) {
    std::vector<int64_t> shape = node.constantInts(i, "a shape"), offset(first.size(), 0);
    if (node.failed())
      return;
    if (shape.size() != first.size() || shape[axis] < 0 || at > std::numeric_limits<int32_t>::max() - shape[axis])
      return node.fail(absl::StrCat("shapes ", nn::formatShape(first), " and ", nn::formatShape(shape),
                                    " do not join along axis ", axis));
    offset[axis] = at;
    at += shape[axis];
    node.setResult(i - 1, node.integers(offset, node.input(i).elementType()));
  }
}

/// Dimensions of one order of letters in another: 0 … 3 of "NHWC" in "NCHW".
std::vector<int64_t> placesIn(NodeContext &node, bool ofDestination) {
  const std::string from = node.stringAttribute("src_format", "NHWC"), to = node.stringAttribute("dst_format", "NCHW");
  std::vector<int64_t> places;
  for (char letter : ofDestination ? to : from) {
    const size_t at = (ofDestination ? from : to).find(letter);
    if (at != std::string::npos)
      places.push_back(static_cast<int64_t>(at));
  }
  if (places.size() != from.size() || from.size() != to.size() || places.empty())
    node.fail(absl::StrCat("'", from, "' and '", to, "' are not the same letters in another order"));
  return places;
}
void dataFormatDimMap(NodeContext &node) {
  std::vector<int64_t> places = placesIn(node, false);
  Expression x = node.in(0);
  if (node.failed())
    return;
  const int64_t rank = static_cast<int64_t>(places.size());
  node.setResult(gather(node.integers(places, x.elementType()), wrappedIndices(x, rank), 0));
}
/// A vector (or its rows of two) in the other order; of a vector without batch and channels only the spatial part.
void dataFormatVecPermute(NodeContext &node) {
  std::vector<int64_t> places = placesIn(node, true);
  Expression x = node.in(0);
  if (node.failed())
    return;
  const std::string from = node.stringAttribute("src_format", "NHWC");
  const int64_t rank = static_cast<int64_t>(places.size());
  if (x.rank() < 1 || (x.shape()[0] != rank && x.shape()[0] != rank - 2))
    return node.fail(absl::StrCat(nn::formatShape(x.shape()), " does not fit '", from, "'"));
  if (x.shape()[0] == rank - 2) {
    std::vector<int64_t> spatial;
    for (int64_t place : places)
      if (from[place] != 'N' && from[place] != 'C')
        spatial.push_back(place);
    for (int64_t &place : spatial) { // its number among the spatial ones
      int64_t before = 0;
      for (int64_t other = 0; other < place; ++other)
        before += from[other] != 'N' && from[other] != 'C';
      place = before;
    }
    if (static_cast<int64_t>(spatial.size()) != rank - 2)
      return node.fail(absl::StrCat("'", from, "' has no two dimensions N and C"));
    places = spatial;
  }
  node.setResult(picked(x, 0, places));
}

} // namespace

static const Operator table[] = {
    {"Shape", 1, 1, shapeOf},
    {"ShapeN", 1, anyInputs, shapeOf},
    {"Rank", 1, 1, rankOf},
    {"Size", 1, 1, sizeOf},
    {"Reshape", 2, 2, reshape},
    {"Squeeze", 1, 1, squeeze},
    {"ExpandDims", 2, 2, expandDims},
    {"BroadcastTo", 2, 2, broadcastTo},
    {"BroadcastArgs", 2, 2, broadcastArgs},
    {"BroadcastGradientArgs", 2, 2, broadcastGradientArgs, "r0,r1"},
    {"InvertPermutation", 1, 1, invertPermutation},
    {"ConcatOffset", 2, anyInputs, concatOffset},
    {"DataFormatDimMap", 1, 1, dataFormatDimMap},
    {"DataFormatVecPermute", 1, 1, dataFormatVecPermute},
};
llvm::ArrayRef<Operator> shapeOperators() { return table; }

} // namespace wsc::import::tf
