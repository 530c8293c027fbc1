// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/BestMove.h"

#include "compiler/spmd/moves/EmitFactored.h"

namespace wsc::spmd {

namespace {

bool isIdentity(const MoveProblem &problem, const FactoredMove &move) {
  if (move.stages.size() != 1)
    return false;
  const FactoredStage &stage = move.stages[0];
  if (stage.line.kind != LinePlan::Kind::Local || stage.fillsResult || !stage.otherCopies.empty() ||
      stage.copy != BlockCopy::ofAll(stage.resultElements))
    return false;
  const Rectangle &held = stage.givers, &wanted = problem.target->rectangle;
  return wanted.row >= held.row && wanted.col >= held.col && wanted.row + wanted.rows <= held.row + held.rows &&
         wanted.col + wanted.cols <= held.col + held.cols;
}

} // namespace

absl::StatusOr<BestMove> planBestMove(const MoveProblem &problem) {
  BestMove best;
  if (auto plan = planHops(problem)) {
    best.hops = std::move(plan->hops);
    best.estimatedCycles = plan->estimatedCycles;
    best.isIdentity =
        best.hops.size() == 1 && best.hops[0].moves.size() == 1 && isIdentity(problem, best.hops[0].moves[0]);
    return best;
  }
  auto parts = planMoveInParts(problem);
  if (!parts.ok())
    return parts.status();
  best.parts = *std::move(parts);
  for (const MovePart &part : best.parts)
    best.estimatedCycles += part.plan.estimatedCycles;
  return best;
}

Place emitBestMove(Code &code, const MoveProblem &problem, const BestMove &move, const std::vector<Place> &sources,
                   const Rectangle &wanting, const ConstantMaker &makeConstant) {
  if (move.isIdentity)
    return sources[size_t(problem.pieces[0].source)];
  if (!move.hops.empty()) {
    Place at;
    for (size_t i = 0; i < move.hops.size(); ++i)
      at = emitFactored(code, move.hops[i].problem, move.hops[i].moves, i == 0 ? sources : std::vector<Place>{at},
                        makeConstant);
    return at;
  }
  return emitMove(code, problem, move.parts, sources, wanting, makeConstant);
}

} // namespace wsc::spmd
