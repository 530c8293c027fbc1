// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions whose result every core of a group gets.
#pragma once

#include "compiler/spmd/collectives/Collectives.h"

namespace wsc::spmd {

/// Along every line, in groups of `group` adjacent cores (groups 0 … groups − 1; group · groups ≤ length), in falling
/// order of coordinates. A chain leads to the first core of each group, which sends the result to all as the relay of a
/// bus does (LineBus.h), over the same route family; a single group shares that of the whole line:
///
///     core   0 ◄─ 1 ◄─ 2 ◄─ 3 │ 4 ◄─ 5 ◄─ 6 ◄─ 7      chains, on two colours in turns
///            0 ─► 1 ─► 2 ─► 3 │ 4 ─► 5 ─► 6 ─► 7      one stream from 0 to 1, 2 and 3
///
/// Every core of a chain costs a set-up, so long groups reduce in two levels: chains in runs of reduceRun(group)
/// adjacent cores, ((S2 ∘ S1) ∘ S0) …, then one over the first cores of the runs, whose words pass the others:
///
///     core   0 ◄─ 1 ◄─ 2   3 ◄─ 4 ◄─ 5   6 ◄─ 7 ◄─ 8
///            ◄─────────────┘◄─────────────┘
///
/// `opcode`: Add, Mul, Min or Max on `elements` packed elements of `type`, sent as such: an instruction packs narrow
/// elements into words, the last of which is padded, so buffers need no room beyond the elements. `mine` and `result`
/// are the same place or do not overlap. `cores`: the lines that take part. Time: allReduceCycles (Laws.h).
void emitGroupAllReduce(Code &code, Axis axis, int32_t length, int32_t group, int32_t groups, format::Opcode opcode,
                        format::ElementType type, int64_t elements, Place mine, Place result, const Guard &cores = {});

/// Cores of a run, a divisor of `group`; `group` itself where one chain is as quick.
int32_t reduceRun(int32_t group);

} // namespace wsc::spmd
