// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/CutDims.h"

#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <utility>

namespace wsc::spmd {

namespace {

struct Parts {
  DimSharding outer, inner;
};

/// Of a digit of `numbers` (0: whatever there are), each `step` indices: how many of them stay below the cut, 0 for
/// none; nothing where the digit does not divide there.
std::optional<int64_t> numbersBelow(int64_t cut, int64_t step, int64_t numbers) {
  if (step >= cut)
    return step % cut == 0 ? std::optional<int64_t>(0) : std::nullopt;
  if (step <= 0 || cut % step != 0)
    return std::nullopt;
  const int64_t below = cut / step;
  return numbers == 0 || numbers % below == 0 ? std::optional(below) : std::nullopt;
}

std::optional<Parts> cutDim(const DimSharding &dim, const Rectangle &rectangle, int64_t cut) {
  if (dim.base != 0)
    return std::nullopt;
  Parts parts;
  int64_t last = 0; // index of the inner part
  for (const MeshDigit &digit : dim.mesh) {
    if (digit.step == 0)
      continue;
    const int64_t cores = digit.axis == Axis::Row ? rectangle.rows : rectangle.cols;
    const int64_t all = ceilDiv(cores, digit.divisor), numbers = digit.modulus > 0 ? digit.modulus : all;
    if (digit.step > 0 && digit.step < cut && (std::min(numbers, all) - 1) * digit.step < cut) {
      parts.inner.mesh.push_back(digit);
      last += (std::min(numbers, all) - 1) * digit.step;
      continue;
    }
    const auto below = numbersBelow(cut, digit.step, digit.modulus);
    if (!below)
      return std::nullopt;
    if (*below == 0) {
      parts.outer.mesh.push_back({digit.axis, digit.divisor, digit.modulus, digit.step / cut});
      continue;
    }
    parts.inner.mesh.push_back({digit.axis, digit.divisor, *below, digit.step});
    parts.outer.mesh.push_back({digit.axis, digit.divisor * *below, digit.modulus / *below, 1});
    last += (*below - 1) * digit.step;
  }
  for (const LocalDigit &digit : dim.local) {
    if (digit.step < 0)
      return std::nullopt;
    if (digit.count == 1)
      continue;
    if (digit.step < cut && (digit.count - 1) * digit.step < cut) {
      parts.inner.local.push_back(digit);
      last += (digit.count - 1) * digit.step;
      continue;
    }
    const auto below = numbersBelow(cut, digit.step, digit.count);
    if (!below || !parts.inner.local.empty()) // the order of what cores hold is the outer part's first
      return std::nullopt;
    if (*below == 0) {
      parts.outer.local.push_back({digit.count, digit.step / cut});
      continue;
    }
    if (digit.count > *below)
      parts.outer.local.push_back({digit.count / *below, 1});
    parts.inner.local.push_back({*below, digit.step});
    last += (*below - 1) * digit.step;
  }
  return last < cut ? std::optional(std::move(parts)) : std::nullopt;
}

/// Whether all cores hold indices of the dimension only.
bool staysWithin(const DimSharding &dim, const Rectangle &rectangle, int64_t extent) {
  int64_t least = dim.base, most = dim.base;
  auto add = [&](int64_t numbers, int64_t step) {
    least += std::min<int64_t>(0, (numbers - 1) * step);
    most += std::max<int64_t>(0, (numbers - 1) * step);
  };
  for (const MeshDigit &digit : dim.mesh) {
    const int64_t all = ceilDiv(digit.axis == Axis::Row ? rectangle.rows : rectangle.cols, digit.divisor);
    add(digit.modulus > 0 ? std::min(digit.modulus, all) : all, digit.step);
  }
  for (const LocalDigit &digit : dim.local)
    add(digit.count, digit.step);
  return least >= 0 && most < extent;
}

} // namespace

std::optional<Sharding> withJoinedDims(const Sharding &sharding, size_t dim) {
  const int64_t extent = sharding.shape[dim + 1];
  DimSharding joined = sharding.dims[dim];
  const DimSharding &inner = sharding.dims[dim + 1];
  if (!staysWithin(inner, sharding.rectangle, extent))
    return std::nullopt;
  joined.base = joined.base * extent + inner.base;
  for (MeshDigit &digit : joined.mesh)
    digit.step *= extent;
  for (LocalDigit &digit : joined.local)
    digit.step *= extent;
  joined.mesh.insert(joined.mesh.end(), inner.mesh.begin(), inner.mesh.end());
  joined.local.insert(joined.local.end(), inner.local.begin(), inner.local.end());
  Sharding result = sharding;
  result.shape[dim] *= extent;
  result.shape.erase(result.shape.begin() + ptrdiff_t(dim) + 1);
  result.dims[dim] = std::move(joined);
  result.dims.erase(result.dims.begin() + ptrdiff_t(dim) + 1);
  return result;
}

Sharding withCutDims(const Sharding &sharding, const std::vector<std::set<int64_t>> &steps) {
  Sharding result;
  result.rectangle = sharding.rectangle;
  for (size_t d = 0; d < sharding.dims.size(); ++d) {
    int64_t extent = sharding.shape[d];
    DimSharding inner = sharding.dims[d];
    for (auto step = steps[d].rbegin(); step != steps[d].rend(); ++step) {
      if (*step <= 1 || *step >= extent || extent % *step != 0)
        continue;
      auto parts = cutDim(inner, sharding.rectangle, *step);
      if (!parts)
        continue;
      result.shape.push_back(extent / *step);
      result.dims.push_back(std::move(parts->outer));
      extent = *step;
      inner = std::move(parts->inner);
    }
    result.shape.push_back(extent);
    result.dims.push_back(std::move(inner));
  }
  return result;
}

} // namespace wsc::spmd
