// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/spmd/Windows.h"

#include "compiler/spmd/network/Pieces.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace wsc::spmd {

AffineExpr ReducedIterators::add(int64_t extent) {
  if (extent == 1)
    return nests.fixed(0);
  all.push_back(extent);
  return nests.iterator(rank + int64_t(all.size()) - 1);
}

void addWindowIndices(const NestBuilder &nests, SmallVectorImpl<AffineExpr> &indices, int64_t first,
                      ArrayRef<AffineExpr> taps, ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations) {
  for (auto [d, tap] : llvm::enumerate(taps))
    indices.push_back(nests.iterator(first + int64_t(d)) * strides[d] + tap * dilations[d]);
}

Value padImage(NestBuilder &nests, Value image, ArrayRef<int64_t> pads, TypedAttr fill) {
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return image;
  auto type = cast<RankedTensorType>(image.getType());
  const size_t rank = size_t(type.getRank()), spatial = pads.size() / 2;
  std::vector<int64_t> shape = toVector(type.getShape()), starts(rank), sizes = shape, offsets(rank), steps(rank, 1);
  for (size_t d = rank - spatial; d < rank; ++d) {
    const int64_t before = pads[d - (rank - spatial)], after = pads[d - (rank - spatial) + spatial];
    shape[d] += before + after;
    starts[d] = std::max<int64_t>(0, -before);
    sizes[d] = type.getDimSize(unsigned(d)) - starts[d] - std::max<int64_t>(0, -after);
    offsets[d] = std::max<int64_t>(0, before);
  }
  SmallVector<Piece> pieces;
  if (auto piece = boxPiece(toVector(type.getShape()), starts, sizes, steps, shape, offsets)) {
    piece->source = 0;
    pieces.push_back(*piece);
  }
  return nests.remap(RankedTensorType::get(shape, type.getElementType()), image, pieces, fill);
}

} // namespace wsc::spmd
