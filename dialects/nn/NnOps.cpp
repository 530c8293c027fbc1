// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated definitions of the nn operations; what they call is in one file per family.
#include "dialects/nn/Nn.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/nn/NnOps.cpp.inc"
