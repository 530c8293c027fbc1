// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flattens the streams of a configuration.
#include "runtime/emulator/WaveStreams.h"

#include "runtime/emulator/LatticeWalk.h"

#include "absl/strings/str_cat.h"

#include <limits>

namespace wsc::emulator {

using namespace format;

absl::StatusOr<WaveStreams> layStreams(const Configuration &configuration, const Networks &networks,
                                       const WavePlan &plan) {
  WaveStreams all;
  const auto queues = int64_t(networks.streamTable.size());
  int64_t lanes = 0;
  for (const IoBinding &binding : configuration.io)
    lanes += binding.ports.size();
  if (queues + lanes > std::numeric_limits<int32_t>::max())
    return absl::ResourceExhaustedError(absl::StrCat("configuration ", configuration.name, ": ", queues, " queues and ",
                                                     lanes, " io lanes; the engine numbers up to 2147483647"));
  all.ports = queues;
  for (std::vector<int32_t> *ports : {&all.portStream, &all.portComposition, &all.portSource}) {
    ports->reserve(size_t(queues + lanes));
    ports->assign(size_t(queues), -1);
  }

  const auto portOf = [&](const Endpoint &end, std::vector<WaveLane> &list) {
    if (end.role < 0) {
      list.push_back({end.binding, int32_t(all.ports++), end.index, end.wordsPerSample});
      all.portStream.push_back(-1);
      all.portComposition.push_back(-1);
      all.portSource.push_back(-1);
      return list.back().port;
    }
    const Role &role = configuration.roles[size_t(end.role)];
    return int32_t(networks.roleOffset[size_t(end.role)] +
                   latticeOrdinal(role.cores, end.index) * int64_t(role.queues.size()) + end.queue);
  };
  int32_t number = 0;
  for (const Stream &stream : networks.streams) {
    all.streamSources.push_back(uint32_t(all.sources.size()));
    all.streamSinks.push_back(uint32_t(all.sinks.size()));
    int64_t words = 0;
    for (const Endpoint &source : stream.sources) {
      const int32_t port = portOf(source, all.inputs);
      all.portStream[size_t(port)] = number;
      all.sources.push_back(port);
      words += source.wordsPerSample;
    }
    if (words > std::numeric_limits<int32_t>::max())
      return absl::ResourceExhaustedError(absl::StrCat("configuration ", configuration.name, ": a stream of ", words,
                                                       " words per sample; the engine counts up to 2147483647"));
    all.words += words;
    const int32_t *sources = all.sources.data() + all.streamSources.back();
    const auto firstComposition = int32_t(all.compositionSegments.size());
    for (size_t c = 0; c < stream.compositions.size(); ++c) {
      all.compositionSegments.push_back(uint32_t(all.segments.size()));
      for (const Segment &segment : stream.compositions[c])
        all.segments.push_back({sources[segment.source], segment.begin, segment.count});
    }
    // Of one source the words come in order; of several all sinks must see all.
    bool drains = true;
    for (size_t k = 0; k < stream.sinks.size(); ++k) {
      const Endpoint &sink = stream.sinks[k];
      const int32_t port = portOf(sink, all.outputs);
      all.portStream[size_t(port)] = number;
      all.portComposition[size_t(port)] = firstComposition + stream.sinkComposition[k];
      if (const auto &seen = stream.compositions[size_t(stream.sinkComposition[k])];
          seen.size() == 1 && seen[0].begin == 0 &&
          seen[0].count == stream.sources[size_t(seen[0].source)].wordsPerSample)
        all.portSource[size_t(port)] = sources[seen[0].source];
      const int32_t core = sink.role < 0
                               ? -1
                               : int32_t(plan.roles[size_t(sink.role)].core +
                                         latticeOrdinal(configuration.roles[size_t(sink.role)].cores, sink.index));
      all.sinks.push_back({port, core});
      drains = drains && core >= 0 && (stream.sources.size() == 1 || sink.wordsPerSample == words);
    }
    all.streamDrains.push_back(drains);
    ++number;
  }
  all.streamSources.push_back(uint32_t(all.sources.size()));
  all.streamSinks.push_back(uint32_t(all.sinks.size()));
  all.compositionSegments.push_back(uint32_t(all.segments.size()));
  all.sources.shrink_to_fit();
  all.sinks.shrink_to_fit();
  all.segments.shrink_to_fit();
  return all;
}

} // namespace wsc::emulator
