// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Movement of elements of literals; see Fold.h.
#include "compiler/import/common/Fold.h"

using namespace mlir;

namespace wsc::import {

/// Result element at `index` is the element of x at the multi-index source(index).
template <typename Source> static std::optional<Literal> move(const Literal &x, RankedTensorType type, Source source) {
  if (type.getNumElements() > maxLiteralElements)
    return std::nullopt;
  Literal result = Literal::zeros(type);
  SmallVector<int64_t> from(x.type.getRank());
  forEachIndex(type.getShape(), [&](int64_t i, ArrayRef<int64_t> index) {
    source(index, from);
    copyElement(result, i, x, broadcastPosition(x.type.getShape(), from));
  });
  return result;
}

std::optional<Literal> foldTranspose(const Literal &x, ArrayRef<int64_t> permutation, RankedTensorType type) {
  return move(x, type, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
    for (size_t d = 0; d < index.size(); ++d)
      from[permutation[d]] = index[d];
  });
}

std::optional<Literal> foldSlice(const Literal &x, ArrayRef<int64_t> starts, ArrayRef<int64_t> steps,
                                 RankedTensorType type) {
  return move(x, type, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
    for (size_t d = 0; d < index.size(); ++d)
      from[d] = starts[d] + index[d] * steps[d];
  });
}

std::optional<Literal> foldConcat(ArrayRef<Literal> parts, int64_t axis, RankedTensorType type) {
  if (type.getNumElements() > maxLiteralElements)
    return std::nullopt;
  Literal result = Literal::zeros(type);
  int64_t begin = 0;
  for (const Literal &part : parts) {
    forEachIndex(part.type.getShape(), [&](int64_t i, ArrayRef<int64_t> index) {
      SmallVector<int64_t> to(index);
      to[axis] += begin;
      int64_t position = 0;
      for (size_t d = 0; d < to.size(); ++d)
        position = position * type.getDimSize(d) + to[d];
      copyElement(result, position, part, i);
    });
    begin += part.type.getDimSize(axis);
  }
  return result;
}

std::optional<Literal> foldBroadcast(const Literal &x, RankedTensorType type) {
  size_t lead = type.getRank() - x.type.getRank();
  return move(x, type, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
    for (size_t d = 0; d < from.size(); ++d)
      from[d] = index[lead + d];
  });
}

static bool areInside(const Literal &indices, int64_t extent) {
  return !indices.isFloat() && llvm::all_of(indices.ints, [&](int64_t index) { return index >= 0 && index < extent; });
}

std::optional<Literal> foldGather(const Literal &x, const Literal &indices, int64_t axis, RankedTensorType type) {
  if (!areInside(indices, x.type.getDimSize(axis)))
    return std::nullopt;
  int64_t indexRank = indices.type.getRank();
  return move(x, type, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
    int64_t picked = indices.ints[broadcastPosition(indices.type.getShape(), index.slice(axis, indexRank))];
    for (size_t d = 0; d < from.size(); ++d) {
      int64_t position = static_cast<int64_t>(d);
      from[d] = position < axis ? index[d] : position == axis ? picked : index[d + indexRank - 1];
    }
  });
}

std::optional<Literal> foldGatherElements(const Literal &x, const Literal &indices, int64_t axis,
                                          RankedTensorType type) {
  if (!areInside(indices, x.type.getDimSize(axis)))
    return std::nullopt;
  return move(x, type, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
    llvm::copy(index, from.begin());
    from[axis] = indices.ints[broadcastPosition(indices.type.getShape(), index)];
  });
}

} // namespace wsc::import
