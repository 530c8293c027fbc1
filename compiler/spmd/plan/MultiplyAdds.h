// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the multiply-adds of a nest take on a core, by the types of their factors and of their sum.
#pragma once

#include "compiler/spmd/network/Network.h"
#include "runtime/target/Target.h"

#include <optional>

namespace wsc::spmd {

/// The type of the factors of a multiply-add of another type whose body does nothing but widen them: its instruction
/// does that itself, the body takes no time.
std::optional<format::ElementType> narrowFactors(const Nest &nest);

/// Cycles of one instruction that adds a product to each of so many sums, without its set-up.
int64_t multiplyAddCycles(const target::Target &target, const Nest &nest, int64_t sums);

} // namespace wsc::spmd
