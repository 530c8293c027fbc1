// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates a Network (compiler/spmd/network/Network.h) in plain loops: the meaning of nests and remaps written down a
// second time, one element after another, with numerics::applyScalar and no regard for cores. What a mapping computes
// is compared with it: bit by bit, except where a float sum is distributed over cores and so has another order; there
// the same network in double precision tells what is rounding and what is wrong.
#pragma once

#include "compiler/spmd/network/Network.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <vector>

namespace wsc::test {

/// Exact: every operation in its own type, rounded as docs/Numerics.md says. Double: f64 stands for every float type,
/// in tensors, bodies and accumulators alike; integers and bool stay what they are.
enum class Arithmetic { Exact, Double };

/// The type in which elements of `type` are computed and returned.
format::ElementType computedType(format::ElementType type, Arithmetic arithmetic);

/// Row-major little-endian elements, each of the computed type of its tensor.
struct NetworkValues {
  std::vector<std::vector<std::byte>> outputs; // as Network::outputs
  std::vector<std::vector<std::byte>> states;  // as Network::states, after the sample
};

/// One sample. `inputs`: as Network::inputs, elements of the tensors' own types. `states`: as evaluate returned them,
/// or empty for the initial ones. Reductions take their values in ascending row-major order of the reduction iterators.
/// The network is one that Network::check accepts. Errors: sizes of inputs, states and constants, files not readable.
absl::StatusOr<NetworkValues> evaluate(const spmd::Network &network, const std::vector<std::vector<std::byte>> &inputs,
                                       const std::vector<std::vector<std::byte>> &states = {},
                                       Arithmetic arithmetic = Arithmetic::Exact);

} // namespace wsc::test
