// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// spmd-fuse-nests: upstream's fusion of elementwise producers under a rule of its own, and the rewrites of remaps.
#include "passes/spmd/ComposeRemaps.h"
#include "passes/spmd/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace wsc::spmd {
#define GEN_PASS_DEF_FUSENESTS
#include "passes/spmd/Passes.h.inc"

namespace {

/// Whether the consumer reads every element of the operand once: each of its iterators is an index of it.
bool readsOnce(OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  const AffineMap map = consumer.getMatchingIndexingMap(operand);
  for (auto [i, range] : llvm::enumerate(consumer.getStaticLoopRanges())) {
    const AffineExpr iterator = getAffineDimExpr(unsigned(i), consumer.getContext());
    if (range != 1 && !llvm::is_contained(map.getResults(), iterator))
      return false;
  }
  return true;
}

/// Whether the operand's elements are indices of a gather, which are to be elements of a tensor.
bool isIndex(OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  return llvm::any_of(consumer.getMatchingBlockArgument(operand).getUsers(),
                      [](Operation *user) { return isa<arith::IndexCastOp>(user); });
}

bool shallFuse(OpOperand *operand) {
  return isa<linalg::GenericOp>(operand->getOwner()) && operand->get().hasOneUse() && readsOnce(operand) &&
         !isIndex(operand);
}

struct FuseNestsPass : impl::FuseNestsBase<FuseNestsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, shallFuse);
    addRemapPatterns(patterns);
    // Folding would compute with the host's libm.
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace wsc::spmd
