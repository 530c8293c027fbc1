// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/ConstantPlaces.h"

#include <algorithm>
#include <optional>

namespace wsc::spmd {

namespace {

constexpr int64_t kMostBytes = 1024; // on each core, for as long as the program is loaded

std::vector<int64_t> stridesOf(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

std::optional<Sharding> placeInView(const Tensor &constant, const StridedPiece &piece, const Sharding &to) {
  const std::vector<int64_t> strides = stridesOf(constant.shape), wanted = stridesOf(to.shape);
  Sharding place;
  place.rectangle = to.rectangle;
  place.shape = constant.shape;
  place.dims.resize(constant.shape.size());
  int64_t elements = 1;
  for (const Piece::Digit &digit : piece.digits) {
    if (digit.extent == 1)
      continue;
    size_t from = constant.shape.size(), at = to.shape.size();
    for (size_t d = 0; d < constant.shape.size(); ++d)
      if (constant.shape[d] == digit.extent && strides[d] == digit.sourceStride)
        from = d;
    for (size_t d = 0; d < to.shape.size(); ++d)
      if (to.shape[d] >= digit.extent && wanted[d] == digit.resultStride)
        at = d;
    if (from == constant.shape.size() || at == to.shape.size())
      return std::nullopt;
    // Element 0 of the constant's dimension is this one of the view's.
    const int64_t first = piece.resultOffset / wanted[at] % to.shape[at];
    if (first + digit.extent > to.shape[at])
      return std::nullopt;
    place.dims[from] = to.dims[at];
    place.dims[from].base -= first;
    elements *= digit.extent;
  }
  if (piece.sourceOffset != 0 || elements != constant.elements())
    return std::nullopt;
  return place;
}

} // namespace

Sharding constantPlace(const Tensor &constant, int32_t root, const std::vector<StridedPiece> &pieces,
                       const Sharding &to, const Rectangle &rectangle) {
  const auto isOfConstant = [&](const StridedPiece &piece) { return piece.source == root; };
  const auto piece = std::find_if(pieces.begin(), pieces.end(), isOfConstant);
  if (piece != pieces.end() && std::count_if(pieces.begin(), pieces.end(), isOfConstant) == 1)
    if (auto place = placeInView(constant, *piece, to)) {
      const int64_t bytes = place->localElements() * format::elementBytes(constant.type);
      if (bytes % 4 == 0 && bytes <= kMostBytes)
        return *std::move(place);
    }
  return flatSharding(rectangle, constant.elements(), granuleOf(constant.type));
}

} // namespace wsc::spmd
