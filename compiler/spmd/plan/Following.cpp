// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/Following.h"

#include "compiler/spmd/plan/Neutral.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>

namespace wsc::spmd {

namespace {

/// The one iterator that walks an index; −1: none, −2: several.
int32_t walkerOf(const Index &index) {
  int32_t iterator = -1;
  for (size_t k = 0; k < index.perIterator.size(); ++k)
    if (index.perIterator[k] != 0)
      iterator = iterator == -1 ? int32_t(k) : -2;
  return iterator;
}

/// Elements of a dimension that one digit walks: all, or those that a coarser digit on the other axis leaves.
int64_t partOf(int64_t extent, const DimSharding &dim, const MeshDigit &digit) {
  int64_t part = extent;
  for (const MeshDigit &coarser : dim.mesh)
    if (coarser.axis != digit.axis && coarser.step > digit.step)
      part = std::min(part, coarser.step);
  return part;
}

std::optional<AxisUse> usedAlong(Axis axis, const Network &network, const Nest &nest, const Access &access,
                                 const Sharding &held) {
  AxisUse use;
  for (size_t d = 0; d < held.shape.size(); ++d)
    for (const MeshDigit &digit : held.dims[d].mesh) {
      if (digit.axis != axis)
        continue;
      const int32_t iterator = walkerOf(access.map[d]);
      if (iterator < 0)
        return std::nullopt;
      if (digit.modulus > 0) {
        use.inner = iterator;
        use.innerParts = digit.modulus;
      } else {
        use.iterator = iterator;
        use.parts = ceilDiv(partOf(held.shape[d], held.dims[d], digit), std::max<int64_t>(1, digit.step));
        use.innerParts = std::max(use.innerParts, digit.divisor);
      }
    }
  // The last of several cores that hold the same may be cut off by the rectangle's end.
  if (use.cores() > (axis == Axis::Row ? held.rectangle.rows : held.rectangle.cols))
    return std::nullopt;
  if (use.iterator >= nest.numParallel) {
    // Cores that reduce among themselves are adjacent.
    if (use.inner < 0 && use.innerParts == 1)
      use = {-1, 1, use.iterator, use.parts};
    else if (use.inner < nest.numParallel)
      return std::nullopt;
  }
  // Groups that reduce among themselves begin at the line's begin. All cores of the rectangle get the result, so those
  // behind the last block reduce with the others: they hold padding.
  const auto [begin, cores] = axis == Axis::Row ? std::pair(held.rectangle.row, held.rectangle.rows)
                                                : std::pair(held.rectangle.col, held.rectangle.cols);
  if (use.inner >= nest.numParallel && begin != 0)
    return std::nullopt;
  if (use.inner >= nest.numParallel && use.cores() < cores) {
    if (use.iterator >= 0)
      return std::nullopt;
    use.innerParts = cores;
  }
  for (int32_t k = nest.numParallel; k < int32_t(nest.extents.size()); ++k) {
    const int64_t parts = use.iterator == k ? use.parts : use.inner == k ? use.innerParts : 1;
    if (nest.extents[size_t(k)] % parts != 0 && !mayOverrun(network, nest, k))
      return std::nullopt;
  }
  return use;
}

} // namespace

FollowedUses followedUses(const Network &network, const Nest &nest, const Access &access, const Sharding &held) {
  if (held.shape != network.tensors[size_t(access.tensor)].shape)
    return {};
  return {usedAlong(Axis::Row, network, nest, access, held), usedAlong(Axis::Col, network, nest, access, held)};
}

std::vector<AxisUse> refined(const Nest &nest, const AxisUse &use) {
  std::vector<AxisUse> uses;
  if (use.iterator < 0 || use.iterator >= nest.numParallel || use.inner >= 0 || use.innerParts == 1)
    return uses;
  for (int32_t k = 0; k < nest.numParallel; ++k)
    if (k != use.iterator && 2 * nest.extents[size_t(k)] > use.innerParts)
      uses.push_back({use.iterator, use.parts, k, use.innerParts});
  return uses;
}

std::optional<Distribution> following(const Network &network, const Nest &nest, const Access &access,
                                      const Sharding &held) {
  const FollowedUses uses = followedUses(network, nest, access, held);
  if (!uses.rows || !uses.cols)
    return std::nullopt;
  Distribution result{held.rectangle, *uses.rows, *uses.cols};
  return operandSharding(nest, access, held.shape, result) == held ? std::optional(result) : std::nullopt;
}

} // namespace wsc::spmd
