// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of remaps: pieces in one normal form, pieces of pieces, and affine numbers as digits of a mixed radix.
#pragma once

#include "compiler/spmd/network/Network.h"

#include <optional>
#include <vector>

namespace wsc::spmd {

/// Pieces of a remap whose moves are planned piece by piece; those of more go element by element.
inline constexpr size_t kMostPieces = 64;
/// Of remaps into which others are merged that are read elsewhere, too: pieces, and tensors that they read, where
/// neither had more before. Each piece takes stages of its own; what stands between travels as one.
inline constexpr size_t kMostMerged = 16, kMostSources = 4;

/// Different tensors that pieces read.
size_t sourcesOf(const std::vector<Piece> &pieces);

/// Elements that a piece places.
int64_t elementsOf(const Piece &piece);

/// The same piece with positive strides of the result in falling order, no digits of extent 1, and neighbouring digits
/// joined where they continue each other in source and result. Pieces that place the same elements alike over digits
/// that nest have one normal form.
Piece normalised(Piece piece);

/// Row-major strides of a shape.
std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &shape);

/// Element starts_d + i_d·steps_d of a source of shape `sourceShape` goes to element offsets_d + i_d of a result of
/// shape `resultShape`, for all i_d in [0, sizes_d). One rank for all. Nothing if a size is 0. Normalised.
std::optional<Piece> boxPiece(const std::vector<int64_t> &sourceShape, const std::vector<int64_t> &starts,
                              const std::vector<int64_t> &sizes, const std::vector<int64_t> &steps,
                              const std::vector<int64_t> &resultShape, const std::vector<int64_t> &offsets);

/// Where `inner` makes the tensor that `outer` reads: the piece that reads inner's source instead. Nothing if outer
/// reads what inner does not place, or the places do not follow from digits.
std::optional<Piece> composed(const Piece &outer, const Piece &inner);

/// A variable in [0, extent) times `stride`, in a number or as a digit of it.
struct Term {
  int64_t extent = 1, stride = 0;
};

/// A number offset + Σ k_i·terms_i.stride (k_i in [0, terms_i.extent)) written as Σ d_j·radices_j.stride with digits
/// d_j = constants[j] + Σ coefficients[i][j]·k_i that stay within [0, radices_j.extent).
struct Digits {
  std::vector<int64_t> constants;                 // per radix
  std::vector<std::vector<int64_t>> coefficients; // per term, per radix
};

/// The number in the given radices (of positive, falling strides). Nothing if a digit would carry.
std::optional<Digits> digitsOf(int64_t offset, const std::vector<Term> &terms, const std::vector<Term> &radices);

/// Digits cut in two wherever `stride` runs over one of the radices into the next: then each walks one of them. Those
/// that do not divide stay.
std::vector<Piece::Digit> cutAt(const std::vector<Piece::Digit> &digits, const std::vector<Term> &radices,
                                int64_t Piece::Digit::*stride);

/// The piece in parts whose source numbers, counted from `begin`, have digits in the radices, cut where a digit would
/// carry: every place but the first of those that two tensors take in turns is the second one's places and the first
/// one's from its second on. Nothing where there is no such form, or it has more than kMostPieces parts.
std::optional<std::vector<Piece>> withoutCarry(const Piece &piece, int64_t begin, const std::vector<Term> &radices);

} // namespace wsc::spmd
