// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sending the results of a column kernel: from FIFOs onto the lane that gathers them along the column, southwards to
// the slice in which it leaves, then northwards from those below. Slices send in the order of their channels: above,
// each passes on what the slices before it send, sends its own and hands on with a control word; below, each sends its
// own and then passes on what comes from the slices after it, and the last brings all of their switches back.
#pragma once

#include "compiler/kernels/programs/KernelRows.h"

namespace wsc::kernels {

// The block of the output whose lane the core that begins at a channel sends on, the first and last slice that do, all
// of one column, and the one among them on whose row the lane leaves. Blocks of several columns leave near the rows on
// which their inputs arrive (StreamLayout::exitSlices), or on rows that are spread over the group in the order of their
// channels: where receivers take them, and seldom two on one row.
struct ColumnSender {
  int64_t block = 0, firstSlice = 0, lastSlice = 0, exitSlice = 0;
};
ColumnSender columnSender(const KernelPlan &plan, const StreamLayout &layout, int64_t channelBegin);

// Emits on `thread` the moves of the row's elements onto its lane, from FIFOs and so many elements of each, and the
// control word that hands the lane on to the next slice.
void emitColumnSend(RoleBuilder &builder, int thread, const NetworkPlan &network, const KernelPlan &plan,
                    const KernelRow &row, const std::vector<std::pair<int16_t, int64_t>> &fifos);

} // namespace wsc::kernels
