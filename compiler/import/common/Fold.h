// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact evaluation of nn operations on literals. A fold returns nullopt where the result is not exact
// (transcendentals), not defined (division by zero of integers), or larger than maxLiteralElements; the operation then
// stays in the graph. Result types are the ones the operation itself infers.
#pragma once
#include "compiler/import/common/Literal.h"
#include "dialects/nn/Nn.h"
#include "llvm/ADT/ArrayRef.h"

namespace wsc::import {

std::optional<Literal> foldUnary(nn::UnaryKind kind, const Literal &x);
std::optional<Literal> foldBinary(nn::BinaryKind kind, const Literal &a, const Literal &b,
                                  mlir::RankedTensorType result);
std::optional<Literal> foldSelect(const Literal &condition, const Literal &a, const Literal &b,
                                  mlir::RankedTensorType result);
std::optional<Literal> foldCast(const Literal &x, mlir::RankedTensorType result);
/// Nothing for NaNs, which a literal does not hold bit by bit.
std::optional<Literal> foldBitcast(const Literal &x, mlir::RankedTensorType result);
std::optional<Literal> foldReduce(nn::ReduceKind kind, const Literal &x, llvm::ArrayRef<int64_t> axes,
                                  mlir::RankedTensorType result);

std::optional<Literal> foldTranspose(const Literal &x, llvm::ArrayRef<int64_t> permutation,
                                     mlir::RankedTensorType result);
std::optional<Literal> foldSlice(const Literal &x, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> steps,
                                 mlir::RankedTensorType result);
std::optional<Literal> foldConcat(llvm::ArrayRef<Literal> parts, int64_t axis, mlir::RankedTensorType result);
std::optional<Literal> foldBroadcast(const Literal &x, mlir::RankedTensorType result);
// Nothing where an index is outside.
std::optional<Literal> foldGather(const Literal &x, const Literal &indices, int64_t axis,
                                  mlir::RankedTensorType result);
std::optional<Literal> foldGatherElements(const Literal &x, const Literal &indices, int64_t axis,
                                          mlir::RankedTensorType result);

/// Calls visit(flat index of result, multi-index) for every element of a shape in row-major order.
template <typename Visit> void forEachIndex(llvm::ArrayRef<int64_t> shape, Visit visit) {
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t flat = 0; flat < count; ++flat) {
    visit(flat, llvm::ArrayRef<int64_t>(index));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

/// Row-major position in an operand of shape `from` of the element that broadcasts to `index`.
int64_t broadcastPosition(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> index);

/// Copies element j of x to element i of the result, whatever the element type.
inline void copyElement(Literal &result, int64_t i, const Literal &x, int64_t j) {
  if (x.isFloat())
    result.floats[i] = x.floats[j];
  else
    result.ints[i] = x.ints[j];
}

} // namespace wsc::import
