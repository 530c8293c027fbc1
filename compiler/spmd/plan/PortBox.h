// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that arrive as boxes: every row's port delivers what the row's cores want, one copy for all of them.
#pragma once

#include "compiler/spmd/sharding/Sharding.h"

#include <optional>

namespace wsc::spmd {

/// The blocks that cores of a row want of a dense sharding, without halos, the same for all columns: digits over rows
/// as they are, all of the dimensions without. Nothing where these blocks do not cover the tensor, or where the words
/// of a row are not the elements of four nested loops.
std::optional<Sharding> portBox(const Sharding &wanted, const Rectangle &rectangle);

} // namespace wsc::spmd
