// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn-decompose-reductions: reductions over image axes become pools, or convolutions of each channel with ones, one axis
// at a time (columns first, channels last).
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

/// The sum over windows of kh × kw of each channel, or of all channels at one place.
Value sum(PatternRewriter &rewriter, Location loc, Value input, int64_t kh, int64_t kw, bool overChannels = false) {
  auto type = cast<RankedTensorType>(input.getType());
  const int64_t channels = type.getDimSize(1), out = overChannels ? 1 : channels;
  auto weightType = RankedTensorType::get({out, overChannels ? channels : 1, kh, kw}, type.getElementType());
  Value ones = nn::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(weightType, 1.0f));
  auto result =
      RankedTensorType::get({1, out, type.getDimSize(2) - kh + 1, type.getDimSize(3) - kw + 1}, type.getElementType());
  OperationState state(loc, nn::ConvOp::getOperationName());
  state.addOperands({input, ones});
  state.addTypes(result);
  state.addAttribute("groups", rewriter.getI64IntegerAttr(out));
  return rewriter.create(state)->getResult(0);
}

Value elementwise(PatternRewriter &rewriter, Location loc, nn::BinaryKind kind, Value x, float constant) {
  auto type = cast<RankedTensorType>(x.getType());
  Value c = nn::ConstantOp::create(rewriter, loc,
                                   DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()), constant));
  return nn::BinaryOp::create(rewriter, loc, type, kind, x, c);
}

/// Sum, mean, minimum and maximum over axes of an image or of the rows of a matrix.
struct ImageReduction : OpRewritePattern<nn::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ReduceOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    const nn::ReduceKind kind = op.getKind();
    const bool sums = kind == nn::ReduceKind::Sum || kind == nn::ReduceKind::Mean;
    if (!type.getElementType().isF32() || (!sums && kind != nn::ReduceKind::Max && kind != nn::ReduceKind::Min))
      return failure();
    if (type.getRank() == 2 && sums && op.getAxes() == ArrayRef<int64_t>{1})
      return reduceRows(op, rewriter);
    if (type.getRank() != 4 || type.getDimSize(0) != 1 || op.getAxes().empty() || op.getAxes().front() == 0 ||
        (!sums && op.getAxes().front() == 1))
      return failure();
    Value x = op.getInput();
    const Location loc = op.getLoc();
    if (kind == nn::ReduceKind::Min)
      x = nn::UnaryOp::create(rewriter, loc, type, nn::UnaryKind::Neg, x);
    const auto over = [&](int64_t axis) { return llvm::is_contained(op.getAxes(), axis); };
    const auto reduce = [&](int64_t kh, int64_t kw) {
      x = kind == nn::ReduceKind::Sum    ? sum(rewriter, loc, x, kh, kw)
          : kind == nn::ReduceKind::Mean ? pool(rewriter, loc, nn::PoolKind::Avg, x, kh, kw)
                                         : pool(rewriter, loc, nn::PoolKind::Max, x, kh, kw);
    };
    if (over(3))
      reduce(1, type.getDimSize(3));
    if (over(2))
      reduce(type.getDimSize(2), 1);
    if (over(1))
      x = sum(rewriter, loc, x, 1, 1, /*overChannels=*/true);
    if (over(1) && kind == nn::ReduceKind::Mean)
      x = elementwise(rewriter, loc, nn::BinaryKind::Mul, x, 1.0f / float(type.getDimSize(1)));
    if (kind == nn::ReduceKind::Min)
      x = nn::UnaryOp::create(rewriter, loc, x.getType(), nn::UnaryKind::Neg, x);
    finish(op, x, rewriter);
    return success();
  }

  static LogicalResult reduceRows(nn::ReduceOp op, PatternRewriter &rewriter) {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    const int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
    Value ones = nn::ConstantOp::create(
        rewriter, op.getLoc(),
        DenseElementsAttr::get(RankedTensorType::get({columns, 1}, type.getElementType()), 1.0f));
    OperationState state(op.getLoc(), nn::MatmulOp::getOperationName());
    state.addOperands({op.getInput(), ones});
    state.addTypes(RankedTensorType::get({rows, 1}, type.getElementType()));
    Value x = rewriter.create(state)->getResult(0);
    if (op.getKind() == nn::ReduceKind::Mean)
      x = elementwise(rewriter, op.getLoc(), nn::BinaryKind::Mul, x, 1.0f / float(columns));
    finish(op, x, rewriter);
    return success();
  }

  static void finish(nn::ReduceOp op, Value x, PatternRewriter &rewriter) {
    if (x.getType() != op.getType())
      x = nn::ReshapeOp::create(rewriter, op.getLoc(), op.getType(), x);
    rewriter.replaceOp(op, x);
  }
};

/// A pool whose unpadded window is the whole image.
struct GlobalPool : OpRewritePattern<nn::PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::PoolOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    if (type.getRank() != 4)
      return failure();
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
    patterns.add<ImageReduction, GlobalPool>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace wsc::wafer
