// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that arrive as boxes: every row's port delivers what the row's cores want, one copy for all of them where all
// columns want the same, else core after core.
#pragma once

#include "compiler/spmd/sharding/Sharding.h"

#include <optional>
#include <vector>

namespace wsc::spmd {

/// The blocks of a sharding without halos, digits over rows and columns as they are. Nothing where these blocks do not
/// cover the tensor, or where the words of a row are not the elements of four nested loops.
std::optional<Sharding> portBox(const Sharding &wanted, const Rectangle &rectangle);

struct PortLoop {
  int64_t count = 1, stride = 0; // elements
  bool operator==(const PortLoop &) const = default;
};

/// What a row's port delivers from the row's first element on, the outermost loop first: the columns' boxes in order,
/// or one box for all. Nothing where it takes more than four loops.
std::optional<std::vector<PortLoop>> portLoops(const Sharding &box);

} // namespace wsc::spmd
