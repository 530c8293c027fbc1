// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A factored move as instructions.
#pragma once

#include "compiler/spmd/moves/EmitMove.h"
#include "compiler/spmd/moves/FactoredMove.h"

namespace wsc::spmd {

/// Where the wanted box will lie.
Place beginFactored(Code &code, const MoveProblem &problem);

/// Whether pieces leave elements of the wanted box out, so that it is filled first.
bool fillsResult(const MoveProblem &problem, const std::vector<FactoredMove> &moves);

/// Appends one stage. `source`: the box of the stage before, or the piece's; `result`: the wanted box, to which the
/// last stage brings, and which is filled before if `fills`. Returns where the stage's box lies.
Place emitStage(Code &code, const MoveProblem &problem, const FactoredStage &stage, bool isLast, bool fills,
                Place source, Place result, const ConstantMaker &makeConstant);

/// What may travel later is written to the end of its last word.
void endFactored(Code &code, const MoveProblem &problem, Place result);

/// All of it: the moves of a problem's pieces, one for each; the sources' local boxes lie at `sources`.
Place emitFactored(Code &code, const MoveProblem &problem, const std::vector<FactoredMove> &moves,
                   const std::vector<Place> &sources, const ConstantMaker &makeConstant);

} // namespace wsc::spmd
