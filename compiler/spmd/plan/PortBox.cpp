// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/PortBox.h"

#include "compiler/spmd/sharding/Divide.h"
#include "runtime/format/Executable.h"

#include <algorithm>
#include <set>

namespace wsc::spmd {

namespace {

/// Coordinates of an axis: those that all blocks take, and those after which inner digits begin again.
struct Reach {
  int64_t cores = 1, period = 1;
};

} // namespace

std::optional<std::vector<PortLoop>> portLoops(const Sharding &box) {
  std::vector<PortLoop> loops;
  // Columns: mixed radix at the borders of all digits.
  std::set<int64_t> borders{1, box.rectangle.cols};
  std::vector<std::pair<MeshDigit, int64_t>> digits; // with the stride of their dimension
  int64_t stride = 1;
  for (size_t d = box.dims.size(); d-- > 0; stride *= box.shape[d])
    for (const MeshDigit &digit : box.dims[d].mesh)
      if (digit.axis == Axis::Col) {
        digits.emplace_back(digit, stride);
        borders.insert(digit.divisor);
        if (digit.modulus > 0)
          borders.insert(digit.divisor * digit.modulus);
      }
  const std::vector<int64_t> at(borders.begin(), borders.end());
  if (!digits.empty())
    for (size_t i = at.size() - 1; i-- > 0;) {
      if (at[i + 1] % at[i] != 0 || at[i + 1] > box.rectangle.cols)
        return std::nullopt;
      PortLoop loop{at[i + 1] / at[i], 0};
      for (const auto &[digit, pitch] : digits)
        if (digit.divisor <= at[i] && (digit.modulus == 0 || at[i] < digit.divisor * digit.modulus))
          loop.stride += digit.step * pitch * (at[i] / digit.divisor);
      loops.push_back(loop);
    }
  stride = 1;
  const size_t outer = loops.size();
  for (size_t d = box.dims.size(); d-- > 0; stride *= box.shape[d])
    if (const int64_t extent = box.dims[d].localExtent(); extent > 1)
      loops.insert(loops.begin() + ptrdiff_t(outer), {extent, stride});
  // Neighbours that go on where the inner one ends are one loop.
  std::vector<PortLoop> joined;
  size_t ofColumns = 0;
  for (size_t i = 0; i < loops.size(); ++i) {
    const PortLoop &loop = loops[i];
    if (i == outer)
      ofColumns = joined.size(); // which an output runs through backwards
    if (loop.count == 1)
      continue;
    if (joined.size() > ofColumns && joined.back().stride == loop.stride * loop.count)
      joined.back() = {joined.back().count * loop.count, loop.stride};
    else
      joined.push_back(loop);
  }
  if (joined.size() > size_t(format::kMaxDims))
    return std::nullopt;
  return joined;
}

std::optional<Sharding> portBox(const Sharding &wanted, const Rectangle &rectangle) {
  Sharding box;
  box.shape = wanted.shape;
  if (wanted.rectangle.row != 0 || wanted.rectangle.col != 0)
    return std::nullopt;
  Reach rows, cols;
  size_t rowDigits = 0;
  for (size_t d = 0; d < wanted.dims.size(); ++d) {
    DimSharding dim;
    int64_t block = wanted.shape[d];
    std::vector<MeshDigit> here;
    for (const MeshDigit &digit : wanted.dims[d].mesh)
      if (digit.step != 0)
        here.push_back(digit);
    if (here.size() > 1)
      return std::nullopt;
    if (!here.empty()) {
      const MeshDigit digit = here[0];
      const bool isRow = digit.axis == Axis::Row;
      Reach &reach = isRow ? rows : cols;
      if (digit.step < 0 || (isRow && digit.modulus > 0 && digit.divisor != 1))
        return std::nullopt;
      block = digit.step;
      dim.mesh = {digit};
      // All blocks of the dimension, also those beyond what the nest reads.
      const int64_t parts = ceilDiv(wanted.shape[d], block);
      if (digit.modulus > 0 && parts > digit.modulus)
        return std::nullopt;
      if (digit.modulus > 0) {
        reach.period = std::max(reach.period, digit.modulus * digit.divisor);
      } else {
        reach.period = std::max(reach.period, digit.divisor);
        reach.cores = std::max(reach.cores, parts * digit.divisor);
      }
      rowDigits += isRow;
    }
    if (block > 1)
      dim.local = {{block, 1}};
    box.dims.push_back(std::move(dim));
  }
  for (const DimSharding &dim : box.dims)
    for (const MeshDigit &digit : dim.mesh)
      if (digit.axis == Axis::Row && (digit.modulus > 0 ? digit.modulus : digit.divisor) != rows.period)
        return std::nullopt;
  auto whole = [](const Reach &reach) {
    return int32_t(ceilDiv(std::max(reach.cores, reach.period), reach.period) * reach.period);
  };
  box.rectangle = {0, 0, whole(rows), cols.cores * cols.period > 1 ? whole(cols) : rectangle.cols};
  if (rowDigits < 1 || rowDigits > 2 || box.rectangle.rows > rectangle.rows || box.rectangle.cols > rectangle.cols ||
      !portLoops(box))
    return std::nullopt;
  return box;
}

} // namespace wsc::spmd
