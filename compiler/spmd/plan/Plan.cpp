// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy in the order of the network: all ways to give rows and columns to the iterators of a nest are estimated, with
// the moves of the operands from where earlier choices left them. A candidate that lies as an operand lies already
// moves nothing. Where the moves of all candidates do not fit, the plan begins anew, and the nest that made the largest
// operand may not lie in that kind of place. Where it applies, a joint choice (JointChoice.h) begins with such a plan.
// Costs follow docs/Timing.md roughly; what decides are words on lines, distances and instruction set-ups.
#include "compiler/spmd/plan/Plan.h"

#include "compiler/spmd/plan/Candidates.h"
#include "compiler/spmd/plan/Following.h"
#include "compiler/spmd/plan/ImprovePlan.h"
#include "compiler/spmd/plan/JointChoice.h"
#include "compiler/spmd/plan/Neutral.h"
#include "compiler/spmd/plan/PlanMaker.h"
#include "compiler/spmd/plan/PortSharding.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

// Policy.
constexpr int kBoxShare = 4;      // an input's box takes at most this part of SRAM
constexpr size_t kMostAhead = 64; // candidates of a nest whose readers are looked at
// Plans of a nest's moves: 4 for each candidate that moves by factors, 1 for another; fewer where all nests choose
// together afterwards.
constexpr int kMostExact = 24, kMostExactAtFirst = 4;
// Such plans without one that fits, before the smallest candidates are looked at instead of the quickest ones, and
// before all are given up.
constexpr int kFruitless = 64, kMostFruitless = 128;
constexpr double kCodeShare = 0.3;   // of SRAM
constexpr double kSpareShare = 0.15; // of it, where code may have less

/// Whether places to begin with can be chosen for some loop.
bool hasChoice(const Loop &loop) { return loop.slices.empty() && loop.carried.size() == 1; }

} // namespace

absl::StatusOr<NetworkPlan> PlanMaker::make() {
  begin();
  if (joint)
    rehearsed = joint->starts;
  for (const Loop &each : plan.loops) {
    if (joint)
      break;
    const bool chooses = policy.starts == LoopStarts::Chosen && hasChoice(each);
    if (absl::Status status = chooses               ? chooseStart(each)
                              : each.slices.empty() ? absl::OkStatus()
                                                    : rehearse(each);
        !status.ok())
      return status;
  }
  placeInputs();
  findLastUses();
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    loop = loopOf(n);
    if (loop && n == loop->begin)
      enterLoop();
    if (const Nest *nest = std::get_if<Nest>(&network.nodes[n]))
      if (absl::Status status = place(*nest, n); !status.ok())
        return status;
    release(n);
    if (loop && n + 1 == loop->end)
      leaveLoop();
  }
  if (undecided >= 0)
    placeFlat(std::exchange(undecided, -1), rectangle);
  for (size_t n = 0; n < plan.nodeCycles.size(); ++n)
    plan.estimatedCycles += plan.nodeCycles[n] * (loopOf(n) ? loopOf(n)->count : 1);
  for (size_t t = 0; t < plan.held.size(); ++t)
    if (plan.held[t])
      plan.estimatedCycles += lookahead.leaving(TensorId(t), *plan.held[t]);
  plan.estimatedCycles += 8 * (rectangle.rows + rectangle.cols);
  plan.constantBytes = constantBytes;
  return std::move(plan);
}

void PlanMaker::begin() {
  plan.rectangle = rectangle;
  plan.held.resize(network.tensors.size());
  plan.distributions.resize(network.nodes.size());
  plan.nodeCycles.resize(network.nodes.size(), 0);
}

