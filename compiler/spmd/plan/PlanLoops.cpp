// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of a plan: where what goes round, slices and stacks lie.
#include "compiler/spmd/plan/Candidates.h"
#include "compiler/spmd/plan/LocalCycles.h"
#include "compiler/spmd/plan/PlanMaker.h"
#include "compiler/spmd/sharding/Divide.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr size_t kMostStarts = 4; // places of what goes round that are tried

/// Whether the digits of every dimension leave no gap: then each element lies on some core.
bool holdsAll(const Sharding &sharding) {
  for (size_t d = 0; d < sharding.dims.size(); ++d) {
    std::vector<std::pair<int64_t, int64_t>> digits; // step, count
    for (const LocalDigit &digit : sharding.dims[d].local)
      digits.emplace_back(digit.step, digit.count);
    for (const MeshDigit &digit : sharding.dims[d].mesh) {
      const int64_t cores = digit.axis == Axis::Row ? sharding.rectangle.rows : sharding.rectangle.cols;
      const int64_t most = ceilDiv(cores, digit.divisor);
      digits.emplace_back(digit.step, digit.modulus > 0 ? std::min(digit.modulus, most) : most);
    }
    std::sort(digits.begin(), digits.end());
    int64_t reach = 1;
    for (const auto &[step, count] : digits) {
      if (step < 0 || step > reach)
        return false;
      reach += step * (count - 1);
    }
    if (sharding.dims[d].base > 0 || sharding.dims[d].base + reach < sharding.shape[d])
      return false;
  }
  return true;
}

/// With all elements of the dimensions that no axis has: where a nest reads some of them, the next one may read others.
/// Nothing where the digits of a spread one leave gaps.
std::optional<Sharding> completed(Sharding sharding) {
  for (size_t d = 0; d < sharding.dims.size(); ++d)
    if (DimSharding &dim = sharding.dims[d]; dim.mesh.empty()) {
      dim = {};
      if (sharding.shape[d] > 1)
        dim.local = {{sharding.shape[d], 1}};
    }
  return holdsAll(sharding) ? std::optional(std::move(sharding)) : std::nullopt;
}

/// Whether dimension d is walked by iterator d, and by nothing else.
bool isWalkedWhole(const Nest &nest, const Access &access) {
  for (size_t d = 0; d < access.map.size(); ++d)
    if (!access.map[d].isIterator(d) && nest.extents[d] > 1)
      return false;
  return true;
}

} // namespace

const Loop *PlanMaker::loopOf(size_t node) const {
  for (const Loop &each : plan.loops)
    if (each.holds(node))
      return &each;
  return nullptr;
}

absl::StatusOr<int64_t> PlanMaker::placeBody(const Loop &each, std::set<TensorId> made, int64_t most) {
  findLastUses();
  loop = loopOf(each.begin);
  int64_t cycles = 0;
  for (size_t n = each.begin; n < each.end; ++n)
    if (const Nest *nest = std::get_if<Nest>(&network.nodes[n])) {
      for (const Access &access : nest->operands)
        for (const View::Root &root : views.of(access.tensor).roots)
          if (root.tensor >= 0 && network.tensors[size_t(root.tensor)].kind != Tensor::Kind::Constant &&
              !made.contains(root.tensor) && !plan.held[size_t(root.tensor)])
            waiting.insert(root.tensor);
      if (absl::Status status = place(*nest, n); !status.ok())
        return status;
      made.insert(nest->result);
      release(n);
      cycles += plan.nodeCycles[n];
      if (cycles >= most)
        return INT64_MAX;
    }
  return cycles;
}

absl::Status PlanMaker::rehearse(const Loop &each) {
  PlanMaker alone(network, views, target, rectangle, plan.loops, policy, cache, ruledOut);
  alone.begin();
  if (auto cycles = alone.placeBody(each, {}, INT64_MAX); !cycles.ok()) {
    blamed = alone.blamed;
    return cycles.status();
  }
  for (const Loop::Slice &slice : each.slices)
    if (const auto &held = alone.plan.held[size_t(slice.slice)]) {
      rehearsed.emplace(slice.slice, *held);
      lookahead.want(slice.stack, stackedSharding(*held, each.count));
    }
  for (const Loop::Carried &carried : each.carried)
    if (const auto &held = alone.plan.held[size_t(carried.made)]) {
      rehearsed.emplace(carried.value, *held);
      lookahead.want(carried.made, *held);
    }
  return absl::OkStatus();
}

