// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of a pick (LinePick.h).
#pragma once

#include "compiler/spmd/moves/EmitMove.h"
#include "compiler/spmd/moves/FactoredMove.h"

namespace wsc::spmd {

/// What the lines of a stage want, on all their cores: entry by entry, `stage.slack` elements of the fill behind them.
Place emitPick(Code &code, const MoveProblem &problem, const FactoredStage &stage, Place source,
               const ConstantMaker &makeConstant);

} // namespace wsc::spmd
