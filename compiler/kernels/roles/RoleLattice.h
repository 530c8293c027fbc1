// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a class of rows to a role on a lattice: the program is generated for the first row, for the second row of each
// lattice dimension, which gives the steps of the affine numbers, and for the last row, which must be what the steps
// say. Where it is not, the lattice is cut in two.
#pragma once

#include "compiler/kernels/roles/RoleClasses.h"

namespace wsc::kernels {

// What code generation did.
struct GenerationCounts {
  int64_t programs = 0; // of single rows, generated
  int64_t roles = 0;
};

struct ClassRole {
  format::Role role;
  Region held; // what each of its rows makes: extents are the same in all
};

// Appends the roles of `rowClass`, usually one. `sections` receives the constants they view. Errors: those of
// KernelRows::role.
absl::Status generateRoles(const KernelRows &rows, RoleClass rowClass, SectionTable &sections, GenerationCounts &counts,
                           std::vector<ClassRole> &out);

} // namespace wsc::kernels
