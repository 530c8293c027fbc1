// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dialects and passes the MLIR tools know. Each dialect of wsc is added here once.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace wsc::driver {

// Adds all dialects of wsc, and the upstream dialects they stand on.
void registerDialects(mlir::DialectRegistry &registry);

// Adds all passes of wsc, and the upstream passes useful beside them (canonicalize, cse, …), to the global pass
// registry.
void registerPasses();

} // namespace wsc::driver
