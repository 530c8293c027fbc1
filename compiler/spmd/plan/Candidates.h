// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ways to spread a nest's iterations over a rectangle that are worth a look.
#pragma once

#include "compiler/spmd/plan/Distribution.h"
#include "compiler/spmd/plan/Views.h"

namespace wsc::spmd {

/// All: where no usual one fits, which are fewer and each good for something.
enum class CandidateRange { Usual, All };

/// Each axis takes nothing, blocks of one parallel iterator, of two, of one (or none) with a reduction inside, or of
/// two reductions; a parallel iterator with a reduction inside is cut into all, a half, a quarter … of its blocks. No
/// iterator is on both axes. Of all candidates a parallel iterator may be on both, and is cut so with another one or
/// with replicas inside, too. Blocks that divide their dimension, and the digits as which views read it
/// (Views::grainsOf), come before as many blocks as there may be, where they are at most half as long again (with
/// digits: twice as long). `withoutTaps`: iterators that walk a window stay on one core. Cost grows with the square of
/// the iterators, whatever the rectangle.
/// `moreRows`, `moreCols`: other uses of the axes that are worth a look.
std::vector<Distribution> candidatesOf(const Network &network, Views &views, const Nest &nest,
                                       const Rectangle &rectangle, bool withoutTaps,
                                       const std::vector<AxisUse> &moreRows = {},
                                       const std::vector<AxisUse> &moreCols = {},
                                       CandidateRange range = CandidateRange::Usual);

} // namespace wsc::spmd
