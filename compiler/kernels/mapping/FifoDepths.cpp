// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/mapping/FifoDepths.h"

#include <algorithm>

namespace wsc::kernels {

// `arrival` is when a stream's first sample is complete, uncontended.
absl::Status chooseFifos(const target::Target &target, NetworkPlan &network, int64_t intervalCycles,
                         std::vector<PassRequest> &requests) {
  constexpr int64_t kMostSamples = 16; // asked of a kernel that is there for its FIFO
  std::vector<int64_t> arrival(network.streams.size(), 0);
  std::vector<int64_t> held(network.streams.size(), 0); // samples that kernels which only pass a stream on hold for it
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    KernelPlan &plan = network.kernels[k];
    int64_t latest = 0;
    for (const KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams)
        latest = std::max(latest, arrival[stream]);
    if (plan.coLocated >= 0) { // whose FIFOs are those of its feeders
      auto cost = kernelCost(target, network, int32_t(k));
      if (!cost.ok())
        return cost.status();
      arrival[plan.spec.outStream] = latest + cost->latencyCycles;
      continue;
    }
    // Samples held ahead let groups of rows drift apart without holding each other up; feeders have SRAM to spare for
    // them.
    bool passes = plan.spec.kind == KernelKind::Elementwise && plan.spec.tileOps.empty() &&
                  plan.spec.inputs.size() == 1 && plan.spec.inputs[0].streams.size() == 1;
    constexpr int64_t kOfFeeders = 8, kOfOthers = 4;
    const int64_t ahead = plan.spec.kind == KernelKind::Contraction || plan.host >= 0 ? kOfFeeders : kOfOthers;
    const size_t cores = plan.host >= 0 ? size_t(plan.host) : k;
    std::vector<int64_t> wanted;
    for (const KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams)
        wanted.push_back(
            passes ? kMostSamples
                   : std::max(ahead, ahead - held[stream] +
                                         ceilDiv(latest - arrival[stream], std::max<int64_t>(1, intervalCycles))));
    // The largest common reduction that fits: shorten the deepest FIFO until the kernel's cores hold it.
    plan.mapping.fifoSamples = wanted;
    for (;;) {
      auto cost = kernelCost(target, network, int32_t(cores));
      if (cost.ok()) {
        if (plan.host >= 0)
          cost = kernelCost(target, network, int32_t(k));
        arrival[plan.spec.outStream] = latest + cost->latencyCycles;
        break;
      }
      auto deepest = std::max_element(plan.mapping.fifoSamples.begin(), plan.mapping.fifoSamples.end());
      if (*deepest == 1)
        return cost.status();
      --*deepest;
    }
    if (passes) {
      int32_t in = plan.spec.inputs[0].streams[0];
      held[plan.spec.outStream] = held[in] + plan.mapping.fifoSamples[0];
      continue;
    }
    // Where a join does not hold what it wants, a kernel before it can. A co-located kernel would want less on cores of
    // its own.
    const int64_t less = plan.host >= 0 ? kOfFeeders - kOfOthers : 0;
    size_t ordinal = 0;
    for (const KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams) {
        if (plan.mapping.fifoSamples[ordinal] < wanted[ordinal] - less && wanted[ordinal] > ahead)
          requests.push_back({stream, int32_t(k)});
        ++ordinal;
      }
  }
  return absl::OkStatus();
}

} // namespace wsc::kernels
