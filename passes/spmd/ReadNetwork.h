// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function of nests as plain data, for the planner.
#pragma once

#include "compiler/spmd/network/Network.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "absl/status/statusor.h"

namespace wsc::spmd {

/// The network of a function as nn-lower-to-nests leaves it: linalg.generic, wafer.remap, constants, nn.read and
/// nn.write. Remaps that only say where an operand lies become accesses, what follows a reduction element by element
/// its `finish`, and what nobody needs is left out. The result obeys Network::check. Errors are diagnostics at the
/// operation; the status repeats the first one with the name of its layer.
absl::StatusOr<Network> readNetwork(mlir::func::FuncOp function);

} // namespace wsc::spmd
