// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels without columns of their own. A concatenation of channels only takes words in and sends them on, and so does
// the feeder of a contraction behind it. Where the contraction takes one tile of that and nothing else, its feeders do
// both: they take in what is joined, feed it to their rows, and send it to the concatenation's other receivers. The
// concatenation is the *guest* of the contraction then: a kernel with streams, lanes and FIFOs like any other, on the
// first column of its *host*, in its host's slices; between the two there are no lanes.
#pragma once

#include "compiler/kernels/network/Spec.h"

namespace wsc::kernels {

// The kernel that can be host to kernel `guest`, given the tiles of all streams: the first to take its result, if that
// is a contraction of single pixels with the same tiles. -1: none, or kernel `guest` does not just join channels.
int32_t hostFor(const NetworkPlan &network, int32_t guest);

// Whether nobody has asked for columns, places or turns of the kernel.
bool isFree(const NetworkPlan &network, const KernelPlan &plan);

// Makes `guest` a guest of `host`, or of nobody (-1).
void setHost(NetworkPlan &network, int32_t guest, int32_t host);

// Gives the guest of `host`, if there is one, the slices of its host. Its blocks and lanes have to be chosen anew.
void sliceGuest(NetworkPlan &network, const KernelPlan &host);

// Places all guests on the first columns of their hosts.
void placeGuests(NetworkPlan &network);

// The streams whose lanes a kernel's cores take, each once: its inputs; of a host those of its guest; of a guest none.
std::vector<int32_t> streamsTaken(const NetworkPlan &network, const KernelPlan &plan);

} // namespace wsc::kernels
