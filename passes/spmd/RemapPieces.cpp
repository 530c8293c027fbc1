// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/spmd/RemapPieces.h"

using namespace mlir;

namespace wsc::spmd {

Piece pieceOf(wafer::PieceAttr attribute) {
  Piece piece;
  piece.source = TensorId(attribute.getOperand());
  piece.sourceOffset = attribute.getSourceOffset();
  piece.resultOffset = attribute.getResultOffset();
  for (auto [extent, from, to] :
       llvm::zip_equal(attribute.getExtents(), attribute.getSourceStrides(), attribute.getResultStrides()))
    piece.digits.push_back({extent, from, to});
  return piece;
}

wafer::PieceAttr attributeOf(MLIRContext *context, const Piece &piece) {
  SmallVector<int64_t> extents, from, to;
  for (const Piece::Digit &digit : piece.digits) {
    extents.push_back(digit.extent);
    from.push_back(digit.sourceStride);
    to.push_back(digit.resultStride);
  }
  return wafer::PieceAttr::get(context, extents, piece.source, piece.sourceOffset, from, piece.resultOffset, to);
}

} // namespace wsc::spmd
