// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Channels of a model. Every stream is rewritten in terms of units; streams that then look the same (a chain reduce has
// one per column) become one channel, found through a hash of sources and sinks. FIFOs follow, one channel per unit and
// buffer.
#include "runtime/emulator/timing/Hash.h"
#include "runtime/emulator/timing/Model.h"

#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace wsc::emulator::timing {

using namespace format;

namespace {

struct End {
  int32_t slot = 0, unit = 0;
};

struct Taker {
  Sink sink;
  std::span<const Stretch> stretches;
};

class ChannelBuilder {
public:
  ChannelBuilder(const Executable &executable, const Configuration &configuration, const Networks &networks,
                 const UnitTable &table, Model &model, std::vector<int32_t> &split)
      : target(executable.target), configuration(configuration), networks(networks), table(table), model(model),
        split(split), lastSegment(model.slots.size(), -1), sinkPlace(model.slots.size(), -1) {}

  absl::Status streams() {
    for (size_t i = 0; i < networks.streams.size(); ++i) {
      const Stream stream = networks.streams[i];
      model.channelOfStream.push_back(-1);
      for (const ChannelWords &words : channelsOf(configuration, stream))
        if (absl::Status status = channel(stream, words); !status.ok())
          return status;
    }
    std::sort(split.begin(), split.end());
    split.erase(std::unique(split.begin(), split.end()), split.end());
    return absl::OkStatus();
  }

  void add(const Fifo &fifo) {
    model.slots[fifo.slot].process = fifo.pusher;
    model.slots[fifo.slot].popper = fifo.popper;
    SourceSegment segment;
    segment.slot = fifo.slot;
    segment.sourceCount = fifo.words;
    segments.assign(1, segment);
    Sink sink;
    sink.slot = fifo.slot;
    sink.capacity = std::max<int64_t>(1, fifo.capacity);
    sink.latency = sink.credit = 1;
    sink.words = fifo.words;
    sinks.assign(1, {sink, {}});
    Channel channel;
    channel.words = fifo.words;
    channel.fifo = true;
    append(channel);
  }

private:
  absl::StatusOr<End> resolve(const Endpoint &endpoint) {
    End end;
    end.unit = table.unitOf(configuration, endpoint);
    const Unit &unit = model.units[end.unit];
    int32_t thread = 0, slot = 0;
    if (endpoint.role >= 0) {
      slot = endpoint.queue;
      thread = table.queueThread[endpoint.role][endpoint.queue];
      if (thread < 0)
        return absl::InternalError(absl::StrCat("role ", configuration.roles[endpoint.role].name, " queue ", slot,
                                                " carries words that no thread moves"));
    }
    end.slot = unit.firstSlot + slot;
    model.slots[end.slot].process = unit.firstProcess + thread;
    return end;
  }

  int64_t queueDepth(const Endpoint &endpoint) const {
    const Queue &queue = configuration.roles[endpoint.role].queues[endpoint.queue];
    const auto &depths = queue.output ? target.outputQueueWords : target.inputQueueWords;
    return queue.index < depths.size() ? depths[queue.index] : target.routerQueueWords;
  }

  void splitUnit(int32_t unit) {
    if (model.units[unit].cores > 1)
      split.push_back(model.units[unit].role);
  }

