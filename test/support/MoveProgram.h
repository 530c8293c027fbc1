// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executables of one move, and what any machine needs at least for it.
#pragma once

#include "compiler/spmd/moves/Move.h"
#include "test/support/PhasesProgram.h"

#include <functional>

namespace wsc::test {

/// A move of a network, or a drawn one.
struct MoveCase {
  std::string family; // what needs it
  /// Its rectangle, type, sources, target, pieces, fill and room are given; describe() fills in the rest.
  spmd::MoveProblem problem;
  /// The one source comes from the host; what it lies in when it has come is the planner's choice, as of an input. Or
  /// the result leaves to the host; from which sharding is the planner's choice, as of an output.
  bool fromHost = false, toHost = false;
};

/// All elements of a tensor, in another sharding.
spmd::StridedPiece wholePiece(const std::vector<int64_t> &shape);
MoveCase moveBetween(const spmd::Sharding &from, const spmd::Sharding &to, const spmd::Rectangle &rectangle,
                     format::ElementType type);
/// Numbers of elements, widths, and `wanted`, by enumeration of the pieces.
void describe(MoveCase &made);
/// Of every element of the wanted tensor the number among the problem's, −1: the fill.
std::vector<int64_t> numbersOf(const spmd::MoveProblem &problem);

/// The buffer of a move program that holds each core's elements afterwards.
constexpr const char *kMovedName = "moved result";

struct MoveProgram {
  PhasesProgram program;
  spmd::Sharding target;   // what cores hold afterwards; of a move to the host what they give
  bool factored = false;   // the move goes by factors
  bool isNothing = false;  // every core has what it wants where it is wanted
  int64_t boundCycles = 0; // busiest cut + distance; 0: no element goes from one core to another
  int64_t estimatedCycles = 0;
};

/// Cores hold the sources as the problem says (element e has value `value(e)`), or its one source is the entry's input;
/// they bring them to the target, or give it out as the entry's output. `keepsResult`: what the move leaves is copied
/// to kMovedName, where a test can look at it.
absl::StatusOr<MoveProgram> moveProgram(const MoveCase &made, const std::function<int64_t(int64_t)> &value,
                                        bool keepsResult);

} // namespace wsc::test
