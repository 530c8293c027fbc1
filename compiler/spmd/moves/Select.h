// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the positions that every core wants to one form for all of them.
#pragma once

#include "compiler/spmd/moves/Move.h"

namespace wsc::spmd {

constexpr int64_t kAnything = -2; // the position does not matter

/// positions[core] (row by row): `width` numbers below `count`, -1 for padding that is to be filled, kAnything where it
/// does not matter; or nothing where the core wants nothing.
Selection findSelection(const Rectangle &rectangle, int64_t width, int64_t count,
                        const std::vector<std::vector<int64_t>> &positions);

} // namespace wsc::spmd