  absl::Status channel(const Stream &stream, const ChannelWords &words) {
    segments.clear();
    const std::vector<Segment> &parts = words.parts;
    const Endpoint *taker = takerOfNearest(stream, words), *before = taker; // the one before on the way
    const int32_t nearest = taker ? parts[0].source : -1;
    for (size_t i = 0; i < parts.size();) {
      Segment part = parts[i++];
      for (; i < parts.size() && parts[i].source == part.source && parts[i].begin == part.begin + part.count; ++i)
        part.count += parts[i].count;
      if (part.count == 0)
        continue;
      absl::StatusOr<End> end = resolve(stream.sources[part.source]);
      if (!end.ok())
        return end.status();
      const Endpoint &source = stream.sources[part.source];
      SourceSegment way;
      way.shorterBy = shorterBy(stream, part.source);
      way.firstCol = source.col;
      if (nearest >= 0) {
        if (part.source == nearest) // of a round
          before = taker;
        way.further = hopsBetween(source, stream.sources[nearest]) * target.hopLatencyCycles;
        way.between = hopsBetween(source, *before) * target.routerQueueWords;
        before = &source;
      }
      add(*end, part, way);
    }
    for (const SourceSegment &segment : segments)
      lastSegment[segment.slot] = -1;
    if (segments.empty())
      return absl::OkStatus();
    place();

    sinks.clear();
    std::vector<const ChannelWords::Taken *> takenOf(stream.compositions.size());
    for (const ChannelWords::Taken &taken : words.compositions)
      takenOf[size_t(taken.composition)] = &taken;
    for (size_t s = 0; s < stream.sinks.size(); ++s)
      if (const ChannelWords::Taken *taken = takenOf[size_t(stream.sinkComposition[s])])
        if (absl::Status status = addSink(stream, s, words, *taken, nearest); !status.ok())
          return status;
    for (const Taker &taker : sinks)
      sinkPlace[taker.sink.slot] = -1;
    if (!sinks.empty())
      insert(stream, words.words);
    return absl::OkStatus();
  }

  std::string netName(const Stream &stream) const {
    return stream.net >= 0 && stream.net < int32_t(configuration.nets.size())
               ? configuration.nets[stream.net].name
               : absl::StrCat("colour ", int(stream.colour));
  }

  // The words that fit on the furthest source's way but not on this one's, if all ways are as short as can be.
  int64_t shorterBy(const Stream &stream, int32_t source) const {
    const auto hops = [&](const Endpoint &from) {
      return int64_t(std::abs(from.row - stream.sinks[0].row) + std::abs(from.col - stream.sinks[0].col));
    };
    if (stream.sources.size() < 2 || stream.sinks.empty() || hops(stream.sources[0]) != stream.sinkHops[0])
      return 0;
    return std::max<int64_t>(0, hops(stream.sources[0]) - hops(stream.sources[size_t(source)])) *
           target.routerQueueWords;
  }

  static int64_t hopsBetween(const Endpoint &a, const Endpoint &b) {
    return int64_t(std::abs(a.row - b.row)) + std::abs(a.col - b.col);
  }

  // One who takes the words if they come from one core after another of a line, the nearest first, in rounds; else
  // null. Then routers pass their own core's words before others', so these are on their way while they wait for their
  // turn.
  static const Endpoint *takerOfNearest(const Stream &stream, const ChannelWords &words) {
    if (words.parts.size() < 2 || words.compositions.size() != 1)
      return nullptr;
    const auto taken = std::ranges::find(stream.sinkComposition, words.compositions[0].composition);
    if (taken == stream.sinkComposition.end())
      return nullptr;
    const auto s = size_t(taken - stream.sinkComposition.begin());
    int64_t hops = 0;
    for (const Segment &part : words.parts) {
      const int64_t next = hopsBetween(stream.sources[size_t(part.source)], stream.sinks[s]);
      const bool isNextRound = part.source == words.parts[0].source && hops == stream.sinkHops[s];
      if ((next <= hops && !isNextRound) || stream.sources[size_t(part.source)].role < 0)
        return nullptr;
      hops = next;
    }
    return hops == stream.sinkHops[s] ? &stream.sinks[s] : nullptr;
  }

  // A segment of another core of a unit joins the unit's segment over the same words. `fresh`: says how its words come.
  void add(const End &end, const Segment &part, SourceSegment fresh) {
    const int32_t last = lastSegment[end.slot];
    if (last >= 0 && part.begin < segments[last].sourceBegin + segments[last].sourceCount) {
      for (int32_t s = last; s >= 0; --s) {
        SourceSegment &own = segments[s];
        if (own.slot == end.slot && own.sourceBegin == part.begin && own.sourceCount == part.count) {
          ++own.cores;
          return;
        }
      }
      splitUnit(end.unit);
      return;
    }
    fresh.slot = end.slot;
    fresh.sourceBegin = part.begin;
    fresh.sourceCount = part.count;
    lastSegment[end.slot] = int32_t(segments.size());
    segments.push_back(fresh);
  }

