// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes contractions in parts along their width (compiler/kernels/sizing/SplitWidth.h).
#pragma once

#include "passes/wafer/NetworkIR.h"

namespace wsc::wafer {

// Replaces each of the kernels by its parts, `NAME.0`, `NAME.1`, …, and a kernel `NAME.join` that puts their results
// together. A part is the same convolution with padding that leaves it the columns it makes.
void splitKernels(NetworkIR &network, llvm::ArrayRef<kernels::SplitRequest> requests);

} // namespace wsc::wafer
