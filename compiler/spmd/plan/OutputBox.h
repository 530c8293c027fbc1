// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an output lies when it leaves: as it is held, in blocks of two dimensions, or flat; whatever costs the least
// with its words on the ports.
#pragma once

#include "compiler/spmd/plan/Views.h"

#include <optional>
#include <vector>

namespace wsc::spmd {

/// Whether the rows' ports can take what the cores hold, core after core, as the tensor's elements: every element once
/// and no padding, four nested loops (PortBox.h).
bool canLeave(const Sharding &box);

/// The sharding on the rows [row, row + rows) from which tensor `output` leaves, by the moves' estimates.
Sharding outputSharding(const Network &network, Views &views, TensorId output, int32_t row, int32_t rows,
                        const Rectangle &rectangle, int64_t roomBytes,
                        const std::vector<std::optional<Sharding>> &held);

} // namespace wsc::spmd
