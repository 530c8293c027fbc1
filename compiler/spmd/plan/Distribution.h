// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the iterations of a nest are spread over the network's rectangle, and what follows from it: the sharding in which
// each operand must lie, the sharding in which the result comes, and what is left to reduce over rows or columns.
//
//   iterator distributed, in the operand's map       each core has its part
//   iterator distributed, not in the operand's map   replicas along that axis (the operand's sharding has no digit of
//   it) reduction iterator distributed                   an all-reduce in groups of adjacent cores
//   window (two iterators in one index)              boxes that overlap
#pragma once

#include "compiler/spmd/network/Network.h"
#include "compiler/spmd/sharding/Sharding.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace wsc::spmd {

/// Coordinate x of a mesh axis is p·innerParts + q: p numbers blocks of one parallel iterator, q blocks of a second
/// one, of a reduction iterator (adjacent cores reduce among themselves), or replicas (`inner` −1). Where q numbers
/// blocks of a reduction iterator, p may number those of another one.
struct AxisUse {
  int32_t iterator = -1; // −1: none
  int64_t parts = 1;     // blocks of it
  int32_t inner = -1;
  int64_t innerParts = 1;
  bool operator==(const AxisUse &) const = default;
  /// Cores of the axis that it takes; 0: all do the same.
  int64_t cores() const { return iterator < 0 && inner < 0 ? 0 : parts * innerParts; }
};

/// An iterator that is on both axes is cut into parts by the rows, and each of these by the columns.
struct Distribution {
  Rectangle rectangle; // the cores that compute
  AxisUse rows, cols;
  bool operator==(const Distribution &) const = default;

  const AxisUse &use(Axis axis) const { return axis == Axis::Row ? rows : cols; }
};

/// Which iterators lie on which axis, whatever their parts.
struct DistributionKind {
  int32_t rows = -1, innerRows = -1, cols = -1, innerCols = -1;
  auto operator<=>(const DistributionKind &) const = default;
};
inline DistributionKind kindOf(const Distribution &distribution) {
  return {distribution.rows.iterator, distribution.rows.inner, distribution.cols.iterator, distribution.cols.inner};
}

/// Parts that iterator k is cut into, over both axes; the last ones may be beyond its end.
int64_t partsOf(const Distribution &distribution, int32_t iterator);

/// Iterations of iterator k that one core runs: the extent divided by the parts it is cut into, rounded up.
int64_t blockOf(const Nest &nest, const Distribution &distribution, int32_t iterator);

/// Adjacent cores of an axis that reduce among themselves, and how many such groups there are; 1 where no reduction
/// iterator is spread over the axis.
struct ReduceGroup {
  int64_t cores = 1, groups = 1;
};
ReduceGroup reduceGroup(const Nest &nest, const Distribution &distribution, Axis axis);

/// Whether a reduction iterator is spread over an axis.
inline bool isReduced(const Nest &nest, const Distribution &distribution, Axis axis) {
  return reduceGroup(nest, distribution, axis).cores > 1;
}

/// The box of an operand that a core's iterations read, as a dense local box: dimensions that one iterator walks hold
/// just the elements read, windows hold the hull. A gathered dimension is held whole,
/// or the hull of its windows.
Sharding operandSharding(const Nest &nest, const Access &access, const std::vector<int64_t> &shape,
                         const Distribution &distribution);

/// Where an iteration finds its element in the operand's local box: element base + Σ perIterator[k]·i_k, plus
/// gatherStride times the number that a gathered dimension is read at.
struct LocalStrides {
  int64_t base = 0;
  std::vector<int64_t> perIterator;
  int64_t gatherStride = 0, gatherCount = 0;
};
LocalStrides localStrides(const Nest &nest, const Access &access, const Sharding &sharding,
                          const Distribution &distribution);

/// Where results come to lie: blocks of the parallel iterators; cores that reduce among themselves all have the result.
Sharding resultSharding(const Nest &nest, const std::vector<int64_t> &shape, const Distribution &distribution);

} // namespace wsc::spmd
