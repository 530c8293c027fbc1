// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every solver reports beside its solution: the value it reached and a lower bound on the best value possible.
//
// The bound is computed from the problem alone, never from the algorithm's state, and is tested against exhaustive
// search.
#pragma once

#include <cstdint>

namespace wsc::solver {

struct Stats {
  int64_t value = 0;      // of the solution; the unit is the problem's (colours, cycles, word-hops, links, bytes)
  int64_t lowerBound = 0; // no solution of the problem has a smaller value

  // How far the value lies above the bound, in percent of the bound (0: proven optimal; of 1 where the bound is 0).
  double gapPercent() const { return 100.0 * double(value - lowerBound) / double(lowerBound > 0 ? lowerBound : 1); }
};

} // namespace wsc::solver
