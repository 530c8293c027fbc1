// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of a large buffer that are copied out late are copied out where the buffer is complete, so that SRAM holds them
// instead of all of it meanwhile. Cores of an attention need a few tokens' values behind the softmax, and have those of
// all tokens from the product before:
//
//     add  made[0…767] ← bias, sums               add  made[0…767] ← bias, sums
//     …                                           move values[0…15] ← made[…]
//     move values[0…15] ← made[…]           ══►   …
//     fma  context ← weights, values              fma  context ← weights, values
#pragma once

#include "compiler/spmd/program/Code.h"

namespace wsc::spmd {

/// Moves the copies to right behind the last instruction that names their source for anything else (behind its
/// outermost loop). Copies out of a scratch buffer move where they are the last to name it and each is the first to
/// name its own destination: as many of the last ones as take at most half of the source's room. Returns how many
/// moved.
int takeSlicesEarly(Code &code);

} // namespace wsc::spmd
