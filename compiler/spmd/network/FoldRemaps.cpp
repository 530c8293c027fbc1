// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An access is a number affine in the iterators: that of the element read. Written in the digits of a piece (Pieces.h)
// it gives the element of the piece's source, and written in the digits of the source's shape the indices there. Reads
// outside of a tensor have no number; a box with padding around it is taken in dimension by dimension instead.
#include "compiler/spmd/network/Pieces.h"
#include "compiler/spmd/network/Simplify.h"

#include <algorithm>

namespace wsc::spmd {

using format::Opcode;

namespace {

/// Whether the access stays inside of a tensor of this shape for all iterators.
bool isInside(const Access &access, const std::vector<int64_t> &shape, const std::vector<int64_t> &extents) {
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t least = access.map[d].constant, most = least;
    for (size_t k = 0; k < extents.size(); ++k) {
      const int64_t reach = access.map[d].perIterator[k] * (extents[k] - 1);
      (reach < 0 ? least : most) += reach;
    }
    if (least < 0 || most >= shape[d])
      return false;
  }
  return true;
}

/// The digits of a shape, without those of extent 1.
std::vector<Term> radicesOf(const std::vector<int64_t> &shape) {
  const std::vector<int64_t> strides = rowMajorStrides(shape);
  std::vector<Term> radices;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1)
      radices.push_back({shape[d], strides[d]});
  return radices;
}

/// The access of the piece's source (of shape `sourceShape`) for one of its result (of shape `shape`) that stays
/// inside.
std::optional<Access> through(const Piece &piece, const std::vector<int64_t> &sourceShape, const Access &access,
                              const std::vector<int64_t> &shape, const std::vector<int64_t> &extents) {
  const std::vector<int64_t> strides = rowMajorStrides(shape);
  int64_t number = 0;
  std::vector<Term> terms;
  for (int64_t extent : extents)
    terms.push_back({extent, 0});
  for (size_t d = 0; d < shape.size(); ++d) {
    number += access.map[d].constant * strides[d];
    for (size_t k = 0; k < extents.size(); ++k)
      terms[k].stride += access.map[d].perIterator[k] * strides[d];
  }

  std::vector<Term> radices;
  for (const Piece::Digit &digit : piece.digits)
    radices.push_back({digit.extent, digit.resultStride});
  const auto inPiece = digitsOf(number - piece.resultOffset, terms, radices);
  if (!inPiece)
    return std::nullopt;
  number = piece.sourceOffset;
  for (size_t j = 0; j < radices.size(); ++j)
    number += inPiece->constants[j] * piece.digits[j].sourceStride;
  for (size_t k = 0; k < terms.size(); ++k) {
    terms[k].stride = 0;
    for (size_t j = 0; j < radices.size(); ++j)
      terms[k].stride += inPiece->coefficients[k][j] * piece.digits[j].sourceStride;
  }

  const auto inSource = digitsOf(number, terms, radicesOf(sourceShape));
  if (!inSource)
    return std::nullopt;
  Access result;
  result.tensor = piece.source;
  size_t j = 0;
  for (int64_t extent : sourceShape) {
    Index &index = result.map.emplace_back();
    index.perIterator.resize(extents.size());
    if (extent == 1)
      continue;
    index.constant = inSource->constants[j];
    for (size_t k = 0; k < extents.size(); ++k)
      index.perIterator[k] = inSource->coefficients[k][j];
    ++j;
  }
  return result;
}

/// Where the whole source lies in the result if the piece puts it there as a box, dimension by dimension.
std::optional<std::vector<int64_t>> boxOffsets(const Piece &piece, const std::vector<int64_t> &sourceShape,
                                               const std::vector<int64_t> &shape) {
  if (sourceShape.size() != shape.size())
    return std::nullopt;
  std::vector<int64_t> offsets;
  int64_t rest = piece.resultOffset;
  const std::vector<int64_t> strides = rowMajorStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    offsets.push_back(rest / strides[d]);
    rest %= strides[d];
    if (offsets[d] + sourceShape[d] > shape[d])
      return std::nullopt;
  }
  const std::vector<int64_t> zeros(shape.size()), ones(shape.size(), 1);
  const auto box = boxPiece(sourceShape, zeros, sourceShape, ones, shape, offsets);
  const auto same = [](const Piece::Digit &a, const Piece::Digit &b) {
    return a.extent == b.extent && a.sourceStride == b.sourceStride && a.resultStride == b.resultStride;
  };
  if (!box || box->sourceOffset != piece.sourceOffset || box->resultOffset != piece.resultOffset ||
      !std::equal(box->digits.begin(), box->digits.end(), piece.digits.begin(), piece.digits.end(), same))
    return std::nullopt;
  return offsets;
}

