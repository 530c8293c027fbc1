// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A piece that reads the result of a remap of one piece reads that one's operand, where the places follow from digits
// (Pieces.h). A remap with a fill keeps its operand: as padding in front of a window it becomes part of the window's
// nest, which asks for a box of the operand in its own shape.
#include "passes/spmd/ComposeRemaps.h"

#include "compiler/spmd/network/Pieces.h"
#include "passes/spmd/RemapPieces.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

struct ComposeRemaps : OpRewritePattern<wafer::RemapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(wafer::RemapOp op, PatternRewriter &rewriter) const override {
    if (!op.isCovered())
      return failure();
    bool changed = false;
    SmallVector<Value> sources;
    SmallVector<Attribute> pieces;
    for (wafer::PieceAttr attribute : op.getPieceRange()) {
      Piece piece = pieceOf(attribute);
      Value source = op.getSources()[unsigned(piece.source)];
      if (auto inner = source.getDefiningOp<wafer::RemapOp>(); inner && inner.getPieces().size() == 1)
        if (auto joined = composed(piece, pieceOf(cast<wafer::PieceAttr>(inner.getPieces()[0])))) {
          piece = *joined;
          source = inner.getSources()[unsigned(piece.source)];
          changed = true;
        }
      piece.source = TensorId(llvm::find(sources, source) - sources.begin());
      if (size_t(piece.source) == sources.size())
        sources.push_back(source);
      pieces.push_back(attributeOf(op.getContext(), piece));
    }
    if (!changed)
      return failure();
    rewriter.replaceOpWithNewOp<wafer::RemapOp>(op, op.getResult().getType(), sources, rewriter.getArrayAttr(pieces),
                                                op.getFillAttr());
    return success();
  }
};

struct DropIdentity : OpRewritePattern<wafer::RemapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(wafer::RemapOp op, PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult, 1> folded;
    if (failed(op->fold(folded)) || folded.empty())
      return failure();
    rewriter.replaceOp(op, cast<Value>(folded[0]));
    return success();
  }
};

} // namespace

void addRemapPatterns(RewritePatternSet &patterns) { patterns.add<ComposeRemaps, DropIdentity>(patterns.getContext()); }

} // namespace wsc::spmd
