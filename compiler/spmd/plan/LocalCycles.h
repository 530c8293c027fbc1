// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cores of a nest compute and reduce among themselves, without moves.
#pragma once

#include "compiler/spmd/plan/Distribution.h"
#include "runtime/target/Target.h"

namespace wsc::spmd {

/// Estimated cycles: instructions with their set-ups, slots of elements, reductions in groups of cores.
int64_t localCycles(const Nest &nest, const Distribution &distribution, const target::Target &target);

/// Bytes of all operands' boxes, of the result and of the sums on a core.
int64_t localBytes(const Network &network, const Nest &nest, const Distribution &distribution);

} // namespace wsc::spmd