/// The access of the piece's source where the result has the source's dimensions in another order, whole: also for one
/// that goes outside of the tensor.
std::optional<Access> permuted(const Piece &piece, const std::vector<int64_t> &sourceShape, const Access &access,
                               const std::vector<int64_t> &shape) {
  if (sourceShape.size() != shape.size() || piece.sourceOffset != 0 || piece.resultOffset != 0)
    return std::nullopt;
  std::vector<Term> radices;
  for (const Piece::Digit &digit : piece.digits)
    radices.push_back({digit.extent, digit.resultStride});
  const std::vector<int64_t> strides = rowMajorStrides(shape), sourceStrides = rowMajorStrides(sourceShape);
  std::vector<bool> taken(shape.size());
  Access result = access;
  result.tensor = piece.source;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t step = 0; // in the source, from one index of dimension d to the next
    if (shape[d] > 1) {
      const auto digits = digitsOf(0, {{shape[d], strides[d]}}, radices);
      if (!digits)
        return std::nullopt;
      for (size_t j = 0; j < radices.size(); ++j)
        step += digits->coefficients[0][j] * piece.digits[j].sourceStride;
    }
    size_t from = 0;
    while (from < shape.size() &&
           (taken[from] || sourceShape[from] != shape[d] || (shape[d] > 1 && sourceStrides[from] != step)))
      ++from;
    if (from == shape.size())
      return std::nullopt;
    taken[from] = true;
    result.map[from] = access.map[d];
  }
  return result;
}

/// Whether operand `operand` takes part in the reduction alone, as a value of it or converted to one.
bool isOnlyReduced(const Nest &nest, int32_t operand) {
  const auto is = [](const BodyValue &value, BodyValue::Kind kind, int32_t index) {
    return value.kind == kind && value.index == index;
  };
  const auto uses = [&](const std::vector<BodyOp> &ops, BodyValue::Kind kind, int32_t index) {
    return std::count_if(ops.begin(), ops.end(), [&](const BodyOp &op) {
      return is(op.a, kind, index) || is(op.b, kind, index) || is(op.c, kind, index);
    });
  };
  if (uses(nest.finish, BodyValue::Kind::Operand, operand) || is(nest.resultValue, BodyValue::Kind::Operand, operand))
    return false;
  for (size_t i = 0; i < nest.body.size(); ++i) {
    const BodyOp &op = nest.body[i];
    const bool isUsed = is(op.a, BodyValue::Kind::Operand, operand) || is(op.b, BodyValue::Kind::Operand, operand) ||
                        is(op.c, BodyValue::Kind::Operand, operand);
    if (isUsed && (op.opcode != Opcode::Convert || uses(nest.body, BodyValue::Kind::Operation, int32_t(i))))
      return false;
  }
  for (const Access &other : nest.operands)
    if (other.gatherIndices == operand)
      return false;
  return true;
}

/// Whether reading `fill` for an operand leaves the reduction as it is.
bool isNeutral(const Nest &nest, int32_t operand, double fill) {
  if (!nest.reduction || !isOnlyReduced(nest, operand))
    return false;
  switch (nest.reduction->opcode) {
  case Opcode::Fma:
  case Opcode::ReduceAdd:
    return fill == 0;
  case Opcode::ReduceMul:
    return fill == 1;
  default:
    return fill == nest.reduction->initial;
  }
}

} // namespace

void foldRemaps(Network &network) {
  std::vector<const Remap *> producer(network.tensors.size());
  for (const Node &node : network.nodes)
    if (const auto *remap = std::get_if<Remap>(&node); remap && remap->pieces.size() == 1)
      producer[size_t(remap->result)] = remap;

  /// The access that reads behind the remap which makes the operand's tensor.
  const auto behind = [&](const Nest &nest, int32_t operand) -> std::optional<Access> {
    const Access &access = nest.operands[size_t(operand)];
    const Remap *remap = producer[size_t(access.tensor)];
    if (!remap || access.gatherDim >= 0)
      return std::nullopt;
    const std::vector<int64_t> &shape = network.tensors[size_t(access.tensor)].shape;
    const Piece piece = normalised(remap->pieces[0]);
    const std::vector<int64_t> &sourceShape = network.tensors[size_t(piece.source)].shape;
    if (!isInside(access, shape, nest.extents))
      return permuted(piece, sourceShape, access, shape);
    if (auto found = through(piece, sourceShape, access, shape, nest.extents))
      return found;
    const auto offsets = boxOffsets(piece, sourceShape, shape);
    if (!offsets || !isNeutral(nest, operand, remap->fill))
      return std::nullopt;
    Access padded = access;
    padded.tensor = piece.source;
    padded.padding = remap->fill;
    for (size_t d = 0; d < shape.size(); ++d)
      padded.map[d].constant -= (*offsets)[d];
    return padded;
  };
  for (Node &node : network.nodes)
    if (auto *nest = std::get_if<Nest>(&node))
      for (size_t i = 0; i < nest->operands.size(); ++i)
        while (auto access = behind(*nest, int32_t(i)))
          nest->operands[i] = *access;
}

} // namespace wsc::spmd
