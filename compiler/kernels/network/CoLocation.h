// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels without columns of their own. A concatenation of channels only takes words in and sends them on, and so does
// the feeder of a contraction behind it. Where the contraction takes one tile of that and nothing else, its feeders do
// both: they take in what is joined, feed it to their rows, and send it to the concatenation's other receivers. The
// concatenation is the *co-located kernel* of the contraction then: a kernel with streams, lanes and FIFOs like any
// other, on the first column of its *host*, in its host's slices; between the two there are no lanes.
#pragma once

#include "compiler/kernels/network/Spec.h"

namespace wsc::kernels {

// The kernel that can be host to kernel `coLocated`, given the tiles of all streams: the first to take its result, if
// that is a contraction of single pixels with the same tiles. -1: none, or kernel `coLocated` does not just join
// channels.
int32_t hostFor(const NetworkPlan &network, int32_t coLocated);

// Whether nobody has asked for columns, places or turns of the kernel.
bool isFree(const NetworkPlan &network, const KernelPlan &plan);

// Puts kernel `coLocated` on the cores of `host`, or on its own (-1).
void setHost(NetworkPlan &network, int32_t coLocated, int32_t host);

// Gives the co-located kernel of `host`, if there is one, the slices of its host. Its blocks and lanes have to be
// chosen anew.
void sliceCoLocated(NetworkPlan &network, const KernelPlan &host);

// Places all co-located kernels on the first columns of their hosts.
void placeCoLocated(NetworkPlan &network);

// The streams whose lanes a kernel's cores take, each once: its inputs; of a host those of its co-located kernel; of a
// co-located kernel none.
std::vector<int32_t> streamsTaken(const NetworkPlan &network, const KernelPlan &plan);

} // namespace wsc::kernels
