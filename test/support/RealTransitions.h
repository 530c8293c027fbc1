// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves as networks need them: what the planner's moves between layers have in common, with extents and rectangles
// drawn anew, smaller than on the wafer. Each family is named after what needs it; RealTransitions.cpp says in which
// networks and layers it was found.
#pragma once

#include "test/support/MoveProgram.h"

#include <random>

namespace wsc::test {

MoveCase drawTransition(std::mt19937_64 &random);

} // namespace wsc::test
