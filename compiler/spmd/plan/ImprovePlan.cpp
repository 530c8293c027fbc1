// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/ImprovePlan.h"

#include "compiler/spmd/plan/PlanMaker.h"

#include <utility>

namespace wsc::spmd {

namespace {

constexpr int kMostChoices = 6; // one after another, each without what of the one before does not fit

} // namespace

PlanChooser::PlanChooser(const Network &network, Views &views, const target::Target &target, NetworkPlan plan,
                         EstimateCache &cache)
    : network(network), views(views), target(target), start(std::move(plan)), cache(cache),
      choice(network, views, target, start, cache) {}

std::optional<NetworkPlan> PlanChooser::choose(const RuledOut &ruledOut) {
  std::optional<NetworkPlan> best;
  for (int number = 0; number < kMostChoices; ++number) {
    const JointPlan joint = choice.choose(ruledOut);
    PlanMaker maker(network, views, target, start.rectangle, start.loops, start.policy, cache, ruledOut, &joint);
    auto made = maker.make();
    if (made.ok() && (!best || made->estimatedCycles < best->estimatedCycles))
      best = *std::move(made);
    if (maker.refused().empty())
      break;
    for (const PlanMaker::Refusal &refusal : maker.refused())
      choice.forbid(refusal.node, refusal.forMoves);
  }
  return best;
}

NetworkPlan improvePlan(const Network &network, Views &views, const target::Target &target, NetworkPlan plan,
                        EstimateCache &cache, const RuledOut &ruledOut) {
  if (!JointChoice::applies(network, plan.loops))
    return plan;
  PlanChooser chooser(network, views, target, plan, cache);
  if (auto better = chooser.choose(ruledOut); better && better->estimatedCycles < plan.estimatedCycles)
    plan = *std::move(better);
  plan.plannedMoves = chooser.plannedMoves();
  return plan;
}

} // namespace wsc::spmd