  // First words of the segments in the channel.
  void place() {
    int64_t begin = 0;
    for (SourceSegment &segment : segments) {
      segment.channelBegin = begin;
      begin += segment.words();
    }
  }

  // `nearest`: the source that is, where words come from the nearest first; else -1.
  absl::Status addSink(const Stream &stream, size_t s, const ChannelWords &words, const ChannelWords::Taken &taken,
                       int32_t nearest) {
    const Endpoint &endpoint = stream.sinks[s];
    const int64_t delivered = wordsOf(words, taken);
    if (endpoint.wordsPerSample != delivered)
      return absl::InternalError(absl::StrCat("net ", netName(stream), " delivers ", delivered,
                                              " words to the core at row ", endpoint.row, ", col ", endpoint.col,
                                              ", which takes ", endpoint.wordsPerSample));
    absl::StatusOr<End> end = resolve(endpoint);
    if (!end.ok())
      return end.status();
    const Endpoint &source = stream.sources[size_t(std::max(nearest, 0))];
    const int64_t hops = stream.sinkHops[s];
    // Queues on the way, their words, and the cycles from a word's slot to when it can be used (docs/Timing.md). What
    // moves out over a port is out one hop later, and there is always space.
    Sink sink;
    sink.slot = end->slot;
    sink.words = delivered;
    sink.latency = (nearest < 0 ? hops : hopsBetween(source, endpoint)) * target.hopLatencyCycles;
    sink.capacity = hops * target.routerQueueWords;
    int64_t queues = hops;
    if (source.role >= 0) {
      sink.latency += 1 + target.rampLatencyCycles;
      sink.capacity += queueDepth(source) + target.rampLatencyCycles;
    } else {
      sink.latency += target.hopLatencyCycles;
      sink.capacity += target.routerQueueWords;
    }
    ++queues;
    if (endpoint.role >= 0) {
      sink.latency += target.rampLatencyCycles;
      sink.queueWords = queueDepth(endpoint) + target.rampLatencyCycles;
      sink.capacity += sink.queueWords;
      sink.queueLatency = target.rampLatencyCycles;
      sink.queueCredit = target.creditLatencyCycles;
      ++queues;
    } else {
      sink.latency += target.hopLatencyCycles - 1;
    }
    sink.capacity = std::max<int64_t>(1, sink.capacity);
    sink.credit = target.creditLatencyCycles * queues;
    sink.rowsAway = endpoint.row - source.row;
    sink.colsAway = endpoint.col - source.col;
    sink.straight = stream.sources.size() == 1 && (sink.rowsAway == 0) != (sink.colsAway == 0) && sink.hops() == hops;
    sink.hopWords = target.routerQueueWords;
    for (const Endpoint &from : stream.sources)
      if (table.unitOf(configuration, from) == end->unit) {
        splitUnit(end->unit);
        break;
      }
    int32_t &at = sinkPlace[sink.slot];
    if (at < 0) {
      at = int32_t(sinks.size());
      sinks.push_back({sink, taken.stretches});
    } else if (std::ranges::equal(sinks[at].stretches, taken.stretches)) {
      keepSlower(sinks[at].sink, sink);
    } else {
      splitUnit(end->unit);
    }
    return absl::OkStatus();
  }

  static int64_t wordsOf(const ChannelWords &words, const ChannelWords::Taken &taken) {
    if (taken.stretches.empty())
      return words.words;
    return taken.stretches.back().ownEnd();
  }

  // The longer route stands for both, with its own queues: latency of one and queues of the other would make a buffer
  // that cannot pass a word a cycle.
  static void keepSlower(Sink &kept, const Sink &other) {
    if (std::tie(other.latency, kept.capacity) > std::tie(kept.latency, other.capacity)) {
      kept.latency = other.latency;
      kept.credit = other.credit;
      kept.capacity = other.capacity;
      kept.queueWords = other.queueWords;
      kept.rowsAway = other.rowsAway;
      kept.colsAway = other.colsAway;
      kept.straight = other.straight;
    }
  }

