// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/ImprovePlan.h"

#include "compiler/spmd/plan/JointChoice.h"
#include "compiler/spmd/plan/PlanMaker.h"

#include <utility>

namespace wsc::spmd {

namespace {

constexpr int kMostChoices = 6; // one after another, each without what of the one before does not fit

} // namespace

NetworkPlan improvePlan(const Network &network, Views &views, const target::Target &target, NetworkPlan plan,
                        EstimateCache &cache, const RuledOut &ruledOut) {
  if (!JointChoice::applies(network, plan.loops))
    return plan;
  const NetworkPlan start = plan;
  JointChoice choice(network, views, target, start, cache, ruledOut);
  for (int number = 0; number < kMostChoices; ++number) {
    const JointPlan joint = choice.choose();
    PlanMaker maker(network, views, target, start.rectangle, start.loops, start.policy, cache, ruledOut, &joint);
    auto made = maker.make();
    if (made.ok() && made->estimatedCycles < plan.estimatedCycles)
      plan = *std::move(made);
    if (maker.refused().empty())
      break;
    for (const PlanMaker::Refusal &refusal : maker.refused())
      choice.forbid(refusal.node, refusal.forMoves);
  }
  return plan;
}

} // namespace wsc::spmd
