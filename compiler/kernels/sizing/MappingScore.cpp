// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/sizing/MappingScore.h"

#include "compiler/kernels/routes/ChooseTurns.h"
#include "compiler/kernels/routes/LinkLoads.h"

#include <algorithm>
#include <set>

namespace wsc::kernels {

int64_t ioCycles(const target::Target &target, const NetworkPlan &network) {
  int64_t words = 0;
  for (const auto *tensors : {&network.inputs, &network.outputs})
    for (const format::TensorType &tensor : *tensors)
      words += tensor.elements();
  return int64_t(double(words) / target.ioWordsPerCycle());
}

static int64_t slowestKernel(const NetworkPlan &network) {
  int64_t slowest = 0;
  for (const KernelPlan &plan : network.kernels)
    slowest = std::max(slowest, plan.predictedIntervalCycles);
  return slowest;
}

MappingScore leastScoreOf(const target::Target &target, const NetworkPlan &network) {
  return {std::max(slowestKernel(network), ioCycles(target, network)),
          wordHopsOf(networkLoads(target, network, straightRoutes(target, network))),
          {}};
}

MappingScore scoreOf(const target::Target &target, const NetworkPlan &network) {
  MappingScore score;
  const std::vector<LaneRoute> lanes = laneRoutes(target, network);
  const NetworkLoads loads = networkLoads(target, network, lanes);
  score.wordHops = wordHopsOf(loads);
  const LinkLoad link = busiestLink(loads);
  const int64_t slowest = slowestKernel(network);
  score.intervalCycles = std::max({slowest, link.words, ioCycles(target, network)});

  // Nets are streams by name, and what flows inside kernels.
  const bool byLink = link.words >= slowest;
  std::set<int32_t> streams;
  for (const KernelPlan &plan : network.kernels) {
    const std::string &name = plan.spec.name;
    const bool onLink = std::any_of(link.nets.begin(), link.nets.end(), [&](const std::string &net) {
      return net == name + " row" || net == name + " chain";
    });
    if (byLink ? !onLink : plan.predictedIntervalCycles < slowest)
      continue;
    streams.insert(plan.spec.outStream);
    for (const KernelInput &input : plan.spec.inputs)
      streams.insert(input.streams.begin(), input.streams.end());
  }
  for (size_t s = 0; s < network.streams.size() && byLink; ++s)
    if (std::find(link.nets.begin(), link.nets.end(), network.streams[s].name) != link.nets.end())
      streams.insert(int32_t(s));
  score.bottleneck.assign(streams.begin(), streams.end());
  return score;
}

} // namespace wsc::kernels
