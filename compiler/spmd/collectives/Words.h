// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that all collectives consist of. Words travel as I32: moves keep their bits.
#pragma once

#include "compiler/spmd/collectives/Family.h"

namespace wsc::spmd {

format::Operand nullOperand();

/// Move of words between memory and a queue.
format::Instruction moveWords(format::Operand dst, format::Operand source, format::Affine words);

/// A control word: `count` says how many routers with two positions it advances, beginning at the sender's own
/// (docs/Execution.md, Routers); 0: none is sent.
void sendControl(Code &code, const Route &route, int count, const Guard &guard);

} // namespace wsc::spmd
