// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn-lower-to-nests: asks every layer for its nests through the interface, after finding out which layers have none.
#include "passes/spmd/NestLowering.h"
#include "passes/spmd/Passes.h"

#include "dialects/nn/Nn.h"
#include "dialects/wafer/Wafer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#include "passes/spmd/NestLowering.cpp.inc"

namespace wsc::spmd {
#define GEN_PASS_DEF_LOWERTONESTS
#include "passes/spmd/Passes.h.inc"

void registerNestLowerings(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, nn::NnDialect *) {
    attachElementwiseLowerings(*context);
    attachContractionLowerings(*context);
    attachPoolingLowerings(*context);
    attachReductionLowerings(*context);
    attachSoftmaxLowerings(*context);
    attachNormalisationLowerings(*context);
    attachMovementLowerings(*context);
    attachGatherLowerings(*context);
  });
}

namespace {

/// What may stand among nests as it is.
bool isKept(Operation *op) {
  return isa<nn::ConstantOp, nn::ReadOp, nn::WriteOp, wafer::RemapOp, linalg::GenericOp, linalg::FillOp,
             tensor::EmptyOp, arith::ConstantOp, func::ReturnOp>(op);
}

struct LowerToNestsPass : impl::LowerToNestsBase<LowerToNestsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (!function.getBody().hasOneBlock()) {
      function.emitError("has several blocks; a network is one sequence of layers");
      return signalPassFailure();
    }
    SmallVector<Operation *> layers;
    bool allKnown = true;
    for (Operation &op : function.getBody().front()) {
      if (isKept(&op))
        continue;
      layers.push_back(&op);
      if (isa<NestLowering, linalg::LinalgOp>(op))
        continue;
      op.emitOpError("has no lowering to nests");
      layers.pop_back();
      allKnown = false;
    }
    IRRewriter rewriter(&getContext());
    // From the end on, so that a layer sees the layers it reads, and what it reads past them falls away.
    for (Operation *op : llvm::reverse(layers)) {
      if (isOpTriviallyDead(op)) {
        rewriter.eraseOp(op);
        continue;
      }
      rewriter.setInsertionPoint(op);
      if (failed(lower(op, rewriter))) // tells of every layer that cannot be lowered, not of the first only
        allKnown = false;
    }
    if (!allKnown)
      signalPassFailure();
  }

  static LogicalResult lower(Operation *op, RewriterBase &rewriter) {
    if (auto named = dyn_cast<linalg::LinalgOp>(op))
      return linalg::generalizeNamedOp(rewriter, named);
    FailureOr<Value> result = cast<NestLowering>(op).buildNests(rewriter);
    if (failed(result))
      return failure();
    rewriter.replaceOp(op, *result);
    return success();
  }
};

} // namespace
} // namespace wsc::spmd