void PlanMaker::placeInputs() {
  // A single input lies as its first reader wants it, where that has a form; several ones flat, each on rows of its
  // own, in proportion to their words.
  if (policy.inputsAreFlat) {
    for (const NamedTensor &input : network.inputs)
      placeFlat(input.tensor, rectangle);
  } else if (network.inputs.size() == 1) {
    undecided = network.inputs[0].tensor;
  } else {
    std::vector<int64_t> words;
    int64_t total = 0;
    for (const NamedTensor &input : network.inputs) {
      const Tensor &tensor = network.tensors[size_t(input.tensor)];
      words.push_back(std::max<int64_t>(1, tensor.elements() * elementBytes(tensor.type) / 4));
      total += words.back();
    }
    int32_t row = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      const int32_t left = rectangle.rows - row, others = int32_t(words.size() - 1 - i);
      int32_t rows = int32_t(double(words[i]) / double(std::max<int64_t>(1, total)) * left);
      total -= words[i];
      rows = std::max(1, std::min(rows, left - others));
      placeFlat(network.inputs[i].tensor, {row, 0, rows, rectangle.cols});
      row += rows;
    }
  }
  for (const State &state : network.states)
    if (state.read >= 0)
      plan.held[size_t(state.read)] =
          flatSharding(rectangle, network.tensors[size_t(state.read)].elements(), granuleOf(state.type));
}

void PlanMaker::placeFlat(TensorId tensor, const Rectangle &where) {
  const Tensor &held = network.tensors[size_t(tensor)];
  plan.held[size_t(tensor)] = flatSharding(where, held.elements(), granuleOf(held.type));
  live[tensor] = bytesOf(*plan.held[size_t(tensor)], tensor);
}

const Sharding &PlanMaker::placeFor(const Access &access, const Sharding &wanted, bool fillMatters) {
  auto [found, added] =
      inputPlaces.emplace(std::pair(access.tensor, absl::StrCat(print(wanted), fillMatters ? "f" : "")), Sharding());
  if (added)
    found->second =
        inputSharding(network, views, undecided, access.tensor, wanted, fillMatters, rectangle, boxBytes(target));
  return found->second;
}

void PlanMaker::decideInput(const Nest &nest, const Distribution &distribution) {
  for (const Access &access : nest.operands)
    if (isUndecided(access.tensor)) {
      const Tensor &tensor = network.tensors[size_t(access.tensor)];
      const Sharding held = placeFor(access, operandSharding(nest, access, tensor.shape, distribution),
                                     paddingMatters(network, nest, access, distribution));
      const TensorId input = std::exchange(undecided, -1);
      plan.held[size_t(input)] = held;
      live[input] = bytesOf(held, input);
      return;
    }
}

bool PlanMaker::readsUndecided(const Nest &nest) {
  return std::any_of(nest.operands.begin(), nest.operands.end(),
                     [&](const Access &access) { return isUndecided(access.tensor); });
}

void PlanMaker::findLastUses() {
  std::map<TensorId, size_t> made; // nests' results
  for (size_t n = 0; n < network.nodes.size(); ++n)
    if (const Nest *nest = std::get_if<Nest>(&network.nodes[n])) {
      made.emplace(nest->result, n);
      isResult.insert(nest->result);
      for (const Access &access : nest->operands)
        for (const View::Root &root : views.of(access.tensor).roots)
          if (root.tensor >= 0) {
            // What a repetition does not make is there for the next one.
            const Loop *around = loopOf(n);
            const auto found = made.find(root.tensor);
            const bool isOwn = around && found != made.end() && around->holds(found->second);
            lastUse[root.tensor] = around && !isOwn ? around->end - 1 : n;
          }
    }
  auto keep = [&](TensorId tensor) {
    for (const View::Root &root : views.of(tensor).roots)
      if (root.tensor >= 0)
        lastUse[root.tensor] = network.nodes.size();
  };
  for (const NamedTensor &output : network.outputs)
    keep(output.tensor);
  for (const State &state : network.states)
    if (state.written >= 0)
      keep(state.written);
  for (const Loop &each : plan.loops) {
    auto until = [&](TensorId tensor, size_t node) {
      for (const View::Root &root : views.of(tensor).roots)
        if (root.tensor >= 0)
          lastUse[root.tensor] = std::max(lastUse[root.tensor], node);
    };
    for (const Loop::Carried &carried : each.carried) {
      until(carried.initial, each.begin);
      until(carried.made, each.end - 1);
    }
    for (const Loop::Slice &slice : each.slices)
      until(slice.stack, each.begin);
  }
  for (size_t t = 0; t < plan.held.size(); ++t)
    if (plan.held[t])
      live[TensorId(t)] = bytesOf(*plan.held[t], TensorId(t));
}

