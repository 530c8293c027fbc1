// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buses of whole lines as short as a program's words need them. While a program is written, all buses along an axis
// share two routes over whole lines, on which each core has a turn and takes, if only to pass over (LineBus.h,
// GroupReduce.h). When all of it is known, cores beyond the last one that ever gives words lose their turns, and those
// beyond the last one that ever keeps words no longer take:
//
//     before    relay 0 ◄─ 1 ◄─ 2 ◄─ 3 ◄╌ 4 ◄╌ 5 ◄╌ 6 ◄╌ 7      turns of 4 … 7 only pass on the turn
//     after     relay 0 ◄─ 1 ◄─ 2 ◄─ 3
#pragma once

#include "compiler/spmd/program/Code.h"

namespace wsc::spmd {

/// Rewrites the routes and guards of `code`, a finished program of `rectangle`. Saves two cycles for each core that
/// loses its turn, on every bus, and one for each that no longer takes.
void shortenBuses(Code &code, const Rectangle &rectangle);

} // namespace wsc::spmd
