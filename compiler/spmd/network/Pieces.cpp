// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A piece numbers the elements it places by digits of a mixed radix, whose strides are those of the result. To read
// through a piece is to write the number of the element wanted in these digits: the source's strides then give its
// place in the source. Strides are divided among the digits from the largest on; the number must not carry between
// digits, which their ranges tell. A digit of the reader that runs over two digits of the piece is cut in two.
#include "compiler/spmd/network/Pieces.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace wsc::spmd {

size_t sourcesOf(const std::vector<Piece> &pieces) {
  std::set<TensorId> sources;
  for (const Piece &piece : pieces)
    sources.insert(piece.source);
  return sources.size();
}

int64_t elementsOf(const Piece &piece) {
  int64_t count = 1;
  for (const Piece::Digit &digit : piece.digits)
    count *= digit.extent;
  return count;
}

Piece normalised(Piece piece) {
  std::vector<Piece::Digit> digits;
  for (Piece::Digit digit : piece.digits) {
    if (digit.extent == 1)
      continue;
    if (digit.resultStride < 0) { // walk the digit backwards
      piece.resultOffset += digit.resultStride * (digit.extent - 1);
      piece.sourceOffset += digit.sourceStride * (digit.extent - 1);
      digit.resultStride = -digit.resultStride;
      digit.sourceStride = -digit.sourceStride;
    }
    digits.push_back(digit);
  }
  std::stable_sort(digits.begin(), digits.end(),
                   [](const auto &a, const auto &b) { return a.resultStride > b.resultStride; });
  piece.digits.clear();
  for (const Piece::Digit &digit : digits) {
    if (!piece.digits.empty()) {
      Piece::Digit &before = piece.digits.back();
      if (before.resultStride == digit.resultStride * digit.extent &&
          before.sourceStride == digit.sourceStride * digit.extent) {
        before = {before.extent * digit.extent, digit.sourceStride, digit.resultStride};
        continue;
      }
    }
    piece.digits.push_back(digit);
  }
  return piece;
}

std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    strides[d] = stride;
  return strides;
}

std::optional<Piece> boxPiece(const std::vector<int64_t> &sourceShape, const std::vector<int64_t> &starts,
                              const std::vector<int64_t> &sizes, const std::vector<int64_t> &steps,
                              const std::vector<int64_t> &resultShape, const std::vector<int64_t> &offsets) {
  const std::vector<int64_t> from = rowMajorStrides(sourceShape), to = rowMajorStrides(resultShape);
  Piece piece;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0)
      return std::nullopt;
    piece.sourceOffset += starts[d] * from[d];
    piece.resultOffset += offsets[d] * to[d];
    piece.digits.push_back({sizes[d], steps[d] * from[d], to[d]});
  }
  return normalised(piece);
}

/// The one radix that `stride` is a multiple of and no others take part in; -1 if there is none.
static int soleRadix(int64_t stride, const std::vector<Term> &radices) {
  for (size_t j = 0; j < radices.size(); ++j)
    if (std::abs(stride) >= radices[j].stride)
      return stride % radices[j].stride == 0 ? int(j) : -1;
  return -1;
}

std::optional<Digits> digitsOf(int64_t offset, const std::vector<Term> &terms, const std::vector<Term> &radices) {
  const auto divide = [&](int64_t number, std::vector<int64_t> &digits) {
    for (const Term &radix : radices) {
      digits.push_back(number / radix.stride);
      number %= radix.stride;
    }
    return number == 0;
  };
  Digits result;
  if (!divide(offset, result.constants))
    return std::nullopt;
  std::vector<int64_t> least = result.constants, most = result.constants;
  for (const Term &term : terms) {
    std::vector<int64_t> &coefficients = result.coefficients.emplace_back();
    if (!divide(term.extent > 1 ? term.stride : 0, coefficients))
      return std::nullopt;
    for (size_t j = 0; j < radices.size(); ++j)
      (coefficients[j] < 0 ? least : most)[j] += coefficients[j] * (term.extent - 1);
  }
  for (size_t j = 0; j < radices.size(); ++j)
    if (least[j] < 0 || most[j] >= radices[j].extent)
      return std::nullopt;
  return result;
}

