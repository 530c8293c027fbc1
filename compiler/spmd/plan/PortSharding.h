// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an input lies when it has come and an output when it leaves: as its reader wants it or as it is held, in blocks
// of two dimensions, or flat; whatever costs the least with its words on the ports.
#pragma once

#include "compiler/spmd/plan/Views.h"

#include <optional>
#include <vector>

namespace wsc::spmd {

/// The dimension that lies in blocks on the columns, the last of which is shorter.
std::optional<size_t> lastColumn(const Sharding &box);

/// Whether the rows' ports can take what the cores hold, core after core, as the tensor's elements: every element once
/// and no padding but in the last column, four nested loops (PortBox.h).
bool canLeave(const Sharding &box);

/// The sharding on the rows [row, row + rows) from which tensor `output` leaves, by the moves' estimates.
Sharding outputSharding(const Network &network, Views &views, TensorId output, int32_t row, int32_t rows,
                        const Rectangle &rectangle, int64_t roomBytes,
                        const std::vector<std::optional<Sharding>> &held);

/// The sharding in which an input comes that its first reader wants as tensor `read` (itself or a view of it) in
/// sharding `wanted`.
Sharding inputSharding(const Network &network, Views &views, TensorId input, TensorId read, const Sharding &wanted,
                       bool fillMatters, const Rectangle &rectangle, int64_t roomBytes);

} // namespace wsc::spmd
