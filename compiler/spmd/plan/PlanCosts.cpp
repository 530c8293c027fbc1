// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a distribution of a nest costs: cycles and bytes of its own, those of the moves of its operands, first roughly,
// then as they are planned.
#include "compiler/spmd/moves/QuickEstimate.h"
#include "compiler/spmd/plan/LocalCycles.h"
#include "compiler/spmd/plan/Neutral.h"
#include "compiler/spmd/plan/PlanMaker.h"
#include "compiler/spmd/plan/PortBox.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr int64_t kRearrangeCycles = 200; // of a quick estimate where the moved tensor has no pieces

} // namespace

bool PlanMaker::isUndecided(TensorId tensor) {
  const std::vector<View::Root> &roots = views.of(tensor).roots;
  return undecided >= 0 &&
         std::any_of(roots.begin(), roots.end(), [&](const View::Root &root) { return root.tensor == undecided; });
}

bool PlanMaker::lies(TensorId tensor, const Sharding &sharding) {
  return views.of(tensor).isRoot() && plan.held[size_t(tensor)] && *plan.held[size_t(tensor)] == sharding;
}

int64_t PlanMaker::bytesOf(const Sharding &sharding, TensorId tensor) const {
  return sharding.localElements() * elementBytes(network.tensors[size_t(tensor)].type);
}

int64_t PlanMaker::quickMoves(const Nest &nest, const Distribution &distribution) {
  int64_t cycles = 0;
  for (const Access &access : nest.operands) {
    if (constants.isConstant(access.tensor) || waiting.contains(access.tensor))
      continue;
    const Tensor &tensor = network.tensors[size_t(access.tensor)];
    const Sharding sharding = operandSharding(nest, access, tensor.shape, distribution);
    const View &view = views.of(access.tensor);
    if (policy.inputIsFree && isUndecided(access.tensor))
      continue;
    std::optional<Sharding> held = plan.held[size_t(access.tensor)];
    if (access.tensor == undecided)
      held = portBox(sharding, rectangle).value_or(flatSharding(rectangle, tensor.elements(), granuleOf(tensor.type)));
    if (view.isRoot() && held && held->shape == sharding.shape) {
      if (*held != sharding)
        cycles += quickMoveCycles(*held, sharding, rectangle, elementBytes(tensor.type), policy.picks);
      continue;
    }
    cycles += quickView(access.tensor, sharding);
  }
  return cycles;
}

int64_t PlanMaker::quickView(TensorId tensor, const Sharding &wanted) {
  const View &view = views.of(tensor);
  const int64_t bytes = elementBytes(network.tensors[size_t(tensor)].type);
  int64_t cycles = 0;
  auto found = pieces.find(tensor);
  if (found == pieces.end())
    found = pieces.emplace(tensor, views.piecesOf(tensor)).first;
  if (found->second) {
    for (const StridedPiece &piece : *found->second)
      if (const TensorId root = view.roots[size_t(piece.source)].tensor; root >= 0 && plan.held[size_t(root)])
        cycles += quickPieceCycles(*plan.held[size_t(root)], wanted, piece, rectangle, bytes, policy.picks);
    return cycles;
  }
  // As if each root went to where the view's box has as many elements.
  cycles += 2 * wanted.localElements() + kRearrangeCycles;
  for (const View::Root &root : view.roots)
    if (root.tensor >= 0)
      cycles += network.tensors[size_t(root.tensor)].elements() / std::max(rectangle.rows, rectangle.cols);
  return cycles;
}

PlanMaker::Cost PlanMaker::localCost(const Nest &nest, const Distribution &distribution) {
  Cost cost;
  for (const Access &access : nest.operands) {
    const Tensor &tensor = network.tensors[size_t(access.tensor)];
    const Sharding sharding = operandSharding(nest, access, tensor.shape, distribution);
    if (!constants.isConstant(access.tensor) && !lies(access.tensor, sharding))
      cost.bytes += sharding.localElements() * elementBytes(tensor.type);
  }
  cost.constantBytes = constants.bytesOf(nest, distribution, loop);
  cost.cycles = localCycles(nest, distribution, target);
  int64_t parallel = 1;
  for (int32_t k = 0; k < nest.numParallel; ++k)
    parallel *= blockOf(nest, distribution, k);
  cost.bytes += parallel * elementBytes(network.tensors[size_t(nest.result)].type);
  // Sums that cores reduce among themselves come to another buffer for each axis; the last one is the result where
  // nothing is left to do to it.
  if (const int axes = isReduced(nest, distribution, Axis::Row) + isReduced(nest, distribution, Axis::Col); axes > 0) {
    const bool isResult = nest.finish.empty() && nest.reduction->type == network.tensors[size_t(nest.result)].type;
    cost.bytes += parallel * elementBytes(nest.reduction->type) * (axes + !isResult);
  }
  cost.bytes += cost.constantBytes;
  return cost;
}

bool PlanMaker::addMoves(const Nest &nest, const Distribution &distribution, int64_t most, Cost &cost) {
  int64_t scratch = 0;
  bool byFactors = true;
  for (size_t k = 0; k < nest.operands.size() && cost.cycles <= most; ++k) {
    const Access &access = nest.operands[k];
    if (constants.isConstant(access.tensor) || waiting.contains(access.tensor))
      continue;
    const Tensor &tensor = network.tensors[size_t(access.tensor)];
    const Sharding sharding = operandSharding(nest, access, tensor.shape, distribution);
    if (lies(access.tensor, sharding))
      continue;
    const bool matters = paddingMatters(network, nest, access, distribution);
    MoveEstimate estimate;
    if (isUndecided(access.tensor)) {
      // As if the input lay as its port can deliver it to this nest.
      plan.held[size_t(undecided)] = placeFor(access, sharding, matters);
      estimate = estimates.fresh(access.tensor, sharding, matters, plan.held);
      plan.held[size_t(undecided)].reset();
      if (policy.inputIsFree && estimate.cycles < kImpossibleMove)
        estimate.cycles = 0;
    } else {
      estimate = estimates.of(access.tensor, sharding, matters, plan.held);
    }
    cost.cycles += estimate.cycles;
    cost.bytes += estimate.tableBytes;
    cost.tableBytes += estimate.tableBytes;
    scratch = std::max(scratch, estimate.scratchBytes);
    byFactors &= !estimate.isByElement;
  }
  cost.bytes += scratch;
  return byFactors;
}

} // namespace wsc::spmd
