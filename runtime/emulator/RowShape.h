// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shape of an elementwise instruction as rows for the kernels: queue and FIFO operands count as packed memory, neighbouring dimensions are merged.
#pragma once

#include "runtime/emulator/Kernels.h"
#include "runtime/format/Executable.h"

#include <span>
#include <vector>

namespace wsc::emulator {

// Extents and strides (elements); pointers are left null. Any extent 0 makes all of it empty.
RowOperands rowShape(const format::Instruction &instruction, const format::LatticeIndex &index);

// True when elements may be computed in any order: dst elements are distinct and no source element is another iteration's dst element.
bool rowsAreIndependent(const format::Role &role, const format::Instruction &instruction, bool usesB);

// Extents of a nest's instruction followed by the trip counts of its loops, on core `index`.
std::vector<int64_t> nestKey(const format::Instruction &instruction, std::span<const format::Instruction *const> loops,
                             const format::LatticeIndex &index);

} // namespace wsc::emulator
