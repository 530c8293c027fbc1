// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sending a one-column kernel's results: from a FIFO onto the lane that gathers them down the column.
#pragma once

#include "compiler/kernels/KernelRows.h"

namespace wsc::kernels {

// Emits on `thread` the moves of the row's `row.out` from FIFO `result` onto its lane, and the control word that hands the lane on to the next slice.
void emitColumnSend(RoleBuilder &builder, int thread, const NetworkPlan &network, const KernelPlan &plan, const KernelRow &row, int16_t result);

} // namespace wsc::kernels
