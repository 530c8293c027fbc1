// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What leaves over the west ports of rows in one turn of each core: a box, or the part of it that one configuration
// takes (leavingParts).
#pragma once

#include "compiler/spmd/collectives/Collectives.h"
#include "compiler/spmd/sharding/Sharding.h"

namespace wsc::spmd {

/// Appends the way out of `part` (leavingParts), of elements of `type` that lie as `box` says at `place`, on rows of
/// `length` cores.
void emitOutputPart(Code &code, const Sharding &part, const Sharding &box, format::ElementType type, Place place,
                    int32_t length);

} // namespace wsc::spmd
