// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function of nn layers twice: by the reference of nn, and lowered to nests, read as a network and evaluated as
// that. Both in double precision, and the network also in its own types.
#pragma once

#include "compiler/spmd/network/Network.h"

#include <random>
#include <string>
#include <vector>

namespace wsc::test {

struct LoweredRun {
  std::string error; // "" when the network was made and run
  spmd::Network network;
  /// Of the first output: what nn means, what the network computes in double and in its own types.
  std::vector<double> expected, exact, rounded;
  /// Whether the network computes the same bits at compile time, when its inputs are constants.
  bool foldsAlike = false;
};

/// Runs `module` (text) with one function @main; arguments are drawn from the generator: floats are multiples of 1/8 in
/// [-4, 4], integers in [-9, 9] (unsigned ones from 0), i1 either. `fuses`: with spmd-fuse-nests.
LoweredRun runLowered(const std::string &module, std::mt19937_64 &random, bool fuses);

} // namespace wsc::test
