// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan made nest by nest, and what a joint choice of all distributions makes better.
#pragma once

#include "compiler/spmd/plan/Plan.h"

namespace wsc::spmd {

/// The quicker of `plan` and of those that joint choices lead to. Where something of a choice does not fit beside what
/// lives at the same time, the nest is placed as by itself, and the choice is made again without it.
NetworkPlan improvePlan(const Network &network, Views &views, const target::Target &target, NetworkPlan plan,
                        EstimateCache &cache, const RuledOut &ruledOut);

} // namespace wsc::spmd
