// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an input lies when it has come and an output when it leaves: as its reader wants it or as it is held, in blocks
// of two dimensions, or flat; whatever costs the least with its words on the ports.
#pragma once

#include "compiler/spmd/plan/Views.h"

#include <optional>
#include <vector>

namespace wsc::spmd {

/// The dimension that lies in blocks on the rows (columns), the last of which is shorter.
std::optional<size_t> raggedDim(const Sharding &box, Axis axis);

/// Of how many adjacent columns that hold the same only the first one's words leave.
int32_t leavingUnit(const Sharding &box);

/// What leaves of a box: such columns are one, as are all rows where no dimension lies on rows.
Sharding withoutCopies(Sharding box);

/// Whether the rows' ports can take what the cores hold, core after core, as the tensor's elements: every element once
/// but for copies that stay behind, and no padding but in the last row and the last column, four nested loops
/// (PortBox.h).
bool canLeave(const Sharding &box);

/// The cycles of a port for what its row's cores hold, `bytes` an element, with the turns of all of the rectangle's.
int64_t leavingCycles(const Sharding &box, int64_t bytes, const Rectangle &rectangle);

/// The parts in which a box without its copies leaves: a last column that is shorter in a configuration of its own, a
/// last row that is shorter beside the others. The outer list has the configurations.
std::vector<std::vector<Sharding>> leavingParts(const Sharding &box);

/// Boxes on the rows [row, row + rows) from which a tensor may leave, those that take least of a port first: blocks,
/// flat, and as it is held.
std::vector<Sharding> leavingBoxes(const Tensor &tensor, const std::optional<Sharding> &held, int32_t row, int32_t rows,
                                   const Rectangle &rectangle, int64_t roomBytes);

/// A quick estimate of the least cycles in which the root, held so, leaves as its part of an output with these pieces.
int64_t quickLeaving(const Network &network, Views &views, TensorId output, const std::vector<StridedPiece> &pieces,
                     TensorId root, const Sharding &held, const std::vector<Sharding> &boxes,
                     const Rectangle &rectangle);

/// The sharding on the rows [row, row + rows) from which tensor `output` leaves, by the moves' estimates.
Sharding outputSharding(const Network &network, Views &views, TensorId output, int32_t row, int32_t rows,
                        const Rectangle &rectangle, int64_t roomBytes,
                        const std::vector<std::optional<Sharding>> &held);

/// The sharding in which an input comes that its first reader wants as tensor `read` (itself or a view of it) in
/// sharding `wanted`.
Sharding inputSharding(const Network &network, Views &views, TensorId input, TensorId read, const Sharding &wanted,
                       bool fillMatters, const Rectangle &rectangle, int64_t roomBytes);

} // namespace wsc::spmd
