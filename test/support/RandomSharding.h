// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeded random shardings of the normal form: every dimension is cut into digits (mixed radix), each digit goes to
// rows, to columns or stays on the core; blocks, cyclic and block-cyclic forms, several dimensions on one axis,
// replicas, ragged ends, overlapping windows and rectangles smaller than the network's all occur.
#pragma once

#include "compiler/spmd/sharding/Sharding.h"

#include <random>

namespace wsc::test {

/// A sharding of a tensor of `shape` on some rectangle inside rows × cols; every element lies on some core.
spmd::Sharding randomSharding(std::mt19937_64 &random, const std::vector<int64_t> &shape, int32_t rows, int32_t cols);

/// Rank 1 to 5, at most `mostElements` elements, extents up to `mostExtent`.
std::vector<int64_t> randomShape(std::mt19937_64 &random, int64_t mostElements, int64_t mostExtent = 12);

} // namespace wsc::test
