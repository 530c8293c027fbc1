// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A piece that reads the result of another remap reads the sources of that remap's pieces instead. The index of the
// element read is affine in the piece's digits, dimension by dimension; a piece of the other remap holds a box of
// indices, and what lies inside of it is cut out as one or several pieces; what no piece holds is the fill.
#include "compiler/spmd/network/Pieces.h"
#include "compiler/spmd/network/Simplify.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <set>
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

/// Cuts the part of a piece whose reads lie in a box into pieces. Where several digits walk a dimension, windows of a
/// rolled image say, the one with the longest step is cut into stretches that lie inside and single indices with which
/// the others do in part.
class BoxCutter {
public:
  /// `digits`: of the piece's source number.
  BoxCutter(const Digits &digits, const std::vector<Interval> &box) : digits(digits), box(box) {}

  /// Nothing where they would be too many.
  std::optional<std::vector<Piece>> cut(const Piece &piece) {
    cut({piece, digits.constants}, 0);
    return pieces.size() <= kMostPieces ? std::optional(std::move(pieces)) : std::nullopt;
  }

private:
  struct Part {
    Piece piece;
    std::vector<int64_t> constants; // as those of `digits`
  };
  enum class Lies { Inside, Partly, Outside };

  Lies lies(const Interval &reads, size_t j) const {
    if (reads.end <= box[j].begin || reads.begin >= box[j].end)
      return Lies::Outside;
    return reads.begin >= box[j].begin && reads.end <= box[j].end ? Lies::Inside : Lies::Partly;
  }

  /// Indices of dimension j that the part reads, from the least to the greatest; digit `fixed` at 0.
  Interval readsOf(const Part &part, size_t j, size_t fixed) const {
    Interval reads{part.constants[j], part.constants[j] + 1};
    for (size_t i = 0; i < part.piece.digits.size(); ++i)
      if (const int64_t step = digits.coefficients[i][j]; i != fixed)
        (step < 0 ? reads.begin : reads.end) += step * (part.piece.digits[i].extent - 1);
    return reads;
  }

  Part restricted(Part part, size_t i, int64_t begin, int64_t end) const {
    Piece::Digit &digit = part.piece.digits[i];
    part.piece.sourceOffset += begin * digit.sourceStride;
    part.piece.resultOffset += begin * digit.resultStride;
    digit.extent = end - begin;
    for (size_t j = 0; j < part.constants.size(); ++j)
      part.constants[j] += begin * digits.coefficients[i][j];
    return part;
  }

  /// Dimensions before j are inside already.
  void cut(const Part &part, size_t j) {
    if (pieces.size() > kMostPieces)
      return;
    if (j == box.size()) {
      pieces.push_back(part.piece);
      return;
    }
    const Lies all = lies(readsOf(part, j, part.piece.digits.size()), j);
    if (all == Lies::Outside)
      return;
    if (all == Lies::Inside)
      return cut(part, j + 1);
    size_t longest = 0;
    int64_t step = 0;
    for (size_t i = 0; i < part.piece.digits.size(); ++i)
      if (part.piece.digits[i].extent > 1 && std::abs(digits.coefficients[i][j]) > std::abs(step)) {
        longest = i;
        step = digits.coefficients[i][j];
      }
    const Interval others = readsOf(part, j, longest);
    const auto at = [&](int64_t k) { return lies({others.begin + k * step, others.end + k * step}, j); };
    const int64_t extent = part.piece.digits[longest].extent;
    for (int64_t begin = 0, end = 0; begin < extent; begin = end) {
      const Lies here = at(begin);
      for (end = begin + 1; end < extent && here != Lies::Partly && at(end) == here;)
        ++end;
      if (here != Lies::Outside)
        cut(restricted(part, longest, begin, end), here == Lies::Inside ? j + 1 : j);
    }
  }

  const Digits &digits;
  const std::vector<Interval> &box;
  std::vector<Piece> pieces;
};

/// Adds what reads behind `source`, a piece of a remap's result of the given radices, instead of `outer`. False where
/// that has no form.
bool addBehind(const Piece &outer, const Piece &source, const std::vector<Term> &radices, std::vector<Piece> &pieces) {
  std::vector<Term> terms, sourceRadices;
  for (const Piece::Digit &digit : outer.digits)
    terms.push_back({digit.extent, digit.sourceStride});
  for (const Piece::Digit &digit : source.digits)
    sourceRadices.push_back({digit.extent, digit.resultStride});
  const auto digits = digitsOf(outer.sourceOffset, terms, radices);
  const auto box = boxOf(source, radices);
  const auto parts = digits && box ? BoxCutter(*digits, *box).cut(outer) : std::nullopt;
  if (!parts)
    return false;
  for (const Piece &part : *parts) {
    const auto cut = withoutCarry(part, source.resultOffset, sourceRadices);
    if (!cut)
      return false;
    for (const Piece &each : *cut) {
      auto made = composed(each, source);
      if (!made)
        return false;
      pieces.push_back(*std::move(made));
    }
  }
  return true;
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
  const auto outer = withoutCarry(given, 0, radices);
  if (!outer)
    return std::nullopt;
  std::vector<Piece> pieces;
  for (const Piece &source : inner.pieces)
    for (const Piece &each : *outer)
      if (!addBehind(each, normalised(source), radices, pieces))
        return std::nullopt;
  int64_t covered = 0;
  for (const Piece &piece : pieces)
    covered += elementsOf(piece);
  if (covered < elementsOf(given) && std::bit_cast<uint64_t>(inner.fill) != std::bit_cast<uint64_t>(fill))
    return std::nullopt;
  return pieces;
}

/// Per tensor, the nodes and outputs that read it.
std::vector<int> readersOf(const Network &network) {
  std::vector<int> readers(network.tensors.size(), 0);
  for (const Node &node : network.nodes) {
    std::set<TensorId> reads;
    if (const Nest *nest = std::get_if<Nest>(&node))
      for (const Access &access : nest->operands)
        reads.insert(access.tensor);
    else
      for (const Piece &piece : std::get<Remap>(node).pieces)
        reads.insert(piece.source);
    for (TensorId read : reads)
      ++readers[size_t(read)];
  }
  for (const NamedTensor &output : network.outputs)
    ++readers[size_t(output.tensor)];
  return readers;
}

} // namespace

void mergeRemaps(Network &network) {
  const std::vector<int> readers = readersOf(network);
  std::vector<const Remap *> producer(network.tensors.size());
  for (Node &node : network.nodes) {
    Remap *remap = std::get_if<Remap>(&node);
    if (!remap)
      continue;
    std::vector<Piece> pieces;
    size_t mostPieces = std::max(kMostMerged, remap->pieces.size()),
           mostSources = std::max(kMostSources, sourcesOf(remap->pieces));
    for (const Piece &piece : remap->pieces) {
      const Remap *inner = producer[size_t(piece.source)];
      if (inner) {
        const size_t most = readers[size_t(piece.source)] > 1 ? 0 : kMostPieces;
        mostPieces = std::max({mostPieces, most, inner->pieces.size()});
        mostSources = std::max({mostSources, most, sourcesOf(inner->pieces)});
      }
      auto made =
          inner ? behind(piece, *inner, network.tensors[size_t(piece.source)].shape, remap->fill) : std::nullopt;
      if (made)
        pieces.insert(pieces.end(), made->begin(), made->end());
      else
        pieces.push_back(piece);
    }
    if (pieces.size() <= mostPieces && sourcesOf(pieces) <= mostSources)
      remap->pieces = std::move(pieces);
    producer[size_t(remap->result)] = remap;
  }
}

} // namespace wsc::spmd
