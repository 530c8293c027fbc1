// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/Distribution.h"

#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::spmd {

namespace {

int64_t partsAlong(const Distribution &distribution, Axis axis, int32_t iterator) {
  const AxisUse &use = distribution.use(axis);
  return (use.iterator == iterator ? use.parts : 1) * (use.inner == iterator ? use.innerParts : 1);
}

/// The mesh digits that give the first iteration of a core's block, in iterations.
std::vector<MeshDigit> digitsOf(const Nest &nest, const Distribution &distribution, int32_t iterator) {
  std::vector<MeshDigit> digits;
  for (Axis axis : {Axis::Row, Axis::Col}) {
    const AxisUse &use = distribution.use(axis);
    const int64_t block =
        blockOf(nest, distribution, iterator) * (axis == Axis::Row ? partsAlong(distribution, Axis::Col, iterator) : 1);
    if (use.iterator == iterator && use.parts > 1)
      digits.push_back({axis, use.innerParts, 0, block});
    else if (use.inner == iterator && use.innerParts > 1)
      digits.push_back({axis, 1, use.parts > 1 ? use.innerParts : 0, block});
  }
  return digits;
}

void addDigits(DimSharding &dim, const std::vector<MeshDigit> &digits, int64_t factor) {
  for (MeshDigit digit : digits) {
    digit.step *= factor;
    if (digit.step != 0)
      dim.mesh.push_back(digit);
  }
}

} // namespace

int64_t partsOf(const Distribution &distribution, int32_t iterator) {
  return partsAlong(distribution, Axis::Row, iterator) * partsAlong(distribution, Axis::Col, iterator);
}

int64_t blockOf(const Nest &nest, const Distribution &distribution, int32_t iterator) {
  return ceilDiv(nest.extents[size_t(iterator)], partsOf(distribution, iterator));
}

ReduceGroup reduceGroup(const Nest &nest, const Distribution &distribution, Axis axis) {
  const AxisUse &use = distribution.use(axis);
  if (use.inner < nest.numParallel || use.innerParts <= 1)
    return {};
  if (use.iterator >= nest.numParallel)
    return {use.parts * use.innerParts, 1};
  return {use.innerParts, use.parts};
}

Sharding operandSharding(const Nest &nest, const Access &access, const std::vector<int64_t> &shape,
                         const Distribution &distribution) {
  Sharding sharding;
  sharding.rectangle = distribution.rectangle;
  sharding.shape = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    DimSharding dim;
    const bool isWindow = access.gatherDim == int32_t(d) && access.gatherCount > 0;
    if (access.gatherDim == int32_t(d) && !isWindow) {
      dim.local.push_back({std::max<int64_t>(1, shape[d]), 1});
      sharding.dims.push_back(std::move(dim));
      continue;
    }
    const Index &index = access.map[d];
    dim.base = index.constant;
    int64_t span = 1, walkers = 0, only = 0;
    if (isWindow) {
      walkers = 2; // the hull
      span = access.gatherCount;
    }
    for (size_t k = 0; k < index.perIterator.size(); ++k) {
      const int64_t coefficient = index.perIterator[k];
      if (coefficient == 0)
        continue;
      const int64_t block = blockOf(nest, distribution, int32_t(k));
      addDigits(dim, digitsOf(nest, distribution, int32_t(k)), coefficient);
      if (block == 1)
        continue;
      ++walkers;
      only = coefficient;
      span += std::abs(coefficient) * (block - 1);
      if (coefficient < 0)
        dim.base += coefficient * (block - 1);
    }
    if (walkers == 1)
      dim.local.push_back({(span - 1) / std::abs(only) + 1, std::abs(only)});
    else if (walkers > 1)
      dim.local.push_back({span, 1});
    sharding.dims.push_back(std::move(dim));
  }
  return sharding;
}

LocalStrides localStrides(const Nest &nest, const Access &access, const Sharding &sharding,
                          const Distribution &distribution) {
  LocalStrides strides;
  strides.perIterator.assign(nest.extents.size(), 0);
  int64_t pitch = 1;
  for (size_t d = sharding.dims.size(); d-- > 0;) {
    const DimSharding &dim = sharding.dims[d];
    if (access.gatherDim == int32_t(d)) {
      strides.gatherStride = pitch;
      strides.gatherCount = access.gatherCount > 0 ? access.gatherCount : sharding.shape[d];
    }
    if (access.gatherDim != int32_t(d) || access.gatherCount > 0) {
      const int64_t step = dim.local.empty() ? 1 : dim.local[0].step;
      for (size_t k = 0; k < nest.extents.size(); ++k)
        if (const int64_t coefficient = access.map[d].perIterator[k], block = blockOf(nest, distribution, int32_t(k));
            coefficient != 0 && block > 1) {
          strides.perIterator[k] += coefficient / step * pitch;
          if (coefficient < 0)
            strides.base -= coefficient / step * pitch * (block - 1);
        }
    }
    pitch *= dim.localExtent();
  }
  return strides;
}

Sharding resultSharding(const Nest &nest, const std::vector<int64_t> &shape, const Distribution &distribution) {
  Sharding sharding;
  sharding.rectangle = distribution.rectangle;
  sharding.shape = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    DimSharding dim;
    addDigits(dim, digitsOf(nest, distribution, int32_t(d)), 1);
    if (const int64_t block = blockOf(nest, distribution, int32_t(d)); block > 1)
      dim.local.push_back({block, 1});
    sharding.dims.push_back(std::move(dim));
  }
  return sharding;
}

} // namespace wsc::spmd
