// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape rules and folders of the movement operations. Folders touch shapes and file views only: elements in a file are
// never read, and elements in the IR are moved only when the move is a change of shape.
#include "dialects/nn/Nn.h"
#include "dialects/nn/Shape.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace wsc::nn {

LogicalResult ReshapeOp::verify() {
  auto from = getInput().getType(), to = getResult().getType();
  if (from.getNumElements() != to.getNumElements())
    return emitOpError() << "needs equal element counts, found " << from << " (" << from.getNumElements() << ") and "
                         << to << " (" << to.getNumElements() << ")";
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  auto type = getResult().getType();
  if (getInput().getType() == type)
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    if (inner.getInput().getType() == type)
      return inner.getInput();
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return dense.reshape(type);
  if (auto weights = dyn_cast_or_null<WeightsAttr>(adaptor.getInput()))
    return WeightsAttr::get(type, weights.getFile(), weights.getOffset(), weights.getBytes(), weights.getHash());
  return {};
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!input)
    return emitOptionalError(loc, "nn.transpose needs a ranked tensor, found ", adaptor.getInput().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<bool> seen(input.getRank(), false);
  bool valid = static_cast<int64_t>(permutation.size()) == input.getRank();
  SmallVector<int64_t> shape;
  for (int64_t d : permutation) {
    valid = valid && d >= 0 && d < input.getRank() && !seen[d];
    if (!valid)
      break;
    seen[d] = true;
    shape.push_back(input.getDimSize(d));
  }
  if (!valid)
    return emitOptionalError(loc, "nn.transpose: ", formatShape(permutation), " is no permutation of ", input.getRank(),
                             " dimensions");
  results.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  auto isIdentity = [](ArrayRef<int64_t> p) {
    return llvm::all_of(llvm::enumerate(p), [](auto it) { return it.value() == static_cast<int64_t>(it.index()); });
  };
  if (isIdentity(getPermutation()))
    return getInput();
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> composed;
    for (int64_t d : getPermutation())
      composed.push_back(inner.getPermutation()[d]);
    if (isIdentity(composed))
      return inner.getInput();
    setPermutation(composed);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()); dense && dense.isSplat())
    return dense.resizeSplat(cast<ShapedType>(getResult().getType()));
  return {};
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!input)
    return emitOptionalError(loc, "nn.slice needs a ranked tensor, found ", adaptor.getInput().getType());
  ArrayRef<int64_t> starts = adaptor.getStarts(), sizes = adaptor.getSizes(), steps = adaptor.getSteps();
  size_t rank = input.getRank();
  if (starts.size() != rank || sizes.size() != rank || steps.size() != rank)
    return emitOptionalError(loc, "nn.slice needs ", rank, " starts, sizes and steps, found ", starts.size(), ", ",
                             sizes.size(), " and ", steps.size());
  for (size_t d = 0; d < rank; ++d) {
    int64_t extent = input.getDimSize(d), last = starts[d];
    bool fits = sizes[d] >= 0 && steps[d] != 0 && sizes[d] <= extent;
    if (fits && sizes[d] > 0)
      fits = starts[d] >= 0 && starts[d] < extent && !__builtin_mul_overflow(sizes[d] - 1, steps[d], &last) &&
             !__builtin_add_overflow(last, starts[d], &last) && last >= 0 && last < extent;
    if (!fits)
      return emitOptionalError(loc, "nn.slice: start ", starts[d], ", size ", sizes[d], ", step ", steps[d],
                               " leave dimension ", d, " of extent ", extent);
  }
  results.push_back(RankedTensorType::get(sizes, input.getElementType()));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool whole = llvm::all_of(getSteps(), [](int64_t s) { return s == 1; });
  return whole && getInput().getType() == getResult().getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!input)
    return emitOptionalError(loc, "nn.pad needs a ranked tensor, found ", adaptor.getInput().getType());
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh();
  size_t rank = input.getRank();
  if (low.size() != rank || high.size() != rank)
    return emitOptionalError(loc, "nn.pad needs ", rank, " extents low and high, found ", low.size(), " and ",
                             high.size());
  if (adaptor.getValue().getType() != input.getElementType())
    return emitOptionalError(loc, "nn.pad: value must be of element type ", input.getElementType(), ", found ",
                             adaptor.getValue().getType());
  SmallVector<int64_t> shape(input.getShape());
  for (size_t d = 0; d < rank; ++d)
    if (low[d] < 0 || high[d] < 0 || __builtin_add_overflow(shape[d], low[d], &shape[d]) ||
        __builtin_add_overflow(shape[d], high[d], &shape[d]))
      return emitOptionalError(loc, "nn.pad: dimension ", d, " takes no padding of ", low[d], " and ", high[d],
                               "; it must not be negative (use nn.slice to remove elements)");
  results.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(loc, "nn.concat needs an operand");
  auto first = dyn_cast<RankedTensorType>(adaptor.getInputs().front().getType());
  int64_t axis = adaptor.getAxis();
  if (!first || axis < 0 || axis >= first.getRank())
    return emitOptionalError(loc, "nn.concat: axis ", axis, " is no dimension of ",
                             adaptor.getInputs().front().getType());
  SmallVector<int64_t> shape(first.getShape());
  shape[axis] = 0;
  for (Value operand : adaptor.getInputs()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    bool fits = type && type.getElementType() == first.getElementType() && type.getRank() == first.getRank();
    for (int64_t d = 0; fits && d < type.getRank(); ++d)
      fits = d == axis || type.getDimSize(d) == shape[d];
    if (!fits || __builtin_add_overflow(shape[axis], type.getDimSize(axis), &shape[axis]))
      return emitOptionalError(loc, "nn.concat along axis ", axis, ": ", operand.getType(), " does not fit ", first);
  }
  results.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front()) : OpFoldResult();
}

LogicalResult BroadcastToOp::verify() {
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getResult().getType().getShape();
  auto joined = broadcastShapes(from, to);
  if (!joined || ArrayRef<int64_t>(*joined) != to)
    return emitOpError() << "shape " << formatShape(from) << " does not broadcast to " << formatShape(to);
  return success();
}

OpFoldResult BroadcastToOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto indices = dyn_cast<RankedTensorType>(adaptor.getIndices().getType());
  int64_t axis = adaptor.getAxis();
  if (!input || !indices || axis < 0 || axis >= input.getRank())
    return emitOptionalError(loc, "nn.gather: axis ", axis, " is no dimension of ", adaptor.getInput().getType());
  SmallVector<int64_t> shape(input.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, input.getShape().drop_front(axis + 1));
  results.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto indices = dyn_cast<RankedTensorType>(adaptor.getIndices().getType());
  int64_t axis = adaptor.getAxis();
  if (!input || !indices || axis < 0 || axis >= input.getRank())
    return emitOptionalError(loc, "nn.gather_elements: axis ", axis, " is no dimension of ",
                             adaptor.getInput().getType());
  SmallVector<int64_t> expected(input.getShape());
  if (indices.getRank() == input.getRank())
    expected[size_t(axis)] = indices.getDimSize(unsigned(axis));
  if (indices.getShape() != ArrayRef<int64_t>(expected))
    return emitOptionalError(loc, "nn.gather_elements: indices ", formatShape(indices.getShape()), " and input ",
                             formatShape(input.getShape()), " must have equal extents but along axis ", axis);
  results.push_back(indices.clone(input.getElementType()));
  return success();
}

} // namespace wsc::nn
