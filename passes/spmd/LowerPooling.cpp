// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn.pool: a maximum or sum over the window. An average then divides by the number of elements of its window that lie
// in the image: one number, or a constant tensor where windows at the border have fewer.
#include "dialects/nn/Nn.h"
#include "passes/spmd/NestLowering.h"
#include "passes/spmd/Windows.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

/// For each output along dimension d of the image (0: rows, 1: columns), how many taps lie inside of it.
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

/// The divisors of an average as elements of `type`: a scalar, or a tensor of rows × columns.
Value divisors(nn::PoolOp layer, Type type, OpBuilder &builder) {
  SmallVector<APFloat> counts;
  const auto add = [&](int64_t count) {
    APFloat number{double(count)};
    bool inexact;
    number.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    counts.push_back(number);
  };
  SmallVector<int64_t> rows = tapsInside(layer, 0), columns = tapsInside(layer, 1), shape;
  if (layer.getCountIncludePad()) {
    add(layer.getKernel()[0] * layer.getKernel()[1]);
  } else if (llvm::all_equal(rows) && llvm::all_equal(columns)) {
    add(rows[0] * columns[0]);
  } else {
    shape = {int64_t(rows.size()), int64_t(columns.size())};
    for (int64_t row : rows)
      for (int64_t column : columns)
        add(row * column);
  }
  return nn::ConstantOp::create(builder, layer.getLoc(),
                                DenseElementsAttr::get(RankedTensorType::get(shape, type), counts));
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

    ReducedIterators reduced(nests, 4);
    const AffineExpr row = reduced.add(layer.getKernel()[0]), column = reduced.add(layer.getKernel()[1]);
    Value padded = padImage(nests, layer.getInput(), layer.getPads(), neutral(combine, element));
    const NestOperand image{padded,
                            {nests.iterator(0), nests.iterator(1),
                             windowIndex(nests.iterator(2), row, layer.getStrides()[0], layer.getDilations()[0]),
                             windowIndex(nests.iterator(3), column, layer.getStrides()[1], layer.getDilations()[1])}};
    Value pooled = nests.reduce(result.clone(inside), reduced.extents(), image, combine,
                                [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) -> SmallVector<Scalar, 2> {
                                  return {scalars.convert(x[0], inside)};
                                });
    if (isMax)
      return pooled;
    return nests.aligned(
        result, {pooled, divisors(layer, inside, builder)},
        [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) { return scalars.convert(scalars.div(x[0], x[1]), element); });
  }
};

} // namespace

void attachPoolingLowerings(MLIRContext &context) { nn::PoolOp::attachInterface<PoolNests>(context); }

} // namespace wsc::spmd
