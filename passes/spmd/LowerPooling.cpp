// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn.pool: a maximum or sum over the window. An average is the sum divided by the number of elements of its window that
// lie in the image: one number, or a constant tensor where windows at the border have fewer.
#include "dialects/nn/Nn.h"
#include "passes/spmd/NestLowering.h"
#include "passes/spmd/Windows.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

/// For each output along spatial dimension d, how many taps lie inside of it.
SmallVector<int64_t> tapsInside(nn::PoolOp layer, unsigned d) {
  const int64_t image = cast<RankedTensorType>(layer.getInput().getType()).getDimSize(d + 2);
  SmallVector<int64_t> counts(cast<RankedTensorType>(layer.getType()).getDimSize(d + 2), 0);
  for (auto [output, count] : llvm::enumerate(counts))
    for (int64_t tap = 0; tap < layer.getKernel()[d]; ++tap) {
      const int64_t at = int64_t(output) * layer.getStrides()[d] + tap * layer.getDilations()[d] - layer.getPads()[d];
      count += at >= 0 && at < image;
    }
  return counts;
}

/// The divisors of an average as elements of `type`: a scalar, or a tensor of the result's spatial dimensions.
Value divisors(nn::PoolOp layer, FloatType type, OpBuilder &builder) {
  SmallVector<int64_t> counts{1}, shape;
  for (unsigned d = 0; d < layer.getKernel().size(); ++d) {
    SmallVector<int64_t> taps = layer.getCountIncludePad() ? SmallVector<int64_t>{layer.getKernel()[d]}
                                                           : tapsInside(layer, d),
                         all;
    for (int64_t before : counts)
      for (int64_t count : taps)
        all.push_back(before * count);
    counts = std::move(all);
    shape.push_back(int64_t(taps.size()));
  }
  if (llvm::all_equal(counts)) {
    counts.truncate(1);
    shape.clear();
  }
  SmallVector<APFloat> numbers;
  for (int64_t count : counts) {
    bool inexact;
    numbers.emplace_back(double(count)).convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  }
  return nn::ConstantOp::create(builder, layer.getLoc(),
                                DenseElementsAttr::get(RankedTensorType::get(shape, type), numbers));
}

struct PoolNests : NestLowering::ExternalModel<PoolNests, nn::PoolOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::PoolOp>(op);
    NestBuilder nests(builder, op->getLoc());
    auto result = cast<RankedTensorType>(layer.getType());
    const Type element = result.getElementType();
    const bool isMax = layer.getKind() == nn::PoolKind::Max;
    const Combine combine = isMax ? Combine::Max : Combine::Add;
    const Type inside = isMax ? element : accumulatorOf(element);
    if (result.getNumElements() == 0)
      return nests.remap(result, {}, {});

    ReducedIterators reduced(nests, result.getRank());
    SmallVector<AffineExpr> taps;
    for (int64_t extent : layer.getKernel())
      taps.push_back(reduced.add(extent));
    Value padded = padImage(nests, layer.getInput(), layer.getPads(), neutral(combine, element));
    NestOperand image{padded, {nests.iterator(0), nests.iterator(1)}};
    addWindowIndices(nests, image.indices, 2, taps, layer.getStrides(), layer.getDilations());
    Value pooled = nests.reduce(result.clone(inside), reduced.extents(), image, combine,
                                [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) -> SmallVector<Scalar, 2> {
                                  return {scalars.convert(x[0], inside)};
                                });
    if (layer.getKind() != nn::PoolKind::Avg)
      return nests.convert(pooled, element);
    return nests.aligned(
        result, {pooled, divisors(layer, cast<FloatType>(inside), builder)},
        [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) { return scalars.convert(scalars.div(x[0], x[1]), element); });
  }
};

} // namespace

void attachPoolingLowerings(MLIRContext &context) { nn::PoolOp::attachInterface<PoolNests>(context); }

} // namespace wsc::spmd
