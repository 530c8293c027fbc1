// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random remaps: transpose, slice with steps, pad, concatenate, reshape, repeat.
#pragma once

#include "compiler/spmd/network/Network.h"
#include "test/support/RandomNest.h"

#include <cstdint>
#include <vector>

namespace wsc::test {

struct DrawnRemap {
  spmd::Remap remap; // without name and result
  std::vector<int64_t> shape;
};

/// A remap of tensor `x` of `shape` to at most `maxElements` (or as many as it has). `alike`: tensors of `network` of
/// the same type, that it may be concatenated with.
DrawnRemap drawRemap(Draw &draw, spmd::TensorId x, const std::vector<int64_t> &shape,
                     const std::vector<spmd::TensorId> &alike, const spmd::Network &network, int64_t maxElements);

} // namespace wsc::test
