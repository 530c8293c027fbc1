// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/PortBox.h"

#include <algorithm>

namespace wsc::spmd {

std::optional<Sharding> portBox(const Sharding &wanted, const Rectangle &rectangle) {
  Sharding box;
  box.rectangle = {0, 0, wanted.rectangle.rows, rectangle.cols};
  box.shape = wanted.shape;
  if (wanted.rectangle.row != 0 || wanted.rectangle.col != 0)
    return std::nullopt;
  int64_t unit = 1; // rows of an outer digit
  size_t digits = 0, loops = 0;
  int32_t rows = 1;
  for (size_t d = 0; d < wanted.dims.size(); ++d) {
    DimSharding dim;
    int64_t block = wanted.shape[d];
    std::vector<MeshDigit> here;
    for (const MeshDigit &digit : wanted.dims[d].mesh)
      if (digit.axis == Axis::Row && digit.step != 0)
        here.push_back(digit);
    if (here.size() > 1)
      return std::nullopt;
    if (!here.empty()) {
      const MeshDigit digit = here[0];
      if (digit.step < 0 || (digit.modulus > 0 && digit.divisor != 1))
        return std::nullopt;
      block = digit.step;
      dim.mesh = {digit};
      // All blocks of the dimension, also those beyond what the nest reads.
      const int64_t parts = (wanted.shape[d] + block - 1) / block;
      if (digit.modulus > 0) {
        if (parts > digit.modulus)
          return std::nullopt;
        unit = std::max(unit, digit.modulus);
      } else {
        unit = std::max(unit, digit.divisor);
        rows = int32_t(std::max<int64_t>(rows, parts * digit.divisor));
      }
      ++digits;
    }
    if (block > 1) {
      dim.local = {{block, 1}};
      ++loops;
    }
    box.dims.push_back(std::move(dim));
  }
  for (const DimSharding &dim : box.dims)
    for (const MeshDigit &digit : dim.mesh)
      if (digit.modulus > 0 ? digit.modulus != unit : digit.divisor != unit)
        return std::nullopt;
  rows = int32_t((std::max<int64_t>(rows, unit) + unit - 1) / unit * unit);
  if (digits == 0 || digits > 2 || loops > 4 || rows > rectangle.rows)
    return std::nullopt;
  box.rectangle.rows = rows;
  return box;
}

} // namespace wsc::spmd
