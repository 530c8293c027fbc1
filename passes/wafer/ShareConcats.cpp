// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn-share-concats: one walk in order; each concatenation looks for the longest earlier one that is its prefix.
#include "passes/wafer/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "nn-share-concats"

using namespace mlir;

namespace wsc::wafer {
#define GEN_PASS_DEF_SHARECONCATS
#include "passes/wafer/Passes.h.inc"

namespace {

constexpr size_t kMostOperands = 4;

RankedTensorType concatType(ValueRange operands, int64_t axis) {
  auto type = cast<RankedTensorType>(operands.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  for (Value operand : operands.drop_front())
    shape[axis] += cast<RankedTensorType>(operand.getType()).getDimSize(axis);
  return RankedTensorType::get(shape, type.getElementType());
}

Value concat(OpBuilder &builder, Location loc, ValueRange operands, int64_t axis) {
  if (operands.size() == 1)
    return operands.front();
  OperationState state(loc, nn::ConcatOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(concatType(operands, axis));
  state.addAttribute("axis", builder.getI64IntegerAttr(axis));
  return builder.create(state)->getResult(0);
}

// Cuts `operands` until no concatenation has more than kMostOperands.
Value split(OpBuilder &builder, Location loc, ValueRange operands, int64_t axis) {
  if (operands.size() <= kMostOperands)
    return concat(builder, loc, operands, axis);
  size_t half = operands.size() / 2;
  return concat(
      builder, loc,
      {split(builder, loc, operands.take_front(half), axis), split(builder, loc, operands.drop_front(half), axis)},
      axis);
}

struct ShareConcatsPass : impl::ShareConcatsBase<ShareConcatsPass> {
  void runOnOperation() override {
    struct Earlier {
      SmallVector<Value> operands; // as written in the network
      int64_t axis;
      Value result;
    };
    SmallVector<Earlier> earlier;
    for (nn::ConcatOp op : llvm::make_early_inc_range(getOperation().getOps<nn::ConcatOp>())) {
      int64_t axis = op.getAxis();
      SmallVector<Value> operands(op.getInputs());
      const Earlier *prefix = nullptr;
      for (const Earlier &candidate : earlier)
        if (candidate.axis == axis && candidate.operands.size() < operands.size() &&
            (!prefix || candidate.operands.size() > prefix->operands.size()) &&
            llvm::equal(candidate.operands, ArrayRef(operands).take_front(candidate.operands.size())))
          prefix = &candidate;
      SmallVector<Value> shared;
      if (prefix) {
        shared.push_back(prefix->result);
        llvm::append_range(shared, ArrayRef(operands).drop_front(prefix->operands.size()));
      } else {
        shared = operands;
      }
      Value result = op.getResult();
      if (prefix || shared.size() > kMostOperands) {
        LLVM_DEBUG(llvm::dbgs() << op << (prefix ? " begins with an earlier one" : " is cut in halves") << "\n");
        OpBuilder builder(op);
        result = split(builder, op.getLoc(), shared, axis);
        op.getResult().replaceAllUsesWith(result);
        op.erase();
      }
      earlier.push_back({std::move(operands), axis, result});
    }
  }
};

} // namespace
} // namespace wsc::wafer