void PlanMaker::release(size_t node) {
  std::erase_if(live, [&](const auto &entry) { return lastUse[entry.first] <= node; });
}

std::string PlanMaker::longestLives() const {
  std::vector<std::pair<int64_t, TensorId>> all;
  for (const auto &[tensor, bytes] : live)
    all.emplace_back(-bytes, tensor);
  std::sort(all.begin(), all.end());
  constexpr size_t kMostNamed = 4;
  std::string text;
  for (size_t i = 0; i < std::min(all.size(), kMostNamed); ++i)
    absl::StrAppend(&text, text.empty() ? " (" : ", ", network.tensors[size_t(all[i].second)].name, " ", -all[i].first);
  return text.empty() ? text : text + (all.size() > kMostNamed ? ", …)" : ")");
}

absl::Status PlanMaker::place(const Nest &nest, size_t number) {
  auto among = [&](CandidateRange range) { return placeAmong(nest, number, candidatesFor(nest, range)); };
  if (joint && joint->distributions[number]) {
    if (placeAmong(nest, number, {*joint->distributions[number]}).ok())
      return absl::OkStatus();
    refusals.push_back({number, blamed.has_value()});
    blamed.reset();
  }
  absl::Status status = among(policy.range);
  if (joint || policy.range == CandidateRange::All || !absl::IsResourceExhausted(status) ||
      !among(CandidateRange::All).ok())
    return status;
  blamed.reset();
  return absl::OkStatus();
}

