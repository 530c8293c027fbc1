// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn.reduce: one reducing nest. Sums and products of halves are formed in f32; a mean divides the sum by the number of
// elements, exactly rounded.
#include "dialects/nn/Nn.h"
#include "passes/spmd/NestBuilder.h"
#include "passes/spmd/NestLowering.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

Combine combineOf(nn::ReduceKind kind) {
  switch (kind) {
  case nn::ReduceKind::Sum:
  case nn::ReduceKind::Mean:
    return Combine::Add;
  case nn::ReduceKind::Prod:
    return Combine::Multiply;
  case nn::ReduceKind::Min:
    return Combine::Min;
  case nn::ReduceKind::Max:
    return Combine::Max;
  }
  llvm_unreachable("a kind of nn.reduce");
}

struct ReduceNests : NestLowering::ExternalModel<ReduceNests, nn::ReduceOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::ReduceOp>(op);
    NestBuilder nests(builder, op->getLoc());
    auto input = cast<RankedTensorType>(layer.getInput().getType());
    auto result = cast<RankedTensorType>(layer.getType());
    const Combine combine = combineOf(layer.getKind());
    const bool rounds = combine == Combine::Add || combine == Combine::Multiply;
    const Type inside = rounds ? accumulatorOf(input.getElementType()) : input.getElementType();

    // Reduced iterators come behind those of the result, which may have an extent of 1 in an axis' place.
    NestOperand read{layer.getInput(), {}};
    SmallVector<int64_t> reduced;
    int64_t kept = 0, count = 1;
    for (int64_t d = 0; d < input.getRank(); ++d) {
      const bool isReduced = llvm::is_contained(layer.getAxes(), d);
      read.indices.push_back(nests.iterator(isReduced ? result.getRank() + int64_t(reduced.size()) : kept));
      kept += !isReduced || layer.getKeepdims();
      if (isReduced) {
        reduced.push_back(input.getDimSize(d));
        count *= input.getDimSize(d);
      }
    }
    Value sum = nests.reduce(result.clone(inside), reduced, read, combine,
                             [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) -> SmallVector<Scalar, 2> {
                               return {scalars.convert(x[0], inside)};
                             });
    if (layer.getKind() != nn::ReduceKind::Mean)
      return nests.convert(sum, result.getElementType());
    return nests.aligned(result, sum, [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) {
      return scalars.convert(scalars.div(x[0], scalars.constant(inside, double(count))), result.getElementType());
    });
  }
};

} // namespace

void attachReductionLowerings(MLIRContext &context) { nn::ReduceOp::attachInterface<ReduceNests>(context); }

} // namespace wsc::spmd
