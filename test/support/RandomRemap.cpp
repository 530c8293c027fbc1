// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/RandomRemap.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace wsc::test {

using spmd::Piece;
using spmd::TensorId;

namespace {

using Shape = std::vector<int64_t>;

int64_t product(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

Shape rowMajor(const Shape &shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

// The whole of a source in a window of the result that begins at element `offset` and has the result's strides.
Piece window(TensorId source, const Shape &shape, const Shape &resultStrides, int64_t offset) {
  Piece piece;
  piece.source = source;
  piece.resultOffset = offset;
  const Shape strides = rowMajor(shape);
  for (size_t d = 0; d < shape.size(); ++d)
    piece.digits.push_back({shape[d], strides[d], resultStrides[d]});
  return piece;
}

DrawnRemap transpose(Draw &draw, TensorId x, const Shape &shape) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[size_t(draw.in(0, int64_t(i) - 1))]);
  DrawnRemap result;
  for (size_t d : order)
    result.shape.push_back(shape[d]);
  const Shape from = rowMajor(shape), to = rowMajor(result.shape);
  Piece piece;
  piece.source = x;
  for (size_t d = 0; d < order.size(); ++d)
    piece.digits.push_back({result.shape[d], from[order[d]], to[d]});
  result.remap.pieces = {piece};
  return result;
}

// Every step-th element from a first one on, forwards or backwards.
DrawnRemap slice(Draw &draw, TensorId x, const Shape &shape) {
  DrawnRemap result;
  const Shape from = rowMajor(shape);
  Piece piece;
  piece.source = x;
  std::vector<int64_t> steps;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t step = draw.oneIn(3) ? draw.in(2, 3) : 1, first = draw.in(0, shape[d] - 1);
    const bool backwards = draw.oneIn(4);
    const int64_t reach = backwards ? first : shape[d] - 1 - first;
    result.shape.push_back(draw.in(1, reach / step + 1));
    steps.push_back(backwards ? -step : step);
    piece.sourceOffset += first * from[d];
  }
  const Shape to = rowMajor(result.shape);
  for (size_t d = 0; d < shape.size(); ++d)
    piece.digits.push_back({result.shape[d], steps[d] * from[d], to[d]});
  result.remap.pieces = {piece};
  return result;
}

// Elements around the source, or between its elements.
DrawnRemap pad(Draw &draw, TensorId x, const Shape &shape, int64_t maxElements) {
  DrawnRemap result;
  std::vector<int64_t> before, spread;
  for (int64_t extent : shape) {
    before.push_back(draw.in(0, 2));
    spread.push_back(draw.oneIn(4) ? 2 : 1);
    result.shape.push_back(before.back() + (extent - 1) * spread.back() + 1 + draw.in(0, 2));
  }
  if (product(result.shape) > maxElements)
    return transpose(draw, x, shape);
  const Shape from = rowMajor(shape), to = rowMajor(result.shape);
  Piece piece;
  piece.source = x;
  for (size_t d = 0; d < shape.size(); ++d) {
    piece.resultOffset += before[d] * to[d];
    piece.digits.push_back({shape[d], from[d], spread[d] * to[d]});
  }
  result.remap.pieces = {piece};
  result.remap.fill = double(draw.in(-2, 2));
  return result;
}

// Tensors that differ along one dimension only, one behind the other.
DrawnRemap concatenate(Draw &draw, TensorId x, const Shape &shape, const std::vector<TensorId> &alike,
                       const spmd::Network &network, int64_t maxElements) {
  if (shape.empty())
    return transpose(draw, x, shape);
  const auto axis = size_t(draw.in(0, int64_t(shape.size()) - 1));
  auto fits = [&](const Shape &other) {
    bool same = other.size() == shape.size();
    for (size_t d = 0; same && d < shape.size(); ++d)
      same = d == axis || other[d] == shape[d];
    return same;
  };
  std::vector<TensorId> candidates, parts{x};
  for (TensorId id : alike)
    if (fits(network.tensors[size_t(id)].shape))
      candidates.push_back(id);
  for (int64_t more = draw.in(1, 2); more > 0 && !candidates.empty(); --more)
    parts.push_back(draw.of(candidates));
  DrawnRemap result;
  result.shape = shape;
  result.shape[axis] = 0;
  for (TensorId part : parts)
    result.shape[axis] += network.tensors[size_t(part)].shape[axis];
  if (product(result.shape) > maxElements)
    return transpose(draw, x, shape);
  const Shape to = rowMajor(result.shape);
  int64_t offset = 0;
  for (TensorId part : parts) {
    const Shape &partShape = network.tensors[size_t(part)].shape;
    result.remap.pieces.push_back(window(part, partShape, to, offset));
    offset += partShape[axis] * to[axis];
  }
  return result;
}

DrawnRemap reshape(Draw &draw, TensorId x, const Shape &shape) {
  // Prime factors of the number of elements, dealt out to new dimensions.
  DrawnRemap result;
  int64_t left = product(shape);
  const int64_t elements = left;
  result.shape.assign(size_t(draw.in(left > 1 ? 1 : 0, 4)), 1);
  for (int64_t factor = 2; left > 1; ++factor)
    for (; left % factor == 0; left /= factor)
      result.shape[size_t(draw.in(0, int64_t(result.shape.size()) - 1))] *= factor;
  Piece piece;
  piece.source = x;
  if (elements > 1)
    piece.digits = {{elements, 1, 1}};
  result.remap.pieces = {piece};
  return result;
}

// Every dimension so many times, element by element or as a whole; new dimensions in front.
DrawnRemap repeat(Draw &draw, TensorId x, const Shape &shape, int64_t maxElements) {
  DrawnRemap result;
  struct Digits {
    int64_t outer = 1, inner = 1;
  };
  std::vector<Digits> digits;
  for (int64_t extent : shape) {
    Digits times;
    (draw.oneIn(2) ? times.outer : times.inner) = draw.oneIn(2) ? draw.in(2, 3) : 1;
    digits.push_back(times);
    result.shape.push_back(times.outer * extent * times.inner);
  }
  const int64_t front = draw.oneIn(3) ? draw.in(1, 3) : 0;
  if (front > 0)
    result.shape.insert(result.shape.begin(), front);
  if (product(result.shape) > maxElements || result.shape.size() > 5)
    return transpose(draw, x, shape);
  const Shape from = rowMajor(shape), to = rowMajor(result.shape);
  Piece piece;
  piece.source = x;
  if (front > 0)
    piece.digits.push_back({front, 0, to[0]});
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t stride = to[d + (front > 0 ? 1 : 0)];
    piece.digits.push_back({digits[d].outer, 0, stride * shape[d] * digits[d].inner});
    piece.digits.push_back({shape[d], from[d], stride * digits[d].inner});
    piece.digits.push_back({digits[d].inner, 0, stride});
  }
  result.remap.pieces = {piece};
  return result;
}

} // namespace

DrawnRemap drawRemap(Draw &draw, TensorId x, const std::vector<int64_t> &shape, const std::vector<TensorId> &alike,
                     const spmd::Network &network, int64_t maxElements) {
  switch (draw.in(0, 5)) {
  case 0:
    return transpose(draw, x, shape);
  case 1:
    return slice(draw, x, shape);
  case 2:
    return pad(draw, x, shape, maxElements);
  case 3:
    return concatenate(draw, x, shape, alike, network, maxElements);
  case 4:
    return reshape(draw, x, shape);
  default:
    return repeat(draw, x, shape, maxElements);
  }
}

} // namespace wsc::test
