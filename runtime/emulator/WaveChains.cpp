// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/WaveChains.h"

#include "runtime/emulator/WaveRecord.h"

#include <algorithm>
#include <tuple>

namespace wsc::emulator {

bool operator==(const ChainForm &x, const ChainForm &y) {
  return std::ranges::equal(x.inWords, y.inWords) && std::ranges::equal(x.runStep, y.runStep) &&
         (x.plan == y.plan || *x.plan == *y.plan);
}

bool isChainable(const PlanVariant &variant) {
  const NestPlan &plan = variant.plan;
  constexpr size_t kMostTaps = 8;
  return plan.shortRows && plan.narrow[0].lanes > 1 && plan.phases == 1 && plan.taps.size() <= kMostTaps &&
         plan.outer.size() == 1 && plan.outer[0].acc == 0 && plan.outer[0].vec == 0 && plan.outer[0].scl == 0 &&
         !variant.widened[0].widen && !variant.widened[1].widen;
}

void sortChains(const std::vector<std::array<int64_t, 2>> &sources, std::span<RecordedChain> chains) {
  std::sort(chains.begin(), chains.end(), [&](const RecordedChain &x, const RecordedChain &y) {
    return std::tie(sources[x.first], x.core) < std::tie(sources[y.first], y.core);
  });
}

void joinLinks(WaveRecord &record) {
  std::vector<WaveRecord::Stream> &streams = record.streams;
  for (const WaveRecord::Stream &stream : streams)
    for (const RecordedLink &link : stream.links)
      if (link.before >= 0)
        streams[size_t(link.streamBefore)].links[size_t(link.before)].goesOn = true;
  std::vector<const RecordedLink *> chain; // from its end on
  for (WaveRecord::Stream &stream : streams) {
    for (size_t s = 0; s < stream.steps.size(); ++s) {
      RecordedStep &step = stream.steps[s];
      if (step.kind != RecordedStep::Kind::Chains)
        continue;
      const size_t firstLink = step.chains.first;
      step.chains = {uint32_t(stream.chains.size()), 0};
      for (int32_t core = 0; core < step.cores; ++core) {
        const RecordedLink *link = &stream.links[firstLink + size_t(core)];
        if (link->goesOn)
          continue;
        chain.assign(1, link);
        for (; link->before >= 0; chain.push_back(link))
          link = &streams[size_t(link->streamBefore)].links[size_t(link->before)];
        stream.chains.push_back({link->add, uint32_t(stream.chainSources.size()), uint32_t(chain.size()), core});
        for (auto it = chain.rbegin(); it != chain.rend(); ++it)
          stream.chainSources.push_back({(*it)->source[0], (*it)->source[1]});
        ++step.chains.count;
      }
      sortChains(stream.chainSources, std::span(stream.chains).subspan(step.chains.first));
    }
  }
  for (WaveRecord::Stream &stream : streams)
    std::vector<RecordedLink>().swap(stream.links);
}

} // namespace wsc::emulator
