// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/sizing/CandidateCache.h"

#include "compiler/kernels/network/CoLocation.h"
#include "compiler/kernels/programs/KernelRows.h"
#include "compiler/kernels/sizing/Surroundings.h"

namespace wsc::kernels {

absl::StatusOr<Candidates> CandidateCache::of(const target::Target &target, NetworkPlan &network, int32_t index,
                                              const Wanted &wanted) {
  KernelPlan &plan = network.kernels[size_t(index)];
  if (plan.spec.state)
    return candidatesOf(target, network, index, wanted);
  const std::vector<int32_t> streams = streamsAt(network, plan);
  std::vector<int64_t> surroundings = surroundingsOf(target, network, index, wanted);
  const Entry *known = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (const auto entry = entries.find(surroundings); entry != entries.end())
      known = &entry->second; // stays where it is
  }
  if (known) {
    for (size_t i = 0; i < streams.size(); ++i)
      network.streams[size_t(streams[i])].layout = known->layoutsAfter[i];
    plan.mapping = known->mappingAfter;
    sliceCoLocated(network, plan);
    for (int32_t s : streamsTaken(network, plan))
      layOutLanes(network, s);
    Candidates candidates = known->candidates;
    candidates.kernel.name = plan.spec.name;
    return candidates;
  }
  absl::StatusOr<Candidates> candidates = candidatesOf(target, network, index, wanted);
  if (!candidates.ok()) // says which kernel it is
    return candidates;
  Entry entry{*candidates, plan.mapping, {}};
  for (int32_t s : streams)
    entry.layoutsAfter.push_back(network.streams[size_t(s)].layout);
  std::lock_guard<std::mutex> lock(mutex);
  entries.try_emplace(std::move(surroundings), std::move(entry));
  return candidates;
}

} // namespace wsc::kernels
