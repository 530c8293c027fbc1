// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sending a one-column kernel's results: from FIFOs onto the lane that gathers them down the column.
#pragma once

#include "compiler/kernels/KernelRows.h"

namespace wsc::kernels {

// The block of the output whose lane the slice that begins at a channel sends on, and the first and last slice that do.
struct ColumnSender {
  int64_t block = 0, firstSlice = 0, lastSlice = 0;
};
ColumnSender columnSender(const KernelPlan &plan, const StreamLayout &layout, int64_t channelBegin);

// Emits on `thread` the moves of the row's elements onto its lane, from FIFOs and so many elements of each, and the
// control word that hands the lane on to the next slice.
void emitColumnSend(RoleBuilder &builder, int thread, const NetworkPlan &network, const KernelPlan &plan,
                    const KernelRow &row, const std::vector<std::pair<int16_t, int64_t>> &fifos);

} // namespace wsc::kernels
