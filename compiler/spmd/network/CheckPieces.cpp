// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of a remap: bounds from the extremes of their digits; that no element of the result is written twice, from the
// strides where digits nest in each other, else by marking every element.
#include "compiler/spmd/network/CheckNode.h"
#include "compiler/spmd/network/Pieces.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::spmd {

namespace {

/// Whether every digit's stride exceeds all that the digits of smaller stride reach together: no two index tuples meet.
bool digitsNest(const Piece &piece) {
  std::vector<std::pair<int64_t, int64_t>> strides; // magnitude, extent
  for (const Piece::Digit &digit : piece.digits)
    if (digit.extent > 1)
      strides.push_back({std::abs(digit.resultStride), digit.extent});
  std::sort(strides.begin(), strides.end());
  int64_t reach = 0;
  for (auto [stride, extent] : strides) {
    if (stride <= reach)
      return false;
    reach += stride * (extent - 1);
  }
  return true;
}

/// Marks the elements of digits `d` and further in; false where one is marked already.
bool markAll(const Piece &piece, size_t d, int64_t at, std::vector<bool> &marked) {
  if (d == piece.digits.size()) {
    const bool first = !marked[size_t(at)];
    marked[size_t(at)] = true;
    return first;
  }
  for (int64_t j = 0; j < piece.digits[d].extent; ++j, at += piece.digits[d].resultStride)
    if (!markAll(piece, d + 1, at, marked))
      return false;
  return true;
}

/// Errors: offset + Σ j·stride leaves [0, elements) for some index tuple.
absl::Status checkReach(int64_t offset, const Piece &piece, int64_t Piece::Digit::*stride, int64_t elements,
                        const std::string &what) {
  __int128 least = offset, most = offset;
  for (const Piece::Digit &digit : piece.digits) {
    const __int128 last = __int128(digit.*stride) * (digit.extent - 1);
    (last < 0 ? least : most) += last;
  }
  if (least < 0 || most >= elements)
    return absl::InvalidArgumentError(
        absl::StrCat(what, " elements from ", int64_t(least), " to ", int64_t(most), ", there are ", elements));
  return absl::OkStatus();
}

} // namespace

absl::Status checkPieces(const std::vector<Piece> &pieces, const std::vector<int64_t> &sourceElements,
                         int64_t resultElements) {
  bool nest = true;
  int64_t placed = 0;
  for (size_t p = 0; p < pieces.size(); ++p) {
    const std::string where = absl::StrCat("piece ", p);
    bool empty = false;
    for (const Piece::Digit &digit : pieces[p].digits) {
      if (digit.extent < 0)
        return absl::InvalidArgumentError(absl::StrCat(where, " has extent ", digit.extent));
      empty = empty || digit.extent == 0;
    }
    if (empty)
      continue;
    absl::Status status =
        checkReach(pieces[p].sourceOffset, pieces[p], &Piece::Digit::sourceStride, sourceElements[p], where + " reads");
    status.Update(
        checkReach(pieces[p].resultOffset, pieces[p], &Piece::Digit::resultStride, resultElements, where + " writes"));
    if (!status.ok())
      return status;
    nest = nest && digitsNest(pieces[p]);
    int64_t count = 1;
    for (const Piece::Digit &digit : pieces[p].digits)
      if (__builtin_mul_overflow(count, digit.extent, &count))
        return absl::InvalidArgumentError(absl::StrCat(where, " places 2^63 or more elements"));
    if (__builtin_add_overflow(placed, count, &placed))
      return absl::InvalidArgumentError("the pieces place 2^63 or more elements");
  }
  if (placed > resultElements)
    return absl::InvalidArgumentError(absl::StrCat("the pieces place ", placed, " elements, the result has ",
                                                   resultElements, "; no element may be in two pieces"));
  if (pieces.size() <= 1 && nest)
    return absl::OkStatus();
  std::vector<bool> marked(static_cast<size_t>(resultElements));
  for (size_t p = 0; p < pieces.size(); ++p)
    if (!markAll(pieces[p], 0, pieces[p].resultOffset, marked))
      return absl::InvalidArgumentError(
          absl::StrCat("piece ", p, " writes an element of the result that it or a piece before it has written"));
  return absl::OkStatus();
}

} // namespace wsc::spmd
