// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cores of lines want of one factor, made once for all lines that want the same.
#pragma once

#include "compiler/spmd/moves/Factors.h"

#include <map>
#include <utility>
#include <vector>

namespace wsc::spmd {

/// Row, column of the place `k` on line `l`.
inline std::pair<int32_t, int32_t> placeOnLine(Axis axis, int32_t k, int32_t l) {
  return axis == Axis::Row ? std::pair(l, k) : std::pair(k, l);
}

/// What the places of a line want of one factor; lines that want the same share it.
class WantedLists {
public:
  WantedLists(const Factors &factors, size_t factor, Axis axis, int32_t begin, int32_t count)
      : factors(factors), factor(factor), axis(axis), begin(begin), count(count) {}

  /// One list where it is the same along the line.
  const std::vector<FactorList> &onLine(int32_t l) {
    auto [found, added] = known.try_emplace(factors.wantedKey(factor, axis, l));
    if (added) {
      const Factor &what = factors.factors[factor];
      const bool isSame = axis == Axis::Row ? !what.wantedByCol : !what.wantedByRow;
      for (int32_t k = begin; k < begin + (isSame ? 1 : count); ++k) {
        const auto [r, c] = placeOnLine(axis, k, l);
        found->second.push_back(factors.wanted(factor, r, c));
      }
    }
    return found->second;
  }

private:
  const Factors &factors;
  const size_t factor;
  const Axis axis;
  const int32_t begin, count;
  std::map<std::vector<int64_t>, std::vector<FactorList>> known;
};

} // namespace wsc::spmd
