// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/PlaceNumber.h"

namespace wsc::spmd {

namespace {

std::optional<GroupNumber> sum(const GroupNumber &a, const GroupNumber &b) {
  if (a.modulus == b.modulus)
    return GroupNumber{a.modulus, a.perGroup + b.perGroup, a.perSub + b.perSub};
  const GroupNumber &plain = a.modulus == 1 ? a : b, &grouped = a.modulus == 1 ? b : a;
  if (plain.modulus != 1)
    return std::nullopt;
  return GroupNumber{grouped.modulus, grouped.perGroup + plain.perGroup * grouped.modulus,
                     grouped.perSub + plain.perGroup};
}

} // namespace

std::optional<PlaceNumber> PlaceNumber::plus(const PlaceNumber &other) const {
  const auto rows = sum(row, other.row), cols = sum(col, other.col);
  if (!rows || !cols)
    return std::nullopt;
  return PlaceNumber{constant + other.constant, *rows, *cols};
}

} // namespace wsc::spmd
