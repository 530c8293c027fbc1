// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random networks of nests and remaps: elementwise nests with broadcasting, reductions over any axes, contractions of
// any batch, windows with padding, gathers, and remaps (transpose, slice, pad, concatenate, reshape, repeat), each
// reading what was computed before, inputs or constants. All pass Network::check, and evaluate() (NetworkReference.h)
// computes them. Tests of whole mappings draw them by seed.
#pragma once

#include "compiler/spmd/network/Network.h"
#include "test/support/RandomNest.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wsc::test {

struct NetworkOptions {
  int64_t maxNodes = 6;
  int64_t maxElements = 400;              // of a tensor
  int64_t maxPoints = 8000;               // of a nest's iterators
  int64_t maxExtent = 7, maxRank = 4;     // of drawn shapes
  std::vector<format::ElementType> types; // of tensors and values; none: all
  bool states = false;                    // also states, read and written
  bool specials = false;                  // infinities, NaN and limits among constants
};

/// The network of a seed: 1 to maxNodes nodes, whose results are outputs where no other node reads them.
spmd::Network drawNetwork(uint64_t seed, const NetworkOptions &options = {});

/// Elements for all inputs, in order.
std::vector<std::vector<std::byte>> drawInputs(uint64_t seed, const spmd::Network &network, bool specials = false);

/// Whether some nest sums or multiplies up floats, so that another order of its reduction gives other bits.
bool reducesFloats(const spmd::Network &network);

/// The value that changes nothing when it is combined with others by `opcode`.
double neutralOf(format::Opcode opcode, format::ElementType type);

} // namespace wsc::test
