// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn-flatten-rows: layers that work on the last dimension alone (elementwise with operands of the whole shape, one row
// or one element; softmax along it; products with a weight matrix) take tensors without a plane of their own as
// [rows, last]. The reshapes around them compose with each other and with those at the network's edges.
#include "passes/wafer/Passes.h"
#include "passes/wafer/Planes.h"

#include "dialects/nn/Nn.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace wsc::wafer {
#define GEN_PASS_DEF_FLATTENROWS
#include "passes/wafer/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// [d0, …, dn, last] as [d0·…·dn, last].
RankedTensorType rowsOf(RankedTensorType type) {
  int64_t last = type.getShape().back();
  return RankedTensorType::get({last ? type.getNumElements() / last : 0, last}, type.getElementType());
}

/// Whether a layer with this result has no form as it stands, and would have one by rows.
bool needsRows(RankedTensorType type) { return type.getRank() > 2 && !planeOf(type) && type.getNumElements() > 0; }

Value reshape(PatternRewriter &rewriter, Location loc, Value value, RankedTensorType type) {
  return typeOf(value) == type ? value : nn::ReshapeOp::create(rewriter, loc, type, value).getResult();
}

/// Type of an elementwise operand beside rows of `shape`'s last extent; null if it differs from row to row in a way of
/// its own.
RankedTensorType rowOperand(RankedTensorType type, ArrayRef<int64_t> shape) {
  if (type.getShape() == shape)
    return rowsOf(type);
  if (type.getNumElements() == 1)
    return RankedTensorType::get({}, type.getElementType());
  if (type.getShape().back() == shape.back() && type.getNumElements() == shape.back())
    return RankedTensorType::get({shape.back()}, type.getElementType());
  return nullptr;
}

/// `op` again on other operands, its result in place of the old one.
void replaceByRows(PatternRewriter &rewriter, Operation *op, ValueRange operands) {
  RankedTensorType type = typeOf(op->getResult(0));
  OperationState state(op->getLoc(), op->getName().getStringRef(), operands, rowsOf(type), op->getAttrs());
  Value rows = rewriter.create(state)->getResult(0);
  rewriter.replaceOp(op, reshape(rewriter, op->getLoc(), rows, type));
}

template <typename Op> struct ElementwiseRows : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getResult());
    if (!needsRows(type))
      return failure();
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return !rowOperand(typeOf(operand), type.getShape()); }))
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(reshape(rewriter, op.getLoc(), operand, rowOperand(typeOf(operand), type.getShape())));
    replaceByRows(rewriter, op, operands);
    return success();
  }
};

struct SoftmaxRows : OpRewritePattern<nn::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::SoftmaxOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getResult());
    if (!needsRows(type) || int64_t(op.getAxis()) != type.getRank() - 1)
      return failure();
    OperationState state(op.getLoc(), op->getName().getStringRef(),
                         reshape(rewriter, op.getLoc(), op.getInput(), rowsOf(type)), rowsOf(type), op->getAttrs());
    auto rows = cast<nn::SoftmaxOp>(rewriter.create(state));
    rows.setAxis(1);
    rewriter.replaceOp(op, reshape(rewriter, op.getLoc(), rows.getResult(), type));
    return success();
  }
};

struct MatmulRows : OpRewritePattern<nn::MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::MatmulOp op, PatternRewriter &rewriter) const override {
    if (typeOf(op.getRhs()).getRank() != 2 || typeOf(op.getLhs()).getRank() < 3 ||
        typeOf(op.getResult()).getNumElements() == 0)
      return failure();
    SmallVector<Value> operands(op->getOperands());
    operands[0] = reshape(rewriter, op.getLoc(), op.getLhs(), rowsOf(typeOf(op.getLhs())));
    replaceByRows(rewriter, op, operands);
    return success();
  }
};

struct FlattenRowsPass : impl::FlattenRowsBase<FlattenRowsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ElementwiseRows<nn::UnaryOp>, ElementwiseRows<nn::BinaryOp>, SoftmaxRows, MatmulRows>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace wsc::wafer
