// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which passes lead from one phase of the IR to the next.
#pragma once

#include "compiler/driver/Compiler.h"

namespace mlir {
class OpPassManager;
}

namespace wsc::driver {

// Adds the passes that lead to `phase`; none where it is a translation. `timer` times mappings that sizing tries.
void addPasses(Phase phase, bool phased, const CompileOptions &options, const kernels::MappingTimer &timer,
               mlir::OpPassManager &module);

} // namespace wsc::driver
