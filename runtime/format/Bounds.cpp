// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges in 128-bit arithmetic, and the rules for lattices, affine expressions, extents and tensors.
#include "runtime/format/Bounds.h"
#include "runtime/format/Structure.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::format {
namespace {

// Values this large only occur in messages; they are cut there.
std::string print(__int128 value) {
  constexpr __int128 limit = INT64_MAX;
  return absl::StrCat(static_cast<int64_t>(std::clamp(value, -limit, limit)));
}

} // namespace

absl::Status broken(const Where &where, const std::string &message) {
  return absl::DataLossError(absl::StrCat(where.text(), ": ", message));
}

Interval rangeOver(const Affine &affine, const Lattice &lattice) {
  Interval range{affine.constant, affine.constant};
  for (int d = 0; d < kMaxDims; ++d) {
    __int128 reach = __int128(affine.perDim[d]) * (lattice.dims[d].count - 1);
    (reach < 0 ? range.least : range.most) += reach;
  }
  return range;
}

Interval elementsTouched(const Affine &hostOffset, const std::array<Affine, kMaxDims> &extent,
                         const std::array<int64_t, kMaxDims> &stride, const Lattice &lattice) {
  // The first and last element of a lattice point are affine in its index too: offset + Σ (extent[d]-1)·stride[d] over
  // the dimensions with negative, respectively positive, stride.
  __int128 least = hostOffset.constant, most = hostOffset.constant;
  std::array<__int128, kMaxDims> leastStep, mostStep;
  for (int k = 0; k < kMaxDims; ++k)
    leastStep[k] = mostStep[k] = hostOffset.perDim[k];
  for (int d = 0; d < kMaxDims; ++d) {
    (stride[d] < 0 ? least : most) += (__int128(extent[d].constant) - 1) * stride[d];
    for (int k = 0; k < kMaxDims; ++k)
      (stride[d] < 0 ? leastStep : mostStep)[k] += __int128(extent[d].perDim[k]) * stride[d];
  }
  for (int k = 0; k < kMaxDims; ++k) {
    int32_t reach = lattice.dims[k].count - 1;
    least += std::min<__int128>(0, leastStep[k] * reach);
    most += std::max<__int128>(0, mostStep[k] * reach);
  }
  return {least, most};
}

absl::Status checkLattice(const Lattice &lattice, const Where &where) {
  __int128 size = 1, lowRow = lattice.row, highRow = lattice.row, lowCol = lattice.col, highCol = lattice.col;
  for (int d = 0; d < kMaxDims; ++d) {
    const Lattice::Dim &dim = lattice.dims[d];
    if (dim.count < 1)
      return broken(where,
                    absl::StrCat("dimension ", d, " of its lattice has count ", dim.count, "; it must be at least 1"));
    size *= dim.count;
    __int128 rows = __int128(dim.rowStep) * (dim.count - 1), cols = __int128(dim.colStep) * (dim.count - 1);
    (rows < 0 ? lowRow : highRow) += rows;
    (cols < 0 ? lowCol : highCol) += cols;
  }
  if (size > kMaxLatticeSize)
    return broken(where, absl::StrCat("its lattice has ", print(size), " points; the limit is ", kMaxLatticeSize));
  if (lowRow < -kMaxCoordinate || highRow > kMaxCoordinate || lowCol < -kMaxCoordinate || highCol > kMaxCoordinate)
    return broken(where, absl::StrCat("its lattice spans rows ", print(lowRow), " to ", print(highRow), " and columns ",
                                      print(lowCol), " to ", print(highCol), "; the limit is ", kMaxCoordinate,
                                      " either way"));
  return absl::OkStatus();
}

absl::Status checkAffine(const Affine &affine, const Lattice &lattice, const Where &where) {
  for (int64_t step : affine.perDim)
    if (step < -kMaxAffineValue || step > kMaxAffineValue)
      return broken(where, absl::StrCat("an affine step of ", step, "; the limit is ", kMaxAffineValue, " either way"));
  Interval range = rangeOver(affine, lattice);
  if (range.least < -kMaxAffineValue || range.most > kMaxAffineValue)
    return broken(where, absl::StrCat("an affine value from ", print(range.least), " to ", print(range.most),
                                      "; the limit is ", kMaxAffineValue, " either way"));
  return absl::OkStatus();
}

absl::Status checkExtents(const std::array<Affine, kMaxDims> &extent, const Lattice &lattice, const Where &where,
                          __int128 &product) {
  product = 1;
  for (int d = 0; d < kMaxDims; ++d) {
    if (absl::Status status = checkAffine(extent[d], lattice, where); !status.ok())
      return status;
    Interval range = rangeOver(extent[d], lattice);
    if (range.least < 0 || range.most > kMaxExtent)
      return broken(where, absl::StrCat("extent ", d, " goes from ", print(range.least), " to ", print(range.most),
                                        "; 0 to ", kMaxExtent, " are possible"));
    product *= range.most;
  }
  return absl::OkStatus();
}

absl::Status checkTensor(const TensorType &tensor, const Where &where) {
  std::string which = absl::StrCat(where.text(), " \"", tensor.name, "\"");
  if (int(tensor.type) >= kNumElementTypes)
    return broken(which, absl::StrCat("element type ", int(tensor.type), " does not exist"));
  if (tensor.shape.size() > kMaxRank)
    return broken(which, absl::StrCat("rank ", tensor.shape.size(), "; the limit is ", kMaxRank));
  __int128 elements = 1;
  for (int64_t extent : tensor.shape) {
    if (extent < 0 || extent > kMaxTensorElements)
      return broken(which, absl::StrCat("an extent of ", extent, "; 0 to ", kMaxTensorElements, " are possible"));
    elements *= extent;
    if (elements > kMaxTensorElements)
      return broken(which, absl::StrCat("more than ", kMaxTensorElements, " elements"));
  }
  return absl::OkStatus();
}

absl::Status checkIndex(int64_t index, size_t count, const char *what, const Where &where) {
  if (index < 0 || index >= int64_t(count))
    return broken(where, absl::StrCat(what, " ", index, " does not exist; there are ", count));
  return absl::OkStatus();
}

} // namespace wsc::format
