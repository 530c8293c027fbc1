// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What cores hold of a move's factors beside what they want.
#pragma once

#include "compiler/spmd/moves/Factors.h"

namespace wsc::spmd {

/// Whether some core of `goal` along the axis lacks what it wants of the factors `along`, which are held along it.
bool isSpread(const Factors &factors, const std::vector<size_t> &along, Axis axis, const Rectangle &goal);

/// Of a factor's held lists the entries that are of use on some core: no padding, not there before in the same list,
/// and wanted on some core of `goal`. In ascending order; places in the list, the same on all cores.
std::vector<size_t> usefulEntries(const Factors &factors, size_t factor, const Rectangle &goal);

} // namespace wsc::spmd
