// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins I/O bindings of single ports into lattices (I4).
#pragma once

#include "runtime/format/Executable.h"

#include <vector>

namespace wsc::kernels {

// Bindings of equal structure whose rows form progressions, and whose numbers grow linearly along them, become one
// (RowCover.h).
std::vector<format::IoBinding> mergeIo(std::vector<format::IoBinding> rows);

} // namespace wsc::kernels
