// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wafer.remap: its pieces as text, rules and folder. The rules cost as much as there are digits, not elements, so two
// pieces that meet are found only where together they place more elements than there are; Network::check marks every
// one.
#include "dialects/wafer/Wafer.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace wsc::wafer;

namespace wsc::wafer {

int64_t PieceAttr::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : getExtents())
    if (__builtin_mul_overflow(count, extent, &count))
      return -1;
  return count;
}

LogicalResult PieceAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> extents,
                                int64_t operand, int64_t sourceOffset, ArrayRef<int64_t> sourceStrides,
                                int64_t resultOffset, ArrayRef<int64_t> resultStrides) {
  if (sourceStrides.size() != extents.size() || resultStrides.size() != extents.size())
    return emitError() << "a piece over " << extents.size() << " extents needs as many strides, got "
                       << sourceStrides.size() << " of the operand and " << resultStrides.size() << " of the result";
  for (int64_t extent : extents)
    if (extent < 1)
      return emitError() << "a piece has extents of at least 1, got " << extent << "; leave out pieces of no elements";
  if (operand < 0 || sourceOffset < 0 || resultOffset < 0)
    return emitError() << "a piece takes an operand >= 0 and begins at elements >= 0, got operand " << operand
                       << ", elements " << sourceOffset << " and " << resultOffset;
  return success();
}

/// Whether offset + Σ j·stride stays within [0, elements) for all index tuples.
static bool staysInside(int64_t offset, ArrayRef<int64_t> extents, ArrayRef<int64_t> strides, int64_t elements) {
  __int128 least = offset, most = offset;
  for (auto [extent, stride] : llvm::zip_equal(extents, strides))
    (stride < 0 ? least : most) += __int128(extent - 1) * stride;
  return least >= 0 && most < elements;
}

/// Whether every stride exceeds all that smaller ones reach together, so that no two index tuples meet.
static bool stridesNest(PieceAttr piece) {
  SmallVector<std::pair<int64_t, int64_t>> digits;
  for (auto [extent, stride] : llvm::zip_equal(piece.getExtents(), piece.getResultStrides()))
    if (extent > 1)
      digits.push_back({std::abs(stride), extent});
  llvm::sort(digits);
  int64_t reach = 0;
  for (auto [stride, extent] : digits) {
    if (stride <= reach)
      return false;
    reach += stride * (extent - 1);
  }
  return true;
}

static int64_t placedElements(RemapOp op) {
  int64_t placed = 0;
  for (PieceAttr piece : op.getPieceRange())
    placed += piece.getNumElements();
  return placed;
}

bool RemapOp::isCovered() { return placedElements(*this) == getResult().getType().getNumElements(); }

LogicalResult RemapOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  const int64_t elements = type.getNumElements();
  if (auto fill = getFillAttr(); fill && fill.getType() != type.getElementType())
    return emitOpError("has a fill of type ")
           << fill.getType() << ", the result has elements of " << type.getElementType();
  for (auto [p, piece] : llvm::enumerate(getPieceRange())) {
    if (piece.getOperand() >= int64_t(getSources().size()))
      return emitOpError("piece ") << p << " takes operand " << piece.getOperand() << ", there are "
                                   << getSources().size();
    auto source = cast<RankedTensorType>(getSources()[piece.getOperand()].getType());
    if (source.getElementType() != type.getElementType())
      return emitOpError("piece ") << p << " takes elements of " << source.getElementType()
                                   << ", the result has elements of " << type.getElementType();
    if (!staysInside(piece.getSourceOffset(), piece.getExtents(), piece.getSourceStrides(), source.getNumElements()))
      return emitOpError("piece ") << p << " reads outside of operand " << piece.getOperand() << ", which has "
                                   << source.getNumElements() << " elements";
    if (!staysInside(piece.getResultOffset(), piece.getExtents(), piece.getResultStrides(), elements))
      return emitOpError("piece ") << p << " writes outside of the result, which has " << elements << " elements";
    if (!stridesNest(piece))
      return emitOpError("piece ") << p << " has strides of the result that do not nest: each must exceed what all "
                                   << "smaller ones reach together";
  }
  const int64_t placed = placedElements(*this);
  if (placed > elements)
    return emitOpError("pieces place ") << placed << " elements, the result has " << elements
                                        << "; no element may be in two pieces";
  if (placed < elements && !getFillAttr())
    return emitOpError("pieces place ") << placed << " of " << elements << " elements; say with `fill` what the others "
                                        << "are";
  return success();
}

/// A remap that leaves every element where it is, in the same shape, is its operand.
OpFoldResult RemapOp::fold(FoldAdaptor) {
  if (getPieces().size() != 1 || !isCovered())
    return {};
  auto piece = cast<PieceAttr>(getPieces()[0]);
  Value source = getSources()[piece.getOperand()];
  const bool inPlace =
      piece.getSourceOffset() == piece.getResultOffset() && piece.getSourceStrides() == piece.getResultStrides();
  return inPlace && source.getType() == getResult().getType() ? OpFoldResult(source) : OpFoldResult();
}

} // namespace wsc::wafer