absl::Status PlanMaker::chooseStart(const Loop &each) {
  const Loop::Carried &carried = each.carried[0];
  const std::vector<int64_t> &shape = network.tensors[size_t(carried.made)].shape;
  // As the nest that makes the next value may leave it.
  std::vector<std::pair<int64_t, Sharding>> starts; // cycles of that nest
  for (size_t n = each.begin; n < each.end; ++n)
    if (const Nest *maker = std::get_if<Nest>(&network.nodes[n]);
        maker && maker->result == carried.made && shape == network.tensors[size_t(carried.value)].shape) {
      std::set<DistributionKind> kinds;
      for (const Distribution &distribution : candidatesOf(network, views, *maker, rectangle, !policy.inputIsFree))
        if (kinds.insert(kindOf(distribution)).second)
          starts.emplace_back(localCycles(*maker, distribution, target), resultSharding(*maker, shape, distribution));
    }
  std::stable_sort(starts.begin(), starts.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  if (starts.size() > kMostStarts)
    starts.erase(starts.begin() + kMostStarts, starts.end());
  absl::Status status = absl::ResourceExhaustedError("no place of what goes round has a plan");
  int64_t least = INT64_MAX;
  const Sharding *best = nullptr;
  for (const auto &[own, start] : starts) {
    PlanMaker alone(network, views, target, rectangle, plan.loops, policy, cache, ruledOut);
    alone.begin();
    alone.lookahead.want(carried.made, start);
    alone.plan.held[size_t(carried.value)] = start;
    auto cycles = alone.placeBody(each, {carried.value}, least);
    if (!cycles.ok()) {
      status = cycles.status();
      continue;
    }
    if (*cycles < least && !alone.lies(carried.made, start))
      *cycles += alone.estimates.of(carried.made, start, false, alone.plan.held).cycles;
    if (*cycles < std::min(least, kImpossibleMove)) {
      least = *cycles;
      best = &start;
    }
  }
  if (!best)
    return status;
  rehearsed.insert_or_assign(carried.value, *best);
  wantBefore(each, carried.initial, *best);
  lookahead.want(carried.made, *best);
  return absl::OkStatus();
}

void PlanMaker::wantBefore(const Loop &each, TensorId tensor, const Sharding &wanted) {
  lookahead.want(tensor, wanted);
  for (size_t n = 0; n < each.begin; ++n) {
    const Nest *maker = std::get_if<Nest>(&network.nodes[n]);
    if (!maker || maker->result != tensor || maker->reduction)
      continue;
    for (const Access &access : maker->operands)
      if (!constants.isConstant(access.tensor) && access.gatherDim < 0 && isWalkedWhole(*maker, access) &&
          network.tensors[size_t(access.tensor)].shape == network.tensors[size_t(tensor)].shape)
        wantBefore(each, access.tensor, wanted);
    return;
  }
}

void PlanMaker::enterLoop() {
  for (const auto &[tensor, held] : rehearsed)
    if (isOf(*loop, tensor))
      settle(tensor, held);
  for (const Loop::Carried &carried : loop->carried)
    if (const auto found = rehearsed.find(carried.value);
        found != rehearsed.end() && !constants.isConstant(carried.initial) && !lies(carried.initial, found->second) &&
        !isUndecided(carried.initial))
      plan.estimatedCycles += estimates.of(carried.initial, found->second, false, plan.held).cycles;
  for (const Loop::Carried &carried : loop->carried)
    if (rehearsed.contains(carried.value))
      continue;
    else if (isResult.contains(carried.initial)) {
      plan.held[size_t(carried.value)] = plan.held[size_t(carried.initial)];
      live[carried.value] = bytesOf(*plan.held[size_t(carried.value)], carried.value);
    } else {
      waiting.insert(carried.value);
    }
  for (const Loop::Slice &slice : loop->slices)
    if (!rehearsed.contains(slice.slice))
      waiting.insert(slice.slice);
}

bool PlanMaker::isOf(const Loop &each, TensorId tensor) {
  return std::any_of(each.slices.begin(), each.slices.end(),
                     [&](const Loop::Slice &slice) { return slice.slice == tensor; }) ||
         std::any_of(each.carried.begin(), each.carried.end(),
                     [&](const Loop::Carried &carried) { return carried.value == tensor; });
}

void PlanMaker::leaveLoop() {
  while (!waiting.empty())
    settle(*waiting.begin(), flatSharding(rectangle, network.tensors[size_t(*waiting.begin())].elements(),
                                          granuleOf(network.tensors[size_t(*waiting.begin())].type)));
  for (const Loop::Collected &collected : loop->collected) {
    plan.held[size_t(collected.stack)] = stackedSharding(*plan.held[size_t(collected.made)], loop->count);
    live[collected.stack] = bytesOf(*plan.held[size_t(collected.stack)], collected.stack);
  }
}

void PlanMaker::settle(TensorId tensor, const Sharding &held) {
  waiting.erase(tensor);
  plan.held[size_t(tensor)] = held;
  const bool isSlice = std::any_of(loop->slices.begin(), loop->slices.end(),
                                   [&](const Loop::Slice &slice) { return slice.slice == tensor; });
  live[tensor] = bytesOf(held, tensor) * (isSlice ? loop->count : 1);
}

void PlanMaker::settleOperands(const Nest &nest, const Distribution &distribution) {
  for (const Access &access : nest.operands)
    if (waiting.contains(access.tensor)) {
      if (const auto wanted =
              completed(operandSharding(nest, access, network.tensors[size_t(access.tensor)].shape, distribution)))
        settle(access.tensor, *wanted);
    }
  for (const Access &access : nest.operands)
    for (const View::Root &root : views.of(access.tensor).roots)
      if (waiting.contains(root.tensor)) {
        const Tensor &tensor = network.tensors[size_t(root.tensor)];
        settle(root.tensor, flatSharding(rectangle, tensor.elements(), granuleOf(tensor.type)));
      }
}

} // namespace wsc::spmd
