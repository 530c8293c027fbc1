// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A move as a product of small ones. Elements of a strided piece are tuples of *factors*: groups of dimensions that the
// source's and the result's shapes have in common. What a core holds is a product of lists, one per factor, and so is
// what it wants; each list depends on few digits of the core's place. A move of 10⁶ elements on 10⁵ cores is then a few
// lists of some hundred numbers.
//
//     source [64 channels = c | 1, 56 rows = r/8 | 1, 56]      held: {c} × {r/8} × {0 … 55}
//     wanted [64 = r%8*8 | 8, 56 = −1 + r/8 | 3, 56 = −1 | 58]  channels from the row's cores, rows from neighbours
#pragma once

#include "compiler/spmd/moves/Move.h"

#include <optional>
#include <vector>

namespace wsc::spmd {

/// Negative numbers, of entries and of where they lie: an element that is not the piece's, and padding beyond the
/// tensor's ends, which is no piece's.
constexpr int64_t kOutside = -1, kBeyond = -2;
/// Of two factors' numbers of one element: `both` where neither is negative.
constexpr int64_t joined(int64_t one, int64_t other, int64_t both) {
  return one == kBeyond || other == kBeyond ? kBeyond : one < 0 || other < 0 ? kOutside : both;
}

/// One entry of a factor's list: the number in the factor's space and where it lies in the local box (elements, to be
/// added up over all factors).
struct FactorEntry {
  int64_t id = kOutside, offset = 0;
  bool operator==(const FactorEntry &) const = default;
};
using FactorList = std::vector<FactorEntry>;

struct Factor {
  int64_t size = 1; // numbers 0 … size − 1
  std::vector<size_t> sourceDims, wantedDims;
  bool heldByRow = false, heldByCol = false; // whether the list depends on the core's row, column
  bool wantedByRow = false, wantedByCol = false;
};

class Factors {
public:
  /// Of one strided piece; nothing where the digits of the piece do not divide both shapes, or where a factor's
  /// elements are spread over both axes of the source. `cuts`: dimensions of which several factors have a part are cut,
  /// and those that digits cross are joined (CutDims.h).
  static std::optional<Factors> of(const Sharding &source, const Sharding &wanted, const StridedPiece &piece,
                                   bool cuts = true);

  std::vector<Factor> factors;
  /// The lists of a core that holds (wants) something; local order of the factor's own dimensions, the first outermost.
  FactorList held(size_t factor, int32_t row, int32_t col) const;
  FactorList wanted(size_t factor, int32_t row, int32_t col) const;
  /// Numbers that are equal where the wanted list of a factor is equal, as far as one axis counts.
  std::vector<int64_t> wantedKey(size_t factor, Axis axis, int32_t coordinate) const;

  /// With the dimensions that factors speak of.
  const Sharding &source() const { return from; }
  const Sharding &target() const { return to; }

private:
  Sharding from, to;
  std::vector<int64_t> fromPitch, toPitch;
  // Per dimension and index: what it adds to its factor's number, −1 where the piece has no such element.
  std::vector<std::vector<int64_t>> fromPart, toPart;
};

} // namespace wsc::spmd
