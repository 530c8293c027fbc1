// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn-fold-padding: padding in front of a convolution or pool becomes the layer's own, where both mean the same.
#include "passes/wafer/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

using namespace mlir;

namespace wsc::wafer {
#define GEN_PASS_DEF_FOLDPADDING
#include "passes/wafer/Passes.h.inc"

namespace {

/// The padding of rows and columns, top, left, bottom, right, added to `pads`; nothing if it pads anything else or with
/// another value.
std::optional<SmallVector<int64_t, 4>> joined(nn::PadOp pad, ArrayRef<int64_t> pads, double value) {
  auto its = dyn_cast<FloatAttr>(pad.getValue());
  ArrayRef<int64_t> low = pad.getLow(), high = pad.getHigh();
  if (!its || its.getValueAsDouble() != value || low.size() != 4 || low[0] || low[1] || high[0] || high[1])
    return std::nullopt;
  return SmallVector<int64_t, 4>{pads[0] + low[2], pads[1] + low[3], pads[2] + high[2], pads[3] + high[3]};
}

/// Whether every window reaches the input: padding is smaller than the (dilated) kernel.
bool reaches(ArrayRef<int64_t> pads, ArrayRef<int64_t> kernel, ArrayRef<int64_t> dilations) {
  for (int d = 0; d < 4; ++d)
    if (pads[d] > (kernel[d % 2] - 1) * dilations[d % 2])
      return false;
  return true;
}

struct PaddedConv : OpRewritePattern<nn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ConvOp conv, PatternRewriter &rewriter) const override {
    auto pad = conv.getInput().getDefiningOp<nn::PadOp>();
    auto pads = pad ? joined(pad, conv.getPads(), 0) : std::nullopt;
    if (!pads || !reaches(*pads, cast<RankedTensorType>(conv.getWeight().getType()).getShape().take_back(2),
                          conv.getDilations()))
      return failure();
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getInputMutable().assign(pad.getInput());
      conv.setPads(*pads);
    });
    return success();
  }
};

/// An average then divides by all of its window, padding included: not if some of it was the pool's own that did not
/// count.
struct PaddedPool : OpRewritePattern<nn::PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::PoolOp pool, PatternRewriter &rewriter) const override {
    const bool average = pool.getKind() == nn::PoolKind::Avg, adds = pool.getKind() != nn::PoolKind::Max;
    const bool padded = llvm::any_of(pool.getPads(), [](int64_t n) { return n != 0; });
    if (average && padded && !pool.getCountIncludePad())
      return failure();
    auto pad = pool.getInput().getDefiningOp<nn::PadOp>();
    auto pads = pad ? joined(pad, pool.getPads(), adds ? 0 : -HUGE_VAL) : std::nullopt;
    if (!pads || !reaches(*pads, pool.getKernel(), pool.getDilations()))
      return failure();
    rewriter.modifyOpInPlace(pool, [&] {
      pool.getInputMutable().assign(pad.getInput());
      pool.setPads(*pads);
      pool.setCountIncludePad(average);
    });
    return success();
  }
};

struct FoldPaddingPass : impl::FoldPaddingBase<FoldPaddingPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PaddedConv, PaddedPool>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace wsc::wafer