std::vector<Piece::Digit> cutAt(const std::vector<Piece::Digit> &digits, const std::vector<Term> &radices,
                                int64_t Piece::Digit::*stride) {
  std::vector<Piece::Digit> result;
  for (Piece::Digit digit : digits) {
    std::vector<Piece::Digit> cut;
    for (;;) {
      const int j = soleRadix(digit.*stride, radices);
      if (j < 0)
        break;
      const int64_t step = std::abs(digit.*stride) / radices[size_t(j)].stride, room = radices[size_t(j)].extent;
      if ((digit.extent - 1) * step < room || room % step != 0)
        break;
      const int64_t kept = room / step;
      if (kept <= 1 || digit.extent % kept != 0)
        break;
      cut.push_back({kept, digit.sourceStride, digit.resultStride});
      digit = {digit.extent / kept, digit.sourceStride * kept, digit.resultStride * kept};
    }
    result.push_back(digit);
    result.insert(result.end(), cut.rbegin(), cut.rend());
  }
  return result;
}

std::optional<Piece> composed(const Piece &outer, const Piece &inner) {
  const Piece from = normalised(inner);
  std::vector<Term> radices;
  for (const Piece::Digit &digit : from.digits)
    radices.push_back({digit.extent, digit.resultStride});

  Piece result = outer;
  result.source = inner.source;
  result.digits = cutAt(outer.digits, radices, &Piece::Digit::sourceStride);
  std::vector<Term> terms;
  for (const Piece::Digit &digit : result.digits)
    terms.push_back({digit.extent, digit.sourceStride});
  const auto digits = digitsOf(outer.sourceOffset - from.resultOffset, terms, radices);
  if (!digits)
    return std::nullopt;
  result.sourceOffset = from.sourceOffset;
  for (size_t j = 0; j < radices.size(); ++j)
    result.sourceOffset += digits->constants[j] * from.digits[j].sourceStride;
  for (size_t i = 0; i < terms.size(); ++i) {
    result.digits[i].sourceStride = 0;
    for (size_t j = 0; j < radices.size(); ++j)
      result.digits[i].sourceStride += digits->coefficients[i][j] * from.digits[j].sourceStride;
  }
  return normalised(result);
}

namespace {

/// A digit of the piece, and how many of its steps stay within the radix that it walks alone; nothing where all do, or
/// there is no such digit. `offset`: of the number in these radices.
struct Carry {
  size_t digit = 0;
  int64_t within = 0;
};
std::optional<Carry> carryOf(const std::vector<Piece::Digit> &digits, int64_t offset,
                             const std::vector<Term> &radices) {
  for (size_t j = 0; j < radices.size(); ++j) {
    const int64_t at = offset / radices[j].stride, extent = radices[j].extent;
    offset %= radices[j].stride;
    std::vector<size_t> walkers;
    for (size_t i = 0; i < digits.size(); ++i)
      if (digits[i].extent > 1 && soleRadix(digits[i].sourceStride, radices) == int(j))
        walkers.push_back(i);
    if (walkers.size() != 1)
      continue;
    const int64_t step = digits[walkers[0]].sourceStride / radices[j].stride;
    const int64_t within = step > 0 ? (extent - at + step - 1) / step : at / -step + 1;
    if (within > 0 && within < digits[walkers[0]].extent)
      return Carry{walkers[0], within};
  }
  return std::nullopt;
}

bool addWithoutCarry(Piece piece, int64_t begin, const std::vector<Term> &radices, std::vector<Piece> &parts) {
  piece.digits = cutAt(piece.digits, radices, &Piece::Digit::sourceStride);
  std::vector<Term> terms;
  for (const Piece::Digit &digit : piece.digits)
    terms.push_back({digit.extent, digit.sourceStride});
  if (digitsOf(piece.sourceOffset - begin, terms, radices)) {
    parts.push_back(std::move(piece));
    return parts.size() <= kMostPieces;
  }
  const auto carry = carryOf(piece.digits, piece.sourceOffset - begin, radices);
  if (!carry)
    return false;
  Piece behind = piece;
  Piece::Digit &rest = behind.digits[carry->digit];
  behind.sourceOffset += carry->within * rest.sourceStride;
  behind.resultOffset += carry->within * rest.resultStride;
  rest.extent -= carry->within;
  piece.digits[carry->digit].extent = carry->within;
  return addWithoutCarry(std::move(piece), begin, radices, parts) &&
         addWithoutCarry(std::move(behind), begin, radices, parts);
}

} // namespace

std::optional<std::vector<Piece>> withoutCarry(const Piece &piece, int64_t begin, const std::vector<Term> &radices) {
  std::vector<Piece> parts;
  return addWithoutCarry(piece, begin, radices, parts) ? std::optional(std::move(parts)) : std::nullopt;
}

} // namespace wsc::spmd
