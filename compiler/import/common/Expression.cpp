// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes of shape of expressions; see Expression.h.
#include "compiler/import/common/Expression.h"
#include "llvm/ADT/STLExtras.h"

namespace wsc::import {

using Extents = llvm::SmallVector<int64_t>;

Expression Expression::slice(int64_t axis, int64_t start, int64_t size, int64_t step) const {
  if (layers_->failed() || axis >= rank() || (start == 0 && step == 1 && size == shape()[axis]))
    return *this;
  Extents starts(rank(), 0), sizes(shape()), steps(rank(), 1);
  starts[axis] = start;
  sizes[axis] = size;
  steps[axis] = step;
  return {*layers_, layers_->slice(tensor_, starts, sizes, steps)};
}

Expression Expression::unsqueeze(int64_t axis) const {
  Extents extents(shape());
  if (!layers_->failed())
    extents.insert(extents.begin() + axis, 1);
  return reshape(extents);
}

Expression Expression::squeeze(int64_t axis) const {
  Extents extents(shape());
  if (!layers_->failed())
    extents.erase(extents.begin() + axis);
  return reshape(extents);
}

Expression Expression::transposed() const {
  if (layers_->failed())
    return *this;
  Extents permutation(llvm::to_vector(llvm::seq<int64_t>(0, rank())));
  std::swap(permutation[rank() - 1], permutation[rank() - 2]);
  return transpose(permutation);
}

Expression Expression::reverse(int64_t axis) const {
  if (layers_->failed() || shape()[axis] == 0)
    return *this;
  return slice(axis, shape()[axis] - 1, shape()[axis], -1);
}

Expression Expression::pad(int64_t axis, int64_t low, int64_t high, double value) const {
  if (low == 0 && high == 0)
    return *this;
  Extents lows(rank(), 0), highs(rank(), 0);
  if (!layers_->failed()) {
    lows[axis] = low;
    highs[axis] = high;
  }
  return {*layers_, layers_->pad(tensor_, lows, highs, value)};
}

Expression Expression::filled(double value) const { return number(value).broadcast(shape()); }

Expression concat(llvm::ArrayRef<Expression> parts, int64_t axis) {
  llvm::SmallVector<Tensor> tensors(parts.begin(), parts.end());
  return {parts.front().layers(), parts.front().layers().concat(tensors, axis)};
}

} // namespace wsc::import
