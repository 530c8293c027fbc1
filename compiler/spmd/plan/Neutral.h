// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether elements beyond the end of a reduction iterator can be made to change nothing: where the iterations that a
// ragged distribution adds read padding, and padding is neutral for the reduction.
#pragma once

#include "compiler/spmd/plan/Distribution.h"

#include <optional>

namespace wsc::spmd {

/// The value to read for operand `number` of iterations beyond a reduction's end so that the reduction is as without
/// them: the reduction's own neutral element where the operand is reduced as it is, 0 for both factors of an Fma.
/// Nothing where the body computes on it first or where the operand pads a window with another value.
std::optional<double> neutralPadding(const Network &network, const Nest &nest, size_t number);

/// Whether elements outside of the tensor matter: where a window reads padding, and where a reduction runs beyond its
/// end. What parallel iterations beyond their ends read does not.
bool paddingMatters(const Network &network, const Nest &nest, const Access &access, const Distribution &distribution);

/// Whether every operand that `iterator` walks has a neutral padding and lies outside of its tensor beyond the
/// iterator's end. A window does not: beyond its last tap lie other elements of the image.
bool mayOverrun(const Network &network, const Nest &nest, int32_t iterator);

} // namespace wsc::spmd
