// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/sizing/CandidateCache.h"

#include "compiler/kernels/network/Guests.h"

#include <algorithm>

namespace wsc::kernels {

// Streams that a kernel takes and makes, and the one between it and its guest or host.
static std::vector<int32_t> streamsAt(const NetworkPlan &network, const KernelPlan &plan) {
  std::vector<int32_t> streams = streamsTaken(network, plan);
  streams.push_back(plan.spec.outStream);
  if (plan.guest >= 0)
    streams.push_back(network.kernels[size_t(plan.guest)].spec.outStream);
  return streams;
}

absl::StatusOr<Candidates> CandidateCache::of(const target::Target &target, NetworkPlan &network, int32_t index,
                                              const Wanted &wanted) {
  const std::vector<int32_t> streams = streamsAt(network, network.kernels[index]);
  Surroundings before{network.grid,
                      {},
                      {network.kernels[index].mapping},
                      wanted,
                      network.kernels[index].guest,
                      network.kernels[index].host};
  for (int32_t s : streams) {
    const StreamPlan &stream = network.streams[s];
    before.layouts.push_back(stream.layout);
    if (stream.producer >= 0)
      before.mappings.push_back(network.kernels[stream.producer].mapping);
    for (int32_t consumer : stream.consumers)
      before.mappings.push_back(network.kernels[consumer].mapping);
  }
  const Entry *known = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex);
    entries.resize(std::max(entries.size(), network.kernels.size()));
    for (const Entry &entry : entries[size_t(index)])
      if (entry.before == before)
        known = &entry;
  }
  if (known) {
    for (size_t i = 0; i < streams.size(); ++i)
      network.streams[streams[i]].layout = known->layoutsAfter[i];
    network.kernels[index].mapping = known->mappingAfter;
    return known->candidates;
  }
  absl::StatusOr<Candidates> candidates = candidatesOf(target, network, index, wanted);
  Entry entry{std::move(before), {}, network.kernels[index].mapping, candidates};
  for (int32_t s : streams)
    entry.layoutsAfter.push_back(network.streams[s].layout);
  std::lock_guard<std::mutex> lock(mutex);
  entries[size_t(index)].push_back(std::move(entry));
  return candidates;
}

} // namespace wsc::kernels