absl::Status PlanMaker::placeAmong(const Nest &nest, size_t number, std::vector<Distribution> distributions) {
  int64_t others = constantBytes;
  for (const auto &[tensor, bytes] : live)
    others += bytes;
  // Its own constants are among those that are kept free.
  const auto fits = [&, limit = tensorBytes(target) - others - policy.marginBytes](const Cost &cost) {
    return cost.bytes + std::max<int64_t>(0, policy.reservedBytes - constantBytes - cost.constantBytes) <= limit;
  };
  struct Candidate {
    Distribution distribution;
    Cost cost;
    int64_t quick = 0, excess = 0; // cycles with moves by their quick estimate; constants beyond their share
    int64_t after = 0;             // cycles that the result's place costs those that read it
  };
  std::vector<Candidate> candidates;
  const int64_t share = constants.limitOf(nest, loop);
  int64_t leastBytes = INT64_MAX, leastMoving = INT64_MAX; // of a candidate, of one with its moves
  bool anyFits = false;                                    // without its moves
  for (Distribution &distribution : distributions) {
    if (ruledOut.contains({number, kindOf(distribution)}))
      continue;
    Candidate candidate{std::move(distribution), {}};
    candidate.cost = localCost(nest, candidate.distribution);
    candidate.excess = std::max<int64_t>(0, candidate.cost.constantBytes - share);
    leastBytes = std::min(leastBytes, candidate.cost.bytes);
    if (!fits(candidate.cost))
      continue;
    anyFits = true;
    candidate.quick = candidate.cost.cycles + quickMoves(nest, candidate.distribution);
    candidates.push_back(std::move(candidate));
  }
  // The best ones by quick estimates are planned exactly.
  auto sort = [&] {
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
      return std::pair(a.excess, a.quick + a.after) < std::pair(b.excess, b.quick + b.after);
    });
  };
  sort();
  const std::vector<int64_t> &shape = network.tensors[size_t(nest.result)].shape;
  const size_t ahead = candidates.size() > 1 ? std::min(candidates.size(), kMostAhead) : 0;
  int64_t mostAfter = 0;
  for (size_t i = 0; i < ahead; ++i) {
    candidates[i].after = lookahead.after(nest.result, resultSharding(nest, shape, candidates[i].distribution));
    mostAfter = std::max(mostAfter, candidates[i].after);
  }
  // The others are there for the case that none of these fits or moves by factors.
  for (size_t i = ahead; i < candidates.size(); ++i)
    candidates[i].after = mostAfter;
  sort();
  const Distribution *best = nullptr;
  Cost bestCost;
  int64_t bestExcess = 0, bestTotal = INT64_MAX; // cycles with those of the readers
  const int mostExact = improves ? kMostExactAtFirst : kMostExact;
  int looked = 0;
  bool isImpossible = false; // some candidate has a move that takes too long to plan
  bool areBySize = false;    // the candidates that are left
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!best && looked >= kFruitless && !std::exchange(areBySize, true))
      std::stable_sort(candidates.begin() + ptrdiff_t(i), candidates.end(),
                       [](const Candidate &a, const Candidate &b) { return a.cost.bytes < b.cost.bytes; });
    Candidate &candidate = candidates[i];
    if (best ? candidate.excess > bestExcess || looked >= mostExact : looked >= kMostFruitless)
      break;
    if (candidate.cost.cycles + candidate.after >= bestTotal)
      continue;
    // Moves element by element are no reason to stop looking.
    looked += addMoves(nest, candidate.distribution, bestTotal - candidate.after, candidate.cost) ? 4 : 1;
    isImpossible |= candidate.cost.cycles >= kImpossibleMove;
    leastMoving = std::min(leastMoving, candidate.cost.bytes);
    if (!fits(candidate.cost) || candidate.cost.cycles >= kImpossibleMove ||
        candidate.cost.cycles + candidate.after >= bestTotal)
      continue;
    bestTotal = candidate.cost.cycles + candidate.after;
    best = &candidate.distribution;
    bestCost = candidate.cost;
    bestExcess = candidate.excess;
  }
  if (!best && anyFits)
    blame(nest);
  if (!best && isImpossible)
    return absl::ResourceExhaustedError(
        absl::StrCat("layer ", nest.name, " reads elements that are rearranged one by one, more than ", kMostByElement,
                     " of them on a mesh of ", rectangle.rows, "x", rectangle.cols));
  if (!best)
    return absl::ResourceExhaustedError(
        absl::StrCat("layer ", nest.name, anyFits ? " with what brings its operands" : "", " needs ",
                     anyFits ? leastMoving : leastBytes, " bytes on a core, beside ", others, " bytes of ", live.size(),
                     " tensors that are still needed", longestLives(), " and of constants; ",
                     tensorBytes(target) - policy.marginBytes, " are left to tensors on a mesh of ", rectangle.rows,
                     "x", rectangle.cols, "; use a target with more cores or more SRAM"));
  const Distribution chosen = *best;
  if (readsUndecided(nest))
    decideInput(nest, chosen);
  settleOperands(nest, chosen);
  plan.distributions[number] = chosen;
  plan.nodeCycles[number] = bestCost.cycles;
  plan.held[size_t(nest.result)] = resultSharding(nest, network.tensors[size_t(nest.result)].shape, chosen);
  live[nest.result] = bytesOf(*plan.held[size_t(nest.result)], nest.result);
  constantBytes += bestCost.constantBytes;
  plan.tableBytes += bestCost.tableBytes;
  return absl::OkStatus();
}

