// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a role or an I/O binding may vary along a lattice, and what may not.
#pragma once

#include "runtime/format/Executable.h"

#include <string>
#include <vector>

namespace wsc::kernels {

// Everything but the wafer row and the constants of affine numbers, as bytes: items of one structure may share a
// lattice. Lattice dimensions and their coefficients count as structure.
std::string structureOf(const format::Role &role);
std::string structureOf(const format::IoBinding &binding);

// The affine numbers, in an order that the structure determines.
std::vector<format::Affine *> numbersOf(format::Role &role);
std::vector<format::Affine *> numbersOf(format::IoBinding &binding);

} // namespace wsc::kernels
