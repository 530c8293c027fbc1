// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn.softmax along an axis: m = max x, e = exp(x - m), s = Σ e, y = e / s; its logarithm: y = (x - m) - log s. Halves
// are computed in f32 and rounded once.
#include "dialects/nn/Nn.h"
#include "passes/spmd/NestBuilder.h"
#include "passes/spmd/NestLowering.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

struct SoftmaxNests : NestLowering::ExternalModel<SoftmaxNests, nn::SoftmaxOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::SoftmaxOp>(op);
    NestBuilder nests(builder, op->getLoc());
    auto type = cast<RankedTensorType>(layer.getType());
    if (type.getNumElements() == 0)
      return nests.remap(type, {}, {});
    const Type element = type.getElementType(), inside = accumulatorOf(element);
    const int64_t axis = layer.getAxis(), extent = type.getDimSize(unsigned(axis));
    SmallVector<int64_t> shape(type.getShape());
    shape[size_t(axis)] = 1;
    const auto row = [&](Type of) { return RankedTensorType::get(shape, of); };

    /// A tensor of the layer's shape over a reduction along the axis, or a row of it.
    const auto along = [&](Value tensor) {
      NestOperand operand = nests.aligned(tensor, type.getShape());
      const bool isRow = cast<RankedTensorType>(tensor.getType()).getDimSize(unsigned(axis)) == 1 && extent != 1;
      operand.indices[size_t(axis)] = isRow ? nests.fixed(0) : nests.iterator(type.getRank());
      return operand;
    };
    const auto distance = [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) {
      return scalars.sub(scalars.convert(x[0], inside), scalars.convert(x[1], inside));
    };
    Value x = layer.getInput();
    Value greatest = nests.reduce(row(element), extent, along(x), Combine::Max,
                                  [](ScalarBuilder &, ArrayRef<Scalar> v) -> SmallVector<Scalar, 2> { return {v[0]}; });
    if (layer.getLog()) {
      Value sum = nests.reduce(row(inside), extent, {along(x), along(greatest)}, Combine::Add,
                               [&](ScalarBuilder &scalars, ArrayRef<Scalar> v) -> SmallVector<Scalar, 2> {
                                 return {scalars.exp(distance(scalars, v))};
                               });
      Value log =
          nests.aligned(row(inside), sum, [](ScalarBuilder &scalars, ArrayRef<Scalar> v) { return scalars.log(v[0]); });
      return nests.aligned(type, {x, greatest, log}, [&](ScalarBuilder &scalars, ArrayRef<Scalar> v) {
        return scalars.convert(scalars.sub(distance(scalars, v), v[2]), element);
      });
    }
    Value powers = nests.aligned(type.clone(inside), {x, greatest}, [&](ScalarBuilder &scalars, ArrayRef<Scalar> v) {
      return scalars.exp(distance(scalars, v));
    });
    Value sum = nests.reduce(row(inside), extent, along(powers), Combine::Add,
                             [](ScalarBuilder &, ArrayRef<Scalar> v) -> SmallVector<Scalar, 2> { return {v[0]}; });
    return nests.aligned(type, {powers, sum}, [&](ScalarBuilder &scalars, ArrayRef<Scalar> v) {
      return scalars.convert(scalars.div(v[0], v[1]), element);
    });
  }
};

} // namespace

void attachSoftmaxLowerings(MLIRContext &context) { nn::SoftmaxOp::attachInterface<SoftmaxNests>(context); }

} // namespace wsc::spmd
