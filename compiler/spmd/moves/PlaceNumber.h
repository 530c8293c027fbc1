// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that depend on a core's place in the network's rectangle.
#pragma once

#include "compiler/spmd/program/Code.h"

#include <optional>

namespace wsc::spmd {

/// constant + a number of the row + a number of the column.
struct PlaceNumber {
  int64_t constant = 0;
  GroupNumber row, col;
  bool operator==(const PlaceNumber &) const = default;
  /// The sum, if both numbers of an axis have one modulus or one has none.
  std::optional<PlaceNumber> plus(const PlaceNumber &other) const;
};

} // namespace wsc::spmd
