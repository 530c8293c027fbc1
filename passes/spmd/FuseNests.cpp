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
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "spmd-fuse-nests"

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

/// Whether every element is the same number, which upstream's patterns write into the body.
bool isOneNumber(Value operand) {
  SplatElementsAttr splat;
  return operand.getDefiningOp<linalg::FillOp>() || matchPattern(operand, m_Constant(&splat));
}

/// Whether the operands of both say the extents of the consumer's iterators without the operand between them. Where a
/// reduction runs over what reads no operand but by gathers they do not, and fusion would keep the producer's result.
bool extentsStayKnown(OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!producer)
    return false;
  llvm::SmallBitVector known(consumer.getNumLoops());
  auto know = [&](AffineExpr index) {
    if (auto iterator = dyn_cast<AffineDimExpr>(index))
      known.set(iterator.getPosition());
  };
  for (OpOperand &other : consumer->getOpOperands())
    if (&other != operand && (consumer.isDpsInit(&other) || !isOneNumber(other.get())))
      for (AffineExpr index : consumer.getMatchingIndexingMap(&other).getResults())
        know(index);
  const AffineMap made = producer.getIndexingMapMatchingResult(cast<OpResult>(operand->get())),
                  read = consumer.getMatchingIndexingMap(operand);
  for (OpOperand *input : producer.getDpsInputOperands()) {
    if (isOneNumber(input->get()))
      continue;
    for (AffineExpr index : producer.getMatchingIndexingMap(input).getResults())
      for (auto [iterator, place] : llvm::zip_equal(made.getResults(), read.getResults()))
        if (iterator == index)
          know(place);
  }
  return known.all();
}

bool shallFuse(OpOperand *operand) {
  if (!isa<linalg::GenericOp>(operand->getOwner()))
    return false;
  const char *against = !operand->get().hasOneUse()  ? "it has other uses"
                        : !readsOnce(operand)        ? "its reader would compute it again and again"
                        : isIndex(operand)           ? "its elements are indices"
                        : !extentsStayKnown(operand) ? "no operand would say the extents"
                                                     : nullptr;
  LLVM_DEBUG(llvm::dbgs() << operand->get().getLoc() << (against ? " stays a nest: " : " goes into its reader")
                          << (against ? against : "") << "\n");
  return !against;
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
