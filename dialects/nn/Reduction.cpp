// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape rules of reductions, softmax and batch normalisation.
#include "dialects/nn/Nn.h"
#include "dialects/nn/Shape.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace wsc::nn {

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!input)
    return emitOptionalError(loc, "nn.reduce needs a ranked tensor, found ", adaptor.getInput().getType());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < 0 || axes[i] >= input.getRank() || (i && axes[i] <= axes[i - 1]))
      return emitOptionalError(loc, "nn.reduce: axes ", formatShape(axes), " must be strictly increasing and in [0, ",
                               input.getRank(), ")");
  bool isFloat = isa<FloatType>(input.getElementType());
  if (input.getElementType().isInteger(1) || (adaptor.getKind() == ReduceKind::Mean && !isFloat))
    return emitOptionalError(loc, "nn.reduce ", stringifyReduceKind(adaptor.getKind()), " does not take element type ",
                             input.getElementType());
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < input.getRank(); ++d) {
    bool reduced = llvm::is_contained(axes, d);
    ReduceKind kind = adaptor.getKind();
    if (reduced && input.getDimSize(d) == 0 && kind != ReduceKind::Sum && kind != ReduceKind::Prod)
      return emitOptionalError(loc, "nn.reduce ", stringifyReduceKind(kind), " over axis ", d,
                               " of extent 0 has no value");
    if (!reduced)
      shape.push_back(input.getDimSize(d));
    else if (adaptor.getKeepdims())
      shape.push_back(1);
  }
  results.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult SoftmaxOp::verify() {
  int64_t rank = getInput().getType().getRank(), axis = getAxis();
  if (axis < 0 || axis >= rank)
    return emitOpError() << "axis " << axis << " is outside [0, " << rank << ")";
  return success();
}

LogicalResult BatchNormOp::verify() {
  auto input = getInput().getType(), scale = getScale().getType();
  if (input.getRank() < 2)
    return emitOpError() << "needs an input of rank 2 or more, found " << input;
  auto expected = RankedTensorType::get({input.getDimSize(1)}, input.getElementType());
  if (scale != expected)
    return emitOpError() << "parameters must be " << expected << ", found " << scale;
  double epsilon = getEpsilon().convertToDouble();
  if (!(epsilon >= 0.0))
    return emitOpError() << "epsilon must not be negative, found " << epsilon;
  return success();
}

} // namespace wsc::nn
