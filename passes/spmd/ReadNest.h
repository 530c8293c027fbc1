// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One linalg.generic as a nest.
#pragma once

#include "compiler/spmd/network/Network.h"

#include "mlir/IR/Operation.h"

namespace wsc::spmd {

/// The tensor of the network that a value is; a diagnostic and failure if it can be none.
using TensorOf = llvm::function_ref<mlir::FailureOr<TensorId>(mlir::Value)>;

/// The nest that `generic` (a linalg.generic of one result) computes, without its name and result. Parallel iterators
/// stand in the order of the result's dimensions. A reduction that starts from anything but its neutral value gets that
/// added in `finish`. Errors are diagnostics at the operation or the part of its body that has no form.
mlir::FailureOr<Nest> readNest(mlir::Operation *generic, TensorOf tensorOf);

/// The number that all elements of a tensor are by its definition (a fill, a splat constant); null if it has none.
mlir::Attribute fillOf(mlir::Value tensor);

/// A float, integer or i1 attribute as a number; integers with the sign of their type or, if signless, as `isUnsigned`
/// says.
double numberOf(mlir::Attribute value, bool isUnsigned = false);

} // namespace wsc::spmd
