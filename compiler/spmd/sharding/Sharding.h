// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the elements of a tensor lie on a rectangle of cores, in one normal form.
//
// Every core of the rectangle holds a dense local box of the same size. Along dimension d, local position (l_0, l_1, …)
// on the core at (row, col) of the rectangle is element
//
//     base + Σ step·((coordinate / divisor) mod modulus)  + Σ step_j·l_j
//            over mesh digits of the dimension               over its local digits
//
// of that dimension. Elements outside of the tensor are padding. Blocks, cyclic and block-cyclic forms, several
// dimensions on one mesh axis, overlapping windows (halos) and ragged ends are all of this form; a mesh axis without a
// digit holds replicas.
//
//     block of 16 rows, 4 columns of heads     128 = r*16 | 16      12 = c/1%4*3 | 3
//     cyclic over 8 columns                    100 = c | 13*8
//     windows of a convolution, stride 2       224 = -1 + r*16 | 17
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace wsc::spmd {

enum class Axis : uint8_t { Row, Col };
constexpr Axis other(Axis axis) { return axis == Axis::Row ? Axis::Col : Axis::Row; }

/// Cores, in the coordinates of the network's rectangle.
struct Rectangle {
  int32_t row = 0, col = 0, rows = 1, cols = 1;
  bool operator==(const Rectangle &) const = default;
  /// The coordinates that vary along a line of the axis: columns along a row.
  int32_t first(Axis along) const { return along == Axis::Row ? col : row; }
  int32_t count(Axis along) const { return along == Axis::Row ? cols : rows; }
  void setAlong(Axis along, int32_t first, int32_t count) {
    (along == Axis::Row ? col : row) = first;
    (along == Axis::Row ? cols : rows) = count;
  }
  bool holds(int32_t r, int32_t c) const { return r >= row && r < row + rows && c >= col && c < col + cols; }
};

struct MeshDigit {
  Axis axis = Axis::Row;
  int64_t divisor = 1;
  int64_t modulus = 0; // 0: none
  int64_t step = 1;    // elements
  bool operator==(const MeshDigit &) const = default;
  int64_t at(int32_t coordinate) const {
    const int64_t digit = coordinate / divisor;
    return step * (modulus > 0 ? digit % modulus : digit);
  }
};

struct LocalDigit {
  int64_t count = 1, step = 1; // step in elements
  bool operator==(const LocalDigit &) const = default;
};

struct DimSharding {
  int64_t base = 0;
  std::vector<MeshDigit> mesh;
  std::vector<LocalDigit> local; // outermost first; none: one element
  bool operator==(const DimSharding &) const = default;
  int64_t localExtent() const;
};

struct Sharding {
  Rectangle rectangle;
  /// Row-major shape that dims speak of: the tensor's, or another with as many elements.
  std::vector<int64_t> shape;
  std::vector<DimSharding> dims; // one per extent of shape

  /// Elements each core holds, padding included.
  int64_t localElements() const;
  int64_t elements() const;
  /// Row-major numbers of the elements that the core (network coordinates) holds, in local order; -1 is padding.
  /// Empty outside of the rectangle.
  void elementsAt(int32_t row, int32_t col, std::vector<int64_t> &out) const;
  /// As many dims as extents, positive counts, divisors and sizes. `covers`: every element lies on some core, found by
  /// enumeration.
  absl::Status check(bool covers) const;
  bool operator==(const Sharding &) const = default;
};

/// Whether cores of different rows (columns) hold different parts of some dimension.
bool liesOn(const Sharding &sharding, Axis axis);

/// Whether some core holds padding.
bool hasPadding(const Sharding &sharding);

/// Element p·n … p·n + n − 1 on core p, row by row of the rectangle; n is the least that suffices and a multiple of
/// `granule`.
Sharding flatSharding(const Rectangle &rectangle, int64_t elements, int64_t granule);

/// `(row, col, rows, cols) [128 = r*16 | 16, 12 = 1 + c/2%4*3 | 3*1 2*8]`: per dimension extent, base, mesh digits,
/// local digits.
std::string print(const Sharding &sharding);
absl::StatusOr<Sharding> parseSharding(const std::string &text);

} // namespace wsc::spmd
