// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/BestMove.h"

#include "compiler/spmd/moves/EmitFactored.h"

namespace wsc::spmd {

namespace {

bool isIdentity(const MoveProblem &problem, const FactoredMove &move) {
  if (move.stages.size() != 1)
    return false;
  const FactoredStage &stage = move.stages[0];
  const BlockCopy &copy = stage.copy;
  if (stage.line.kind != LinePlan::Kind::Local || stage.fillsResult || copy.table || copy.to != 0 ||
      !(copy.from == PlaceNumber()))
    return false;
  const Rectangle &held = stage.givers, &wanted = problem.target->rectangle;
  if (wanted.row < held.row || wanted.col < held.col || wanted.row + wanted.rows > held.row + held.rows ||
      wanted.col + wanted.cols > held.col + held.cols)
    return false;
  if (copy.loops.empty())
    return stage.resultElements == 1;
  return copy.loops.size() == 1 && copy.loops[0].count == stage.resultElements && copy.loops[0].fromStride == 1 &&
         copy.loops[0].toStride == 1;
}

} // namespace

absl::StatusOr<BestMove> planBestMove(const MoveProblem &problem) {
  BestMove best;
  for (const StridedPiece &piece : problem.pieces) {
    auto move = planFactored(problem, piece);
    if (!move)
      break;
    best.estimatedCycles += move->estimatedCycles;
    best.factored.push_back(*std::move(move));
  }
  if (!problem.pieces.empty() && best.factored.size() == problem.pieces.size()) {
    best.isIdentity = best.factored.size() == 1 && isIdentity(problem, best.factored[0]);
    return best;
  }
  best = {};
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
  if (!move.factored.empty())
    return emitFactored(code, problem, move.factored, sources, makeConstant);
  return emitMove(code, problem, move.parts, sources, wanting, makeConstant);
}

} // namespace wsc::spmd
