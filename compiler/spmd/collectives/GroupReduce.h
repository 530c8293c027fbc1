// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions whose result every core of a group gets.
#pragma once

#include "compiler/spmd/collectives/Collectives.h"

namespace wsc::spmd {

/// Groups of `group` adjacent cores along every line that takes part: groups 0 … groups − 1, group · groups ≤ length.
struct CoreGroups {
  Axis axis = Axis::Row;
  int32_t length = 1, group = 1, groups = 1;
  Guard cores = {}; // the lines that take part
};

/// Along every line, in falling order of coordinates. A chain leads to the first core of each group, which sends the
/// result to all as the relay of a bus does (LineBus.h), over the same route family; a single group shares that of the
/// whole line:
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
/// are the same place or do not overlap. Time: allReduceCycles (Laws.h).
void emitGroupAllReduce(Code &code, const CoreGroups &groups, format::Opcode opcode, format::ElementType type,
                        int64_t elements, Place mine, Place result);

/// The chains alone: the first core of each group has the result in `result`, where first cores of runs keep what they
/// have so far; others leave it as it is.
void emitGroupReduce(Code &code, const CoreGroups &groups, format::Opcode opcode, format::ElementType type,
                     int64_t elements, Place mine, Place result);
/// The way back alone: what the first core of each group holds in `place` comes to `place` of the others.
void emitGroupSend(Code &code, const CoreGroups &groups, format::ElementType type, int64_t elements, Place place);
/// The same of what the last instruction of `code` makes there, with the guard firstCores: where it can give its
/// elements to the stream as well as to memory, they go out as they are made, before it is run for the core's own copy.
void emitGroupSendLast(Code &code, const CoreGroups &groups, format::ElementType type, int64_t elements, Place place);
/// The first cores of the groups.
Guard firstCores(const CoreGroups &groups);

/// Cores of a run, a divisor of `group`; `group` itself where one chain is as quick.
int32_t reduceRun(int32_t group);

} // namespace wsc::spmd
