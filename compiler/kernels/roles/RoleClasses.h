// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cores of a kernel in classes of one program (I4).
//
// What a core's program looks like follows from its group (which rows of which tiles it takes), from its slice (which
// channels of which blocks, and its place in the chain) and from the colours of the lanes where the two meet. So groups
// and slices are classified apart, by what matters of them: structure (counts, extents, what is empty) must be equal,
// numbers (what is passed over above and below, before and after) must be in progression. Each class of slices times
// each class of groups is a lattice. Cost: O(groups + slices) small keys per kernel, then O(classes).
#pragma once

#include "compiler/kernels/programs/KernelRows.h"

#include <vector>

namespace wsc::kernels {

// Rows whose `part` has one program, up to numbers affine in the lattice index.
struct RoleClass {
  // One lattice dimension, in steps of wafer rows, groups and slices.
  struct Step {
    int32_t count = 1, rowStep = 0;
    int64_t groupStep = 0, sliceStep = 0;
  };
  RowPart part;
  int64_t group = 0, slice = 0; // of the first row
  std::vector<Step> steps;      // outermost first, counts above 1; at most 3
};

// The classes of a placed and coloured kernel: every part of every row is in exactly one. `together`: the kernels that
// share its cores (those of one state variable), itself first.
std::vector<RoleClass> roleClasses(const NetworkPlan &network, const std::vector<KernelRows> &together);

} // namespace wsc::kernels
