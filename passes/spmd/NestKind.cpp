// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/spmd/NestKind.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace wsc::spmd {

/// The operation whose result is yielded.
static Operation *lastOf(linalg::GenericOp generic) {
  return generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
}

NestKind kindOf(linalg::GenericOp generic) {
  if (generic.getNumReductionLoops() == 0)
    return NestKind::Elementwise;
  Operation *last = lastOf(generic);
  if (isa_and_nonnull<math::FmaOp>(last))
    return NestKind::Contraction;
  const bool isPlain = llvm::hasNItems(generic.getBody()->getOperations(), 2); // one operation and the end
  return isPlain && isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(last) ? NestKind::Extremum
                                                                                : NestKind::Reduction;
}

Operation *multiplyAddOf(linalg::GenericOp generic) { return lastOf(generic); }

bool isFactor(linalg::GenericOp generic, OpOperand &operand) {
  if (kindOf(generic) != NestKind::Contraction || generic.isDpsInit(&operand))
    return false;
  Value element = generic.getMatchingBlockArgument(&operand);
  Operation *last = lastOf(generic);
  return !element.use_empty() && llvm::all_of(element.getUsers(), [&](Operation *user) { return user == last; });
}

} // namespace wsc::spmd
