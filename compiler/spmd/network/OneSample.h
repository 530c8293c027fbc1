// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A network whose samples have nothing to do with each other, as the network of one of them.
//
//     x [8, 128]      h = table[x] + p      y = h·W      →      x [1, 128], h [1, 128, 768], y [1, 128, 768]
//
// A tensor that depends on the sample has the samples outermost: its first dimension of more than one element numbers
// them, or samples and something inside them. So what belongs to sample s are elements s·n … s·n + n − 1. Nests walk
// that dimension with one parallel iterator, remaps with one digit.
#pragma once

#include "compiler/spmd/network/Network.h"

#include <optional>
#include <vector>

namespace wsc::spmd {

struct OneSample {
  /// Tensors and nodes as those of the network, of one sample.
  Network network;
  int64_t samples = 1;
  /// Inputs that do not depend on the sample: all samples read the same.
  std::vector<bool> sharedInputs;
};

/// Nothing where there is one sample only, something combines samples, an output does not depend on them, or the
/// network has variables. The first input with more than one element along its first dimension says how many there are.
std::optional<OneSample> oneSample(const Network &network);

} // namespace wsc::spmd
