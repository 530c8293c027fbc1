// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A factored move as instructions.
#pragma once

#include "compiler/spmd/moves/EmitMove.h"
#include "compiler/spmd/moves/FactoredMove.h"

namespace wsc::spmd {

/// Appends the moves of a problem's pieces, one for each; the sources' local boxes lie at `sources`. Returns where the
/// wanted box lies.
Place emitFactored(Code &code, const MoveProblem &problem, const std::vector<FactoredMove> &moves,
                   const std::vector<Place> &sources, const ConstantMaker &makeConstant);

} // namespace wsc::spmd
