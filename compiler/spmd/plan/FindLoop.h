// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which nodes of a network repeat, and what each read of them is from one repetition to the next.
#pragma once

#include "compiler/spmd/plan/Loop.h"

#include <optional>

namespace wsc::spmd {

/// What one read of the first repetition is in the others.
struct LoopRead {
  enum class Kind : uint8_t {
    Inside,    // what the same node of the same repetition makes
    Same,      // one tensor from outside for all
    Constants, // a constant for each
    Carried,   // from outside at first, then what node `place` of the repetition before made
    Moving,    // one tensor from outside, read `step` further along dimension `dim` each time
    Values,    // a tensor from outside for each
  };
  Kind kind = Kind::Same;
  size_t place = 0;              // Carried
  size_t dim = 0;                // Moving
  int64_t step = 0;              // Moving
  std::vector<TensorId> tensors; // of all repetitions
};

struct FoundLoop {
  size_t period = 0;
  int32_t count = 1;
  std::vector<size_t> nodes;                // period · count of them, repetition by repetition
  std::vector<std::vector<LoopRead>> reads; // per node of a repetition, per read of it
};

/// The loop that leaves out the most nodes, at least `leastNodes`, outside of the loops that are there. Remaps of
/// constants only are none of its nodes, though they may lie between them: they can as well come before it.
std::optional<FoundLoop> findLoop(const RolledNetwork &rolled, size_t leastNodes);

/// Per tensor: whether all its elements are those of constants.
std::vector<bool> constantTensors(const Network &network);

} // namespace wsc::spmd
