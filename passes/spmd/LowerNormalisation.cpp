// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn.batch_norm: a factor per channel, scale / √(variance + ε), then (x - mean) · factor + bias. Halves are computed in
// f32 and rounded once.
#include "dialects/nn/Nn.h"
#include "passes/spmd/NestBuilder.h"
#include "passes/spmd/NestLowering.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

struct BatchNormNests : NestLowering::ExternalModel<BatchNormNests, nn::BatchNormOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::BatchNormOp>(op);
    NestBuilder nests(builder, op->getLoc());
    auto type = cast<RankedTensorType>(layer.getType());
    const Type element = type.getElementType(), inside = accumulatorOf(element);
    const double epsilon = layer.getEpsilon().convertToDouble();
    Value factor =
        nests.aligned(cast<RankedTensorType>(layer.getScale().getType()).clone(inside),
                      {layer.getScale(), layer.getVariance()}, [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) {
                        const Scalar shifted =
                            scalars.add(scalars.convert(x[1], inside), scalars.constant(inside, epsilon));
                        return scalars.div(scalars.convert(x[0], inside), scalars.sqrt(shifted));
                      });
    const auto perChannel = [&](Value parameter) { return NestOperand{parameter, {nests.iterator(1)}}; };
    return nests.elementwise(type,
                             {nests.aligned(layer.getInput(), type.getShape()), perChannel(layer.getMean()),
                              perChannel(factor), perChannel(layer.getBias())},
                             [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) {
                               const auto in = [&](int i) { return scalars.convert(x[i], inside); };
                               return scalars.convert(scalars.fma(scalars.sub(in(0), in(1)), in(2), in(3)), element);
                             });
  }
};

} // namespace

void attachNormalisationLowerings(MLIRContext &context) { nn::BatchNormOp::attachInterface<BatchNormNests>(context); }

} // namespace wsc::spmd
