// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the candidates of a kernel follow from, as numbers that are equal for kernels alike: a network has many layers
// of one shape among neighbours of one shape.
#pragma once

#include "compiler/kernels/sizing/Candidates.h"

#include <cstdint>
#include <vector>

namespace wsc::kernels {

// The streams whose layouts candidatesOf() reads or changes: those that a kernel takes and makes, and the one between
// it and its co-located kernel.
std::vector<int32_t> streamsAt(const NetworkPlan &network, const KernelPlan &plan);

// Equal for two kernels, of one network or of two on one target, only if candidatesOf() finds the same for them but for
// names, and leaves their mappings and the layouts of their streamsAt(), in order, the same but for laneRows, which
// layOutLanes() gives. In it are: the kernel, its co-located kernel or host, all kernels at its streams with their
// mappings, the layouts of its streams and the tiles of theirs, which of these are the same stream and which constants
// the same constant, where tiles lie to each other, and the bounds that costing looks at. Not for kernels on a state
// variable, whose other kernels matter, too.
std::vector<int64_t> surroundingsOf(const target::Target &target, const NetworkPlan &network, int32_t index,
                                    const Wanted &wanted);

} // namespace wsc::kernels
