// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same places, of a tensor whose dimensions are cut into more, or joined:
//
//     [64 = r/2*2 | 2, 49 = 0 | 49]  at 8 and at 7  ──►  [8 = r/8*1 |, 8 = r/2%4*2 | 2, 7 = 0 | 7, 7 = 0 | 7]
//     [7 = r%7*1 |, 2 = r/7*1 |]     joined         ──►  [14 = r%7*2 + r/7*1 |]
#pragma once

#include "compiler/spmd/sharding/Sharding.h"

#include <optional>
#include <set>
#include <vector>

namespace wsc::spmd {

/// `steps`: per dimension those at which it is to be cut, in indices of it. A cut is left out where what a core holds
/// of the dimension is no product of numbers of the one part and of the other, in this order, or where parts are
/// ragged.
Sharding withCutDims(const Sharding &sharding, const std::vector<std::set<int64_t>> &steps);

/// Dimensions `dim` and `dim` + 1 as one; nothing where cores hold padding of the second one.
std::optional<Sharding> withJoinedDims(const Sharding &sharding, size_t dim);

} // namespace wsc::spmd
