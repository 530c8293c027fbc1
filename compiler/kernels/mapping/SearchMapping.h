// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for better mappings than the first one.
//
// A step sizes the network in another variant (Variant.h), places and routes it, and compares the scores
// (MappingScore.h). Steps come in rounds of a fixed number; those of a round start from the best mapping before it and
// are spread over host threads, so the result depends on seed and budget alone. Where I/O sets the interval, a few are
// emulated first, as predictions do not tell them apart. Then the interval is brought down, by
// wishes for the streams at what takes longest and by some that concern all; once it is as good as the bound or
// nothing helps any more, with Effort::High wires are shortened.
#pragma once

#include "compiler/kernels/mapping/MapNetwork.h"
#include "compiler/kernels/network/Effort.h"

namespace wsc::kernels {

// `network` as it was before it was sized; `sized` and `report`: the first mapping, replaced if a better one is found.
// `cache`: as in sizeNetwork().
void searchMapping(const target::Target &target, const NetworkPlan &network, const SearchOptions &options,
                   CandidateCache &cache, NetworkPlan &sized, SizingReport &report);

} // namespace wsc::kernels
