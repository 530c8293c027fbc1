// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which layers run on the cores of a state variable.
#pragma once

#include "dialects/nn/Nn.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace wsc::wafer {

// What will be one state kernel. Its read, layers and write may also stay in the function for other users: they are to
// be copied.
struct StateGroup {
  std::string name;
  nn::ReadOp read;                             // or null
  nn::WriteOp write;                           // or null
  llvm::SmallVector<mlir::Operation *> layers; // elementwise, in order
  mlir::Value result;                          // of `read` or a layer, used elsewhere; or null
};

// Groups for all variables that `block` reads or writes, such that the kernels have an order. Needs each variable read
// at most once and then written at most once (nn-forward-state); else fails with a diagnostic.
//
// The elementwise layers between a variable's read and its write belong to it, and those that only serve them. One
// group holds them all if it needs one result at most and no other kernel stands between what it gives and what it
// takes; else one group reads and gives the old value, a later one reads again, computes and writes. Values that
// neither gives are computed once more outside.
mlir::FailureOr<llvm::SmallVector<StateGroup>> groupState(mlir::Block &block);

} // namespace wsc::wafer
