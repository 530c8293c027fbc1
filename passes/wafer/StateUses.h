// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's region does with a state variable.
#pragma once

#include "compiler/kernels/network/Spec.h"
#include "dialects/nn/Nn.h"
#include "dialects/wafer/Wafer.h"

namespace wsc::wafer {

// The read and the write in a kernel's region, and the variable's type; all null if it is no state kernel.
struct StateUses {
  nn::ReadOp read;
  nn::WriteOp write;
  mlir::Type type;
};

// Fails with a diagnostic if there is more than one variable, a second read or write, a read after the write, a result
// of another type than the variable's, or neither a variable nor a result.
mlir::FailureOr<StateUses> findStateUses(KernelOp op);

// The constant that `write` makes the new value: a scalar, or elements in the variable's order. Fails with a diagnostic
// if it is not f32.
mlir::FailureOr<kernels::TileOperand> writtenConstant(nn::WriteOp write);

} // namespace wsc::wafer
