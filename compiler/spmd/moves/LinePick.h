// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picks: what each line wants of its cores' blocks, and nothing else, comes together on all of its cores. A bus brings
// whole blocks and all of them, also where each line wants one block of five hundred, another one than the line beside
// it; its cores cannot know (control is the same for all of them), but their data can:
//
//     T[line][u]      number of the u-th entry that the line wants, in the blocks of its cores laid behind one another
//     core k          puts the entry there if it lies in its own block, else 0 (a gather whose numbers, T less where
//                     the block begins, are clamped to zeros in front of the block and behind it)
//     all-reduce      by or, along the line: exact for all types, and equal copies do no harm
//
//     line 0 wants entry 1 of core 2, line 1 entry 0 of core 1
//     line 0          0   0   x   0    ──► x on all four cores
//     line 1          0   y   0   0    ──► y on all four cores
#pragma once

#include "compiler/spmd/moves/LinePlan.h"

#include <optional>

namespace wsc::spmd {

/// A pick takes tables, and work of every core of its lines: it is taken where another way needs so many times its
/// cycles.
constexpr int64_t kPickGain = 2;

/// The cheapest pick, on lines as a whole or in the segments of `lists`; nothing where none takes less than `atMost`
/// cycles, or an entry that is wanted lies nowhere in its segment. Cost: sorting what all classes of lines want.
std::optional<LinePlan> planPick(const LineLists &lists, const LineBlock &block, int64_t atMost);

} // namespace wsc::spmd
