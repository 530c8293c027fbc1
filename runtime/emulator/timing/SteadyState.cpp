// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/timing/SteadyState.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace wsc::emulator::timing {

// Threads of a core share its issue slots, ends of a channel its words and space.
SteadyState::SteadyState(const Model &model) : component(model.processes.size()) {
  std::vector<int32_t> parent(model.processes.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int32_t p) {
    while (parent[p] != p)
      p = parent[p] = parent[parent[p]];
    return p;
  };
  for (const Unit &unit : model.units)
    for (int32_t t = 1; t < unit.numProcesses; ++t)
      parent[root(unit.firstProcess + t)] = root(unit.firstProcess);
  for (const Channel &channel : model.channels) {
    const int32_t first = root(model.slots[model.segments[channel.firstSegment].slot].process);
    for (int32_t s = channel.firstSegment + 1; s < channel.firstSegment + channel.numSegments; ++s)
      parent[root(model.slots[model.segments[s].slot].process)] = first;
    for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s)
      parent[root(model.sinks[s].process)] = first;
  }
  for (size_t p = 0; p < parent.size(); ++p)
    component[p] = root(int32_t(p)) == int32_t(p) ? numComponents++ : -1;
  for (size_t p = 0; p < parent.size(); ++p)
    component[p] = component[root(int32_t(p))];
}

void SteadyState::add(const Simulation &simulation) {
  if (finished.size() == kWindow)
    finished.erase(finished.begin());
  std::vector<int64_t> &now = finished.emplace_back(component.size());
  for (size_t p = 0; p < now.size(); ++p)
    now[p] = simulation.process(int32_t(p)).finished;
  most = kUnknown;
  least = 0;
  std::vector<int64_t> smallest(numComponents);
  for (size_t back = 1; back < finished.size(); ++back) {
    const std::vector<int64_t> &then = finished[finished.size() - 1 - back];
    const auto samples = int64_t(back);
    int64_t largest = 0;
    std::fill(smallest.begin(), smallest.end(), std::numeric_limits<int64_t>::max());
    for (size_t p = 0; p < now.size(); ++p) {
      largest = std::max(largest, now[p] - then[p]);
      smallest[component[p]] = std::min(smallest[component[p]], now[p] - then[p]);
    }
    most = std::min(most, (largest + samples - 1) / samples);
    for (int64_t difference : smallest)
      least = std::max(least, (difference + samples - 1) / samples);
  }
}

} // namespace wsc::emulator::timing