  bool same(int32_t channelIndex, uint8_t colour) const {
    const Channel &channel = model.channels[channelIndex];
    if (channel.colour != colour || channel.numSegments != int32_t(segments.size()) ||
        channel.numSinks != int32_t(sinks.size()))
      return false;
    for (size_t i = 0; i < segments.size(); ++i) {
      const SourceSegment &a = segments[i], &b = model.segments[channel.firstSegment + i];
      if (a.slot != b.slot || a.sourceBegin != b.sourceBegin || a.sourceCount != b.sourceCount || a.cores != b.cores)
        return false;
    }
    for (size_t i = 0; i < sinks.size(); ++i) {
      const Sink &other = model.sinks[channel.firstSink + i];
      if (sinks[i].sink.slot != other.slot || !std::ranges::equal(sinks[i].stretches, model.window(other).stretches))
        return false;
    }
    return true;
  }

  void insert(const Stream &stream, int64_t words) {
    std::sort(sinks.begin(), sinks.end(), [](const Taker &a, const Taker &b) { return a.sink.slot < b.sink.slot; });
    uint64_t hash = stream.colour;
    for (const SourceSegment &segment : segments) {
      hash = mix(hash, uint64_t(segment.slot));
      hash = mix(hash, uint64_t(segment.sourceBegin));
      hash = mix(hash, uint64_t(segment.words()));
    }
    for (const Taker &taker : sinks)
      hash = mix(hash, uint64_t(taker.sink.slot) << 32);
    auto [first, last] = known.equal_range(hash);
    for (auto it = first; it != last; ++it)
      if (same(it->second, stream.colour)) { // keep the slowest of equal streams
        for (size_t i = 0; i < sinks.size(); ++i) {
          Sink &sink = model.sinks[model.channels[it->second].firstSink + i];
          keepSlower(sink, sinks[i].sink);
        }
        own(it->second);
        return;
      }
    known.emplace(hash, int32_t(model.channels.size()));
    own(int32_t(model.channels.size()));
    Channel channel;
    channel.words = words;
    channel.net = stream.net;
    channel.colour = stream.colour;
    append(channel);
  }

  // Notes the channel of the stream under work.
  void own(int32_t channel) {
    if (model.channelOfStream.back() < 0)
      model.channelOfStream.back() = channel;
  }

  void append(Channel channel) {
    channel.firstSegment = int32_t(model.segments.size());
    channel.numSegments = int32_t(segments.size());
    channel.firstSink = int32_t(model.sinks.size());
    channel.numSinks = int32_t(sinks.size());
    model.segments.insert(model.segments.end(), segments.begin(), segments.end());
    for (Taker &taker : sinks) {
      taker.sink.channel = int32_t(model.channels.size());
      taker.sink.firstStretch = int32_t(model.stretches.size());
      taker.sink.numStretches = int32_t(taker.stretches.size());
      model.stretches.insert(model.stretches.end(), taker.stretches.begin(), taker.stretches.end());
      model.sinks.push_back(taker.sink);
    }
    model.channels.push_back(channel);
  }

  const target::Target &target;
  const Configuration &configuration;
  const Networks &networks;
  const UnitTable &table;
  Model &model;
  std::vector<int32_t> &split;

  std::vector<int32_t> lastSegment, sinkPlace; // per slot: place in the stream under work, -1
  std::vector<SourceSegment> segments;
  std::vector<Taker> sinks;
  std::unordered_multimap<uint64_t, int32_t> known;
};

} // namespace

absl::Status buildChannels(const Executable &executable, int configuration, const Networks &networks,
                           const UnitTable &table, Model &model, std::vector<int32_t> &split) {
  ChannelBuilder builder(executable, executable.configurations[configuration], networks, table, model, split);
  if (absl::Status status = builder.streams(); !status.ok())
    return status;
  if (!split.empty())
    return absl::OkStatus();
  absl::StatusOr<std::vector<Fifo>> fifos = findFifos(executable.configurations[configuration], model);
  if (!fifos.ok())
    return fifos.status();
  for (const Fifo &fifo : *fifos)
    builder.add(fifo);
  listEnds(model);
  return absl::OkStatus();
}

} // namespace wsc::emulator::timing
