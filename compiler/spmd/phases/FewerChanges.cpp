// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/FewerChanges.h"

#include "compiler/spmd/plan/ImprovePlan.h"
#include "runtime/timing/Phases.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace wsc::spmd {

namespace {

constexpr int kMostRounds = 2;
constexpr double kMostWorse = 1.25; // of a plan's estimate: others cannot gain as much by changes saved

/// Nests of loops that reduce in several groups of an axis, whose route families are their own.
std::vector<size_t> groupedNests(const Network &network, const NetworkPlan &plan) {
  std::vector<size_t> nodes;
  for (const Loop &loop : plan.loops)
    for (size_t n = loop.begin; n < loop.end; ++n)
      if (const Nest *nest = std::get_if<Nest>(&network.nodes[n]))
        for (Axis axis : {Axis::Row, Axis::Col})
          if (const ReduceGroup group = reduceGroup(*nest, plan.distributions[n], axis);
              group.cores > 1 && group.groups > 1 && (nodes.empty() || nodes.back() != n))
            nodes.push_back(n);
  return nodes;
}

/// The plan that is found where lines gather by buses, which share the families of reductions.
std::optional<NetworkPlan> planByBuses(const Network &network, Views &views, const target::Target &target,
                                       const NetworkPlan &plan, EstimateCache &cache) {
  if (!plan.policy.gathers)
    return std::nullopt;
  NetworkPlan start = plan;
  start.policy.gathers = false;
  if (JointChoice::applies(network, plan.loops))
    return PlanChooser(network, views, target, start, cache).choose({});
  auto made = planNetwork(network, views, target, plan.rectangle, plan.loops, start.policy, &cache, {});
  return made.ok() ? std::optional(*std::move(made)) : std::nullopt;
}

} // namespace

int64_t predictedCycles(const format::Executable &executable) {
  int64_t cycles = 0;
  for (const format::Entry &entry : executable.entries)
    cycles += timing::predictedCycles(executable, entry);
  return cycles;
}

void makeFewerChanges(GeneratedProgram &program, std::vector<NetworkPlan> &plans, const std::vector<Network> &networks,
                      std::vector<Views> &views, const target::Target &target, EstimateCaches &caches,
                      const PlanHost &host) {
  struct Better {
    size_t network;
    NetworkPlan plan;
    std::pair<size_t, DistributionKind> ruledOut;
  };
  std::vector<RuledOut> ruledOut(networks.size());
  int64_t best = predictedCycles(program.executable);
  if (timing::repeatedConfigurationCycles(program.executable) > 0) {
    std::vector<NetworkPlan> tried = plans;
    for (size_t n = 0; n < networks.size(); ++n)
      if (auto plan = planByBuses(networks[n], views[n], target, plans[n],
                                  caches[{plans[n].rectangle.rows, plans[n].rectangle.cols}]))
        tried[n] = *std::move(plan);
    if (auto made = generateWith(networks, views, target, tried); made.ok())
      if (const int64_t cycles = predictedCycles(made->executable); cycles < best) {
        best = cycles;
        program = *std::move(made);
        plans = std::move(tried);
      }
  }
  for (int round = 0; round < kMostRounds && timing::repeatedConfigurationCycles(program.executable) > 0; ++round) {
    std::optional<Better> better;
    for (size_t n = 0; n < networks.size(); ++n) {
      const Rectangle &rectangle = plans[n].rectangle;
      EstimateCache &cache = caches[{rectangle.rows, rectangle.cols}];
      std::optional<PlanChooser> chooser;
      if (JointChoice::applies(networks[n], plans[n].loops))
        chooser.emplace(networks[n], views[n], target, plans[n], cache);
      for (size_t node : groupedNests(networks[n], plans[n])) {
        if (!host.goesOn().ok())
          return;
        const std::pair out(node, kindOf(plans[n].distributions[node]));
        RuledOut all = ruledOut[n];
        all.insert(out);
        std::optional<NetworkPlan> plan;
        if (chooser)
          plan = chooser->choose(all);
        else if (auto made = planNetwork(networks[n], views[n], target, rectangle, plans[n].loops, plans[n].policy,
                                         &cache, std::move(all));
                 made.ok())
          plan = *std::move(made);
        if (!plan || double(plan->estimatedCycles) > kMostWorse * double(plans[n].estimatedCycles))
          continue;
        std::vector<NetworkPlan> tried = plans;
        tried[n] = *plan;
        auto made = generateWith(networks, views, target, tried);
        if (!made.ok())
          continue;
        if (const int64_t cycles = predictedCycles(made->executable); cycles < best) {
          best = cycles;
          program = *std::move(made);
          better = Better{n, *std::move(plan), out};
        }
      }
    }
    if (!better)
      break;
    plans[better->network] = std::move(better->plan);
    ruledOut[better->network].insert(better->ruledOut);
  }
}

} // namespace wsc::spmd
