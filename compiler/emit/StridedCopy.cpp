// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimensions of one element are dropped and neighbours that continue each other are merged; what is left is one of
// three cases. The innermost dimension is contiguous in the source: runs of memcpy. Another dimension is (a transpose):
// square tiles of that dimension and the innermost, read along the one and written along the other, so that both sides
// stay in cache (64×64 elements touch 64 lines of either). Neither: element by element. The remaining dimensions are
// counted by an odometer.
#include "compiler/emit/StridedCopy.h"

#include <algorithm>
#include <cstring>

namespace wsc::emit {
namespace {

constexpr int64_t kTile = 64;

struct Dim {
  int64_t extent, stride, outStride; // strides in elements
};

std::vector<Dim> simplify(const std::vector<int64_t> &extents, const std::vector<int64_t> &strides) {
  std::vector<Dim> dims;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1)
      continue;
    if (!dims.empty() && dims.back().stride == strides[d] * extents[d])
      dims.back() = {dims.back().extent * extents[d], strides[d], 0};
    else
      dims.push_back({extents[d], strides[d], 0});
  }
  if (dims.empty())
    dims.push_back({1, 1, 0});
  int64_t outStride = 1;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    dim->outStride = outStride;
    outStride *= dim->extent;
  }
  return dims;
}

// Calls visit(source offset, out offset) for each index of `dims`, the last one fastest.
template <typename Visit> void forEachIndex(const std::vector<Dim> &dims, Visit visit) {
  std::vector<int64_t> index(dims.size(), 0);
  int64_t source = 0, out = 0;
  for (;;) {
    visit(source, out);
    size_t d = dims.size();
    for (; d > 0; --d) {
      const Dim &dim = dims[d - 1];
      source += dim.stride;
      out += dim.outStride;
      if (++index[d - 1] < dim.extent)
        break;
      source -= dim.stride * dim.extent;
      out -= dim.outStride * dim.extent;
      index[d - 1] = 0;
    }
    if (d == 0)
      return;
  }
}

// `across` is contiguous in the source, `along` in the output.
template <size_t Bytes>
void copyTransposed(std::byte *out, const std::byte *source, const Dim &across, const Dim &along) {
  for (int64_t i0 = 0; i0 < across.extent; i0 += kTile)
    for (int64_t j0 = 0; j0 < along.extent; j0 += kTile) {
      int64_t i1 = std::min(i0 + kTile, across.extent), j1 = std::min(j0 + kTile, along.extent);
      for (int64_t i = i0; i < i1; ++i)
        for (int64_t j = j0; j < j1; ++j)
          std::memcpy(out + (i * across.outStride + j) * int64_t(Bytes),
                      source + (i * across.stride + j * along.stride) * int64_t(Bytes), Bytes);
    }
}

template <size_t Bytes> void copy(std::byte *out, const std::byte *source, std::vector<Dim> dims) {
  constexpr int64_t bytes = Bytes;
  Dim inner = dims.back();
  dims.pop_back();
  if (inner.stride == 1) {
    forEachIndex(dims, [&](int64_t from, int64_t to) {
      std::memcpy(out + to * bytes, source + from * bytes, size_t(inner.extent * bytes));
    });
    return;
  }
  auto contiguous = std::find_if(dims.begin(), dims.end(), [](const Dim &dim) { return dim.stride == 1; });
  if (contiguous != dims.end()) {
    Dim across = *contiguous;
    dims.erase(contiguous);
    forEachIndex(dims, [&](int64_t from, int64_t to) {
      copyTransposed<Bytes>(out + to * bytes, source + from * bytes, across, inner);
    });
    return;
  }
  forEachIndex(dims, [&](int64_t from, int64_t to) {
    for (int64_t i = 0; i < inner.extent; ++i)
      std::memcpy(out + (to + i) * bytes, source + (from + i * inner.stride) * bytes, Bytes);
  });
}

} // namespace

void stridedCopy(std::byte *out, const std::byte *source, int64_t elementBytes, const std::vector<int64_t> &extents,
                 const std::vector<int64_t> &strides) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    return;
  std::vector<Dim> dims = simplify(extents, strides);
  switch (elementBytes) {
  case 1:
    return copy<1>(out, source, std::move(dims));
  case 2:
    return copy<2>(out, source, std::move(dims));
  case 4:
    return copy<4>(out, source, std::move(dims));
  case 8:
    return copy<8>(out, source, std::move(dims));
  }
}

} // namespace wsc::emit
