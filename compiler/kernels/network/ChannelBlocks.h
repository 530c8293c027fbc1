// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a tensor's channels are cut into blocks, each a lane of its own per tile.
//
// A block holds whole columns of one band of a contraction, or whole slices of one column of another kernel. Blocks are
// near equal parts; within reach of such a place a boundary is put where it cuts few slices of the receivers, for a
// slice that straddles two blocks has to let both lanes pass.
#pragma once

#include "compiler/kernels/network/Spec.h"

namespace wsc::kernels {

// Receivers of a stream whose slices a boundary at `channel` would cut.
int64_t slicesCut(const NetworkPlan &network, int32_t streamIndex, int64_t channel);

// Sets the block boundaries of a kernel's output for the mapping it has: about `wantedBlocks` of them, at least one for
// each band or column that makes a share of the channels.
void chooseBlocks(NetworkPlan &network, const KernelPlan &plan);

// The same without knowing the producer's mapping: as if every channel could begin a block.
void chooseNominalBlocks(NetworkPlan &network, int32_t streamIndex);

} // namespace wsc::kernels
