// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cycles of a move from the digits of two shardings of one shape alone: which candidates are worth an exact plan.
#pragma once

#include "compiler/spmd/moves/Move.h"

namespace wsc::spmd {

/// `bytes` of an element; `mesh`: the network's rectangle. Along each axis, dimensions that lie spread over it are at
/// rest, come from neighbours (the same digits, a halo) or over the line's bus; the laws are those of LinePlan;
/// `picks`: lines may pick.
int64_t quickMoveCycles(const Sharding &from, const Sharding &to, const Rectangle &mesh, int64_t bytes, bool picks);

/// Of a piece: both shardings in terms of the piece's digits, as well as blocks of the one divide into the other's.
int64_t quickPieceCycles(const Sharding &from, const Sharding &to, const StridedPiece &piece, const Rectangle &mesh,
                         int64_t bytes, bool picks);

} // namespace wsc::spmd
