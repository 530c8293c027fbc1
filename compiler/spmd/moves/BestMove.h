// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any move: by factors where it has that form, else element by element.
#pragma once

#include "compiler/spmd/moves/EmitMove.h"
#include "compiler/spmd/moves/Hops.h"

namespace wsc::spmd {

struct BestMove {
  bool isIdentity = false;     // every core's elements are its one source's buffer as it lies
  std::vector<Hop> hops;       // by factors; or
  std::vector<MovePart> parts; // of the whole, element by element
  int64_t estimatedCycles = 0;
};

/// Errors: as planMove.
absl::StatusOr<BestMove> planBestMove(const MoveProblem &problem);

/// Appends the move; returns where the wanted elements lie.
Place emitBestMove(Code &code, const MoveProblem &problem, const BestMove &move, const std::vector<Place> &sources,
                   const Rectangle &wanting, const ConstantMaker &makeConstant);

} // namespace wsc::spmd
