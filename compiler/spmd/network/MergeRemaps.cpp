// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A piece that reads the result of another remap reads the sources of that remap's pieces instead. The index of the
// element read is affine in the piece's digits, dimension by dimension; a piece of the other remap holds a box of
// indices. Where a digit runs beyond the box it is cut down to what lies inside; what no piece holds is the fill.
#include "compiler/spmd/network/Pieces.h"
#include "compiler/spmd/network/Simplify.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace wsc::spmd {

namespace {

struct Interval {
  int64_t begin = 0, end = 0;
};

/// The indices that a piece fills, per radix of the result's shape; nothing where they are no box.
std::optional<std::vector<Interval>> boxOf(const Piece &piece, const std::vector<Term> &radices) {
  std::vector<Term> terms;
  for (const Piece::Digit &digit : cutAt(piece.digits, radices, &Piece::Digit::resultStride))
    terms.push_back({digit.extent, digit.resultStride});
  const auto digits = digitsOf(piece.resultOffset, terms, radices);
  if (!digits)
    return std::nullopt;
  std::vector<Interval> box;
  for (size_t j = 0; j < radices.size(); ++j) {
    std::vector<Term> steps; // of the digits that walk this dimension
    for (size_t i = 0; i < terms.size(); ++i)
      if (digits->coefficients[i][j] != 0)
        steps.push_back({terms[i].extent, digits->coefficients[i][j]});
    std::sort(steps.begin(), steps.end(), [](const Term &a, const Term &b) { return a.stride < b.stride; });
    int64_t count = 1;
    for (const Term &step : steps) {
      if (step.stride != count)
        return std::nullopt;
      count *= step.extent;
    }
    box.push_back({digits->constants[j], digits->constants[j] + count});
  }
  return box;
}

/// The part of a piece whose reads lie in a box.
struct Part {
  Piece piece;
  bool isEmpty = false;
};

/// Nothing where the part is no piece. `digits`: of the piece's source number.
std::optional<Part> within(const Piece &piece, const Digits &digits, const std::vector<Interval> &box) {
  Part part{piece};
  std::vector<bool> isCut(piece.digits.size(), false);
  for (size_t j = 0; j < box.size(); ++j) {
    int64_t least = digits.constants[j], most = least;
    std::vector<size_t> walkers;
    for (size_t i = 0; i < piece.digits.size(); ++i)
      if (const int64_t step = digits.coefficients[i][j]; step != 0 && piece.digits[i].extent > 1) {
        (step < 0 ? least : most) += step * (piece.digits[i].extent - 1);
        walkers.push_back(i);
      }
    if (most < box[j].begin || least >= box[j].end) {
      part.isEmpty = true;
      return part;
    }
    if (least >= box[j].begin && most < box[j].end)
      continue;
    if (walkers.size() != 1 || isCut[walkers[0]])
      return std::nullopt;
    const size_t i = walkers[0];
    const int64_t step = digits.coefficients[i][j], first = digits.constants[j];
    // box.begin <= first + step·k < box.end
    int64_t begin = step > 0 ? ceilDiv(box[j].begin - first, step) : ceilDiv(first - box[j].end + 1, -step);
    int64_t end = step > 0 ? ceilDiv(box[j].end - first, step) : floorDiv(first - box[j].begin, -step) + 1;
    begin = std::max<int64_t>(begin, 0);
    end = std::min(end, piece.digits[i].extent);
    if (begin >= end) {
      part.isEmpty = true;
      return part;
    }
    isCut[i] = true;
    Piece::Digit &digit = part.piece.digits[i];
    part.piece.sourceOffset += begin * digit.sourceStride;
    part.piece.resultOffset += begin * digit.resultStride;
    digit.extent = end - begin;
  }
  return part;
}

/// The pieces that read behind `inner`, whose result of shape `shape` the piece reads. Nothing where they have no form,
/// or elements that no piece of `inner` holds would become another fill.
std::optional<std::vector<Piece>> behind(const Piece &given, const Remap &inner, const std::vector<int64_t> &shape,
                                         double fill) {
  std::vector<Term> radices;
  const std::vector<int64_t> strides = rowMajorStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1)
      radices.push_back({shape[d], strides[d]});
  Piece outer = given;
  outer.digits = cutAt(given.digits, radices, &Piece::Digit::sourceStride);
  std::vector<Term> terms;
  for (const Piece::Digit &digit : outer.digits)
    terms.push_back({digit.extent, digit.sourceStride});
  const auto digits = digitsOf(outer.sourceOffset, terms, radices);
  if (!digits)
    return std::nullopt;
  std::vector<Piece> pieces;
  int64_t covered = 0;
  for (const Piece &each : inner.pieces) {
    const Piece source = normalised(each);
    const auto box = boxOf(source, radices);
    if (!box)
      return std::nullopt;
    const auto part = within(outer, *digits, *box);
    if (!part)
      return std::nullopt;
    if (part->isEmpty)
      continue;
    auto made = composed(part->piece, source);
    if (!made)
      return std::nullopt;
    covered += elementsOf(*made);
    pieces.push_back(*std::move(made));
  }
  if (covered < elementsOf(given) && std::bit_cast<uint64_t>(inner.fill) != std::bit_cast<uint64_t>(fill))
    return std::nullopt;
  return pieces;
}

} // namespace

void mergeRemaps(Network &network) {
  std::vector<const Remap *> producer(network.tensors.size());
  for (Node &node : network.nodes) {
    Remap *remap = std::get_if<Remap>(&node);
    if (!remap)
      continue;
    std::vector<Piece> pieces;
    for (const Piece &piece : remap->pieces) {
      const Remap *inner = producer[size_t(piece.source)];
      auto made =
          inner ? behind(piece, *inner, network.tensors[size_t(piece.source)].shape, remap->fill) : std::nullopt;
      if (made)
        pieces.insert(pieces.end(), made->begin(), made->end());
      else
        pieces.push_back(piece);
    }
    if (pieces.size() <= std::max(kMostPieces, remap->pieces.size()))
      remap->pieces = std::move(pieces);
    producer[size_t(remap->result)] = remap;
  }
}

} // namespace wsc::spmd
