// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the flow: a topological order of "sends words to"; where only cycles are left, the process with the
// smallest number goes first.
#include "runtime/emulator/timing/Worklist.h"

#include <algorithm>
#include <utility>

namespace wsc::emulator::timing {

namespace {

// Pairs (source, sink), each once.
std::vector<std::pair<int32_t, int32_t>> flowEdges(const Model &model) {
  std::vector<std::pair<int32_t, int32_t>> edges;
  for (const Channel &channel : model.channels) {
    int32_t before = -1;
    for (int32_t s = channel.firstSegment; s < channel.firstSegment + channel.numSegments; ++s) {
      const int32_t from = model.slots[model.segments[s].slot].process;
      if (std::exchange(before, from) == from)
        continue;
      for (int32_t k = channel.firstSink; k < channel.firstSink + channel.numSinks; ++k)
        if (model.sinks[k].process != from)
          edges.emplace_back(from, model.sinks[k].process);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

} // namespace

Worklist::Worklist(const Model &model) : placeOf(model.processes.size(), -1) {
  const size_t n = model.processes.size();
  const std::vector<std::pair<int32_t, int32_t>> edges = flowEdges(model);
  std::vector<size_t> firstEdge(n + 1);
  std::vector<int32_t> missing(n);
  for (const auto &[from, to] : edges) {
    ++firstEdge[size_t(from) + 1];
    ++missing[to];
  }
  for (size_t p = 0; p < n; ++p)
    firstEdge[p + 1] += firstEdge[p];
  const auto place = [&](int32_t p) {
    placeOf[p] = int32_t(processAt.size());
    processAt.push_back(p);
  };
  for (size_t p = 0; p < n; ++p)
    if (missing[p] == 0)
      place(int32_t(p));
  int32_t smallest = 0; // of those without a place
  for (size_t head = 0; head < n; ++head) {
    if (head == processAt.size()) {
      while (placeOf[smallest] >= 0)
        ++smallest;
      place(smallest);
    }
    const auto p = size_t(processAt[head]);
    for (size_t e = firstEdge[p]; e < firstEdge[p + 1]; ++e)
      if (const int32_t to = edges[e].second; --missing[to] == 0 && placeOf[to] < 0)
        place(to);
  }
  waiting.assign(n / 64 + 1, 0);
  late = waiting;
}

} // namespace wsc::emulator::timing
