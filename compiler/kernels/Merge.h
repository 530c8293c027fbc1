// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From rows to roles: joins items that are equal but for numbers affine in their row into lattices (I4).
//
// Generation writes one role per row and run of columns. Items of the same structure whose rows form an arithmetic progression, and whose numbers
// (bases, extents, offsets) grow linearly along it, become one item over a lattice dimension; then progressions of progressions, up to three levels (lattice dimensions
// 0 to 2; columns stay in dimension 3). Cost: O(items · numbers).
#pragma once

#include "runtime/format/Executable.h"

#include <vector>

namespace wsc::kernels {

std::vector<format::Role> mergeRoles(std::vector<format::Role> rows);
std::vector<format::RouterRole> mergeRouters(std::vector<format::RouterRole> rows);
std::vector<format::IoBinding> mergeIo(std::vector<format::IoBinding> rows);

} // namespace wsc::kernels