void PlanMaker::blame(const Nest &nest) {
  int64_t most = 0;
  for (const Access &access : nest.operands)
    for (const View::Root &root : views.of(access.tensor).roots)
      for (size_t n = 0; root.tensor >= 0 && n < network.nodes.size(); ++n)
        if (const Nest *maker = std::get_if<Nest>(&network.nodes[n]);
            maker && maker->result == root.tensor && network.tensors[size_t(root.tensor)].elements() > most &&
            plan.held[size_t(root.tensor)]) {
          most = network.tensors[size_t(root.tensor)].elements();
          blamed = std::pair(n, kindOf(plan.distributions[n]));
        }
}

std::vector<Distribution> PlanMaker::candidatesFor(const Nest &nest, CandidateRange range) {
  std::vector<AxisUse> rows, cols;
  std::vector<Distribution> followed;
  for (const Access &access : nest.operands) {
    const auto &held = plan.held[size_t(access.tensor)];
    if (!views.of(access.tensor).isRoot() || !held)
      continue;
    const FollowedUses uses = followedUses(network, nest, access, *held);
    for (const auto &[use, all] : {std::pair(&uses.rows, &rows), std::pair(&uses.cols, &cols)})
      if (*use) {
        all->push_back(**use);
        for (const AxisUse &each : refined(nest, **use))
          all->push_back(each);
      }
    if (auto follow = following(network, nest, access, *held))
      followed.push_back(*std::move(follow));
  }
  std::vector<Distribution> candidates =
      candidatesOf(network, views, nest, rectangle, !policy.inputIsFree, rows, cols, range);
  for (Distribution &follow : followed)
    if (std::find(candidates.begin(), candidates.end(), follow) == candidates.end())
      candidates.push_back(std::move(follow));
  return candidates;
}

int64_t tensorBytes(const target::Target &target) {
  return int64_t(double(target.usableSramBytes()) * (1 - kCodeShare));
}

int64_t boxBytes(const target::Target &target) { return tensorBytes(target) / kBoxShare; }

int64_t spareCodeBytes(const target::Target &target) { return int64_t(double(target.usableSramBytes()) * kSpareShare); }

absl::StatusOr<NetworkPlan> planNetwork(const Network &network, Views &views, const target::Target &target,
                                        const Rectangle &rectangle, const std::vector<Loop> &loops, PlanPolicy policy,
                                        EstimateCache *cache, RuledOut given) {
  EstimateCache own;
  auto improved = [&](absl::StatusOr<NetworkPlan> plan) {
    if (plan.ok())
      plan = improvePlan(network, views, target, *std::move(plan), cache ? *cache : own, given);
    return plan;
  };
  auto planWith = [&](LoopStarts starts) -> absl::StatusOr<NetworkPlan> {
    policy.starts = starts;
    RuledOut ruledOut = given;
    absl::Status first;
    for (int tries = 0;; ++tries) {
      PlanMaker maker(network, views, target, rectangle, loops, policy, cache ? *cache : own, ruledOut);
      auto plan = maker.make();
      if (plan.ok())
        return plan;
      first.Update(plan.status());
      if (!maker.toBlame() || tries >= policy.mostRetries || !ruledOut.insert(*maker.toBlame()).second)
        return first;
    }
  };
  if (policy.starts != LoopStarts::Both)
    return improved(planWith(policy.starts));
  auto plan = planWith(LoopStarts::AsReached);
  if (std::any_of(loops.begin(), loops.end(), hasChoice))
    if (auto other = planWith(LoopStarts::Chosen);
        other.ok() && (!plan.ok() || other->estimatedCycles < plan->estimatedCycles))
      return improved(std::move(other));
  return improved(std::move(plan));
}

Sharding stackedSharding(Sharding each, int64_t count) {
  each.shape.insert(each.shape.begin(), count);
  DimSharding whole;
  whole.local = {{count, 1}};
  each.dims.insert(each.dims.begin(), std::move(whole));
  return each;
}

} // namespace wsc::spmd
