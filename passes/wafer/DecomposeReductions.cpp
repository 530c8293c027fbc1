// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn-decompose-reductions: reductions over image axes become pools, one axis at a time (columns first).
#include "passes/wafer/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace wsc::wafer {
#define GEN_PASS_DEF_DECOMPOSEREDUCTIONS
#include "passes/wafer/Passes.h.inc"

namespace {

Value pool(PatternRewriter &rewriter, Location loc, nn::PoolKind kind, Value input, int64_t kh, int64_t kw) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[2] = shape[2] - kh + 1;
  shape[3] = shape[3] - kw + 1;
  auto result = RankedTensorType::get(shape, type.getElementType());
  OperationState state(loc, nn::PoolOp::getOperationName());
  state.addOperands(input);
  state.addTypes(result);
  state.addAttribute("kind", nn::PoolKindAttr::get(rewriter.getContext(), kind));
  state.addAttribute("kernel", rewriter.getDenseI64ArrayAttr({kh, kw}));
  return rewriter.create(state)->getResult(0);
}

/// mean and max over [2, 3] of an image.
struct GlobalReduction : OpRewritePattern<nn::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ReduceOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    bool mean = op.getKind() == nn::ReduceKind::Mean, max = op.getKind() == nn::ReduceKind::Max;
    if (type.getRank() != 4 || (!mean && !max) || op.getAxes() != ArrayRef<int64_t>{2, 3})
      return failure();
    nn::PoolKind kind = mean ? nn::PoolKind::Avg : nn::PoolKind::Max;
    Value columns = pool(rewriter, op.getLoc(), kind, op.getInput(), 1, type.getDimSize(3));
    Value rows = pool(rewriter, op.getLoc(), kind, columns, type.getDimSize(2), 1);
    if (rows.getType() != op.getType())
      rows = nn::ReshapeOp::create(rewriter, op.getLoc(), op.getType(), rows);
    rewriter.replaceOp(op, rows);
    return success();
  }
};

/// A pool whose unpadded window is the whole image.
struct GlobalPool : OpRewritePattern<nn::PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::PoolOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t height = type.getDimSize(2), width = type.getDimSize(3);
    if (height == 1 || width == 1 || op.getKernel() != ArrayRef<int64_t>{height, width} ||
        llvm::any_of(op.getPads(), [](int64_t pad) { return pad != 0; }))
      return failure();
    Value columns = pool(rewriter, op.getLoc(), op.getKind(), op.getInput(), 1, width);
    rewriter.replaceOp(op, pool(rewriter, op.getLoc(), op.getKind(), columns, height, 1));
    return success();
  }
};

struct DecomposeReductionsPass : impl::DecomposeReductionsBase<DecomposeReductionsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<GlobalReduction, GlobalPool>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace wsc::wafer
