// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape rules of convolution, matrix product and pooling.
#include "dialects/nn/Nn.h"
#include "dialects/nn/Shape.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace wsc::nn {

/// Checks the window attributes of conv and pool and computes the spatial extents of the result.
static FailureOr<SmallVector<int64_t>> inferWindow(std::optional<Location> loc, StringRef op, ArrayRef<int64_t> image,
                                                   ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                                                   ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads) {
  const size_t rank = image.size();
  if (kernel.size() != rank || strides.size() != rank || dilations.size() != rank || pads.size() != 2 * rank)
    return emitOptionalError(loc, op, " over ", rank,
                             " spatial dimensions needs as many kernel extents, strides and dilations ",
                             "and twice as many pads, found ", kernel.size(), ", ", strides.size(), ", ",
                             dilations.size(), " and ", pads.size());
  SmallVector<int64_t> result;
  for (size_t d = 0; d < rank; ++d) {
    auto extent = windowOutputExtent(image[d], kernel[d], strides[d], dilations[d], pads[d], pads[d + rank]);
    if (!extent)
      return emitOptionalError(loc, op, ": no window of ", kernel[d], " taps, stride ", strides[d], ", dilation ",
                               dilations[d], " fits extent ", image[d], " with padding ", pads[d], " and ",
                               pads[d + rank]);
    result.push_back(*extent);
  }
  return result;
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto weight = dyn_cast<RankedTensorType>(adaptor.getWeight().getType());
  if (!input || !weight || input.getRank() < 3 || weight.getRank() != input.getRank())
    return emitOptionalError(
        loc, "nn.conv needs input [N, C, spatial…] and weight [O, C/groups, kernel…] of one rank, found ",
        adaptor.getInput().getType(), " and ", adaptor.getWeight().getType());
  ArrayRef<int64_t> in = input.getShape(), w = weight.getShape();
  int64_t groups = adaptor.getGroups();
  if (groups < 1 || in[1] % groups != 0 || w[0] % groups != 0 || w[1] != in[1] / groups)
    return emitOptionalError(loc, "nn.conv: input channels ", in[1], ", weight ", formatShape(w), " and groups ",
                             groups,
                             " do not fit: the weight needs input channels / groups as dimension 1, and both input and "
                             "output channels must be multiples of groups");
  if (input.getElementType() != weight.getElementType() || input.getElementType().isInteger(1))
    return emitOptionalError(loc, "nn.conv needs one numeric element type, found ", input.getElementType(), " and ",
                             weight.getElementType());
  if (Value bias = adaptor.getBias()) {
    auto expected = RankedTensorType::get({w[0]}, input.getElementType());
    if (bias.getType() != expected)
      return emitOptionalError(loc, "nn.conv: bias must be ", expected, ", found ", bias.getType());
  }
  auto extents = inferWindow(loc, "nn.conv", in.drop_front(2), w.drop_front(2), adaptor.getStrides(),
                             adaptor.getDilations(), adaptor.getPads());
  if (failed(extents))
    return failure();
  SmallVector<int64_t> shape{in[0], w[0]};
  shape.append(extents->begin(), extents->end());
  results.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!input || input.getRank() < 3)
    return emitOptionalError(loc, "nn.pool needs input [N, C, spatial…], found ", adaptor.getInput().getType());
  const bool isFloat = isa<FloatType>(input.getElementType());
  if (input.getElementType().isInteger(1) || (adaptor.getKind() == PoolKind::Avg && !isFloat))
    return emitOptionalError(loc, "nn.pool ", stringifyPoolKind(adaptor.getKind()), " needs a ",
                             adaptor.getKind() == PoolKind::Avg ? "float" : "numeric", " element type, found ",
                             input.getElementType());
  ArrayRef<int64_t> in = input.getShape(), kernel = adaptor.getKernel();
  auto extents = inferWindow(loc, "nn.pool", in.drop_front(2), kernel, adaptor.getStrides(), adaptor.getDilations(),
                             adaptor.getPads());
  if (failed(extents))
    return failure();
  for (auto [d, pad] : llvm::enumerate(adaptor.getPads())) {
    const size_t axis = d % kernel.size();
    if (pad > (kernel[axis] - 1) * adaptor.getDilations()[axis])
      return emitOptionalError(loc, "nn.pool: padding ", pad, " is not smaller than the window of ", kernel[axis],
                               " taps with dilation ", adaptor.getDilations()[axis],
                               ": a window would lie in padding alone");
  }
  SmallVector<int64_t> shape{in[0], in[1]};
  shape.append(extents->begin(), extents->end());
  results.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto lhs = dyn_cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = dyn_cast<RankedTensorType>(adaptor.getRhs().getType());
  if (!lhs || !rhs || lhs.getRank() < 2 || rhs.getRank() < 2)
    return emitOptionalError(loc, "nn.matmul needs operands of rank 2 or more, found ", adaptor.getLhs().getType(),
                             " and ", adaptor.getRhs().getType());
  if (lhs.getElementType() != rhs.getElementType() || lhs.getElementType().isInteger(1))
    return emitOptionalError(loc, "nn.matmul needs one numeric element type, found ", lhs.getElementType(), " and ",
                             rhs.getElementType());
  ArrayRef<int64_t> a = lhs.getShape(), b = rhs.getShape();
  bool transposed = adaptor.getTransposeRhs();
  int64_t k = transposed ? b[b.size() - 1] : b[b.size() - 2];
  int64_t n = transposed ? b[b.size() - 2] : b[b.size() - 1];
  if (a.back() != k)
    return emitOptionalError(loc, "nn.matmul: inner extents differ: lhs ", formatShape(a), ", rhs ", formatShape(b),
                             transposed ? " transposed" : "");
  auto batch = broadcastShapes(a.drop_back(2), b.drop_back(2));
  if (!batch)
    return emitOptionalError(loc, "nn.matmul: leading dimensions do not broadcast: lhs ", formatShape(a), ", rhs ",
                             formatShape(b));
  if (Value bias = adaptor.getBias()) {
    auto expected = RankedTensorType::get({n}, lhs.getElementType());
    if (bias.getType() != expected)
      return emitOptionalError(loc, "nn.matmul: bias must be ", expected, ", found ", bias.getType());
  }
  SmallVector<int64_t> shape(*batch);
  shape.push_back(a[a.size() - 2]);
  shape.push_back(n);
  results.push_back(RankedTensorType::get(shape, lhs.getElementType()));
  return success();
}

} // namespace wsc::nn
