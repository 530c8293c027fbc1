// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether elements beyond the end of a reduction iterator can be made to change nothing.
#pragma once

#include "compiler/spmd/network/Network.h"

#include <optional>

namespace wsc::spmd {

/// The value to read for operand `number` of iterations beyond a reduction's end so that the reduction is as without them:
/// the reduction's own neutral element where the operand is reduced as it is, 0 for both factors of an Fma. Nothing where the body
/// computes on it first or where the operand pads a window with another value.
std::optional<double> neutralPadding(const Nest &nest, size_t number);

/// Whether every operand that `iterator` walks has a neutral padding.
bool mayOverrun(const Nest &nest, int32_t iterator);

} // namespace wsc::spmd
