// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One linalg.generic as a nest.
#pragma once

#include "compiler/spmd/network/Network.h"
#include "passes/spmd/Immediates.h"

#include "mlir/IR/Operation.h"

namespace wsc::spmd {

/// The tensor of the network that a value is; a diagnostic and failure if it can be none.
using TensorOf = llvm::function_ref<mlir::FailureOr<TensorId>(mlir::Value)>;
/// A constant tensor of no dimensions.
using ConstantOf = llvm::function_ref<TensorId(const Element &)>;

/// The nest that `generic` (a linalg.generic of one result) computes, without its name and result. Parallel iterators
/// stand in the order of the result's dimensions. A reduction that starts from anything but its neutral value gets that
/// added in `finish`. Errors are diagnostics at the operation or the part of its body that has no form.
mlir::FailureOr<Nest> readNest(mlir::Operation *generic, TensorOf tensorOf, ConstantOf constantOf);

/// The number that all elements of a tensor are by its definition (a fill, a splat constant); null if it has none.
mlir::Attribute fillOf(mlir::Value tensor);

} // namespace wsc::spmd
