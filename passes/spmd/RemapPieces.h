// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of wafer.remap as plain data and back; Piece::source is the number of an operand.
#pragma once

#include "compiler/spmd/network/Network.h"
#include "dialects/wafer/Wafer.h"

namespace wsc::spmd {

Piece pieceOf(wafer::PieceAttr attribute);
wafer::PieceAttr attributeOf(mlir::MLIRContext *context, const Piece &piece);

} // namespace wsc::spmd
