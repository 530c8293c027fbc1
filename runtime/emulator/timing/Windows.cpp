// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A filter says at which places of the unfiltered words those of a composition stood. All compositions are laid over
// each other by these places: if two never disagree about whose word stands there, they are windows of the same words.
#include "runtime/emulator/timing/Windows.h"

#include <map>
#include <tuple>

namespace wsc::emulator::timing {

using namespace format;

namespace {

struct Placed {
  int64_t at = 0; // among the unfiltered words of a sample
  Segment part;
  int32_t composition = 0;
};

struct Run {
  int64_t at = 0, end = 0; // unfiltered
  int64_t begin = 0;       // in the channel
  Segment part;

  bool continues(const Placed &placed) const {
    return placed.part.source == part.source && placed.part.begin - part.begin == placed.at - at;
  }
};

// What passes to a sink, in terms of unfiltered words.
struct Pass {
  int64_t period = 1, begin = 0, words = 1;
};

Pass passOf(const Configuration &configuration, const Endpoint &sink) {
  if (sink.role < 0)
    return {};
  const Filter &filter = configuration.roles[size_t(sink.role)].queues[size_t(sink.queue)].filter;
  if (filter.period <= 0)
    return {};
  return {filter.period, filter.begin.at(sink.index), std::max<int64_t>(1, filter.words.at(sink.index))};
}

// The parts of composition `k`, cut where its filter leaves words out.
void lay(std::span<const Segment> composition, const Pass &pass, int32_t k, std::vector<Placed> &placed) {
  int64_t own = 0;
  for (Segment part : composition)
    while (part.count > 0) {
      const int64_t left = pass.period == pass.words ? part.count : pass.words - own % pass.words;
      const auto count = int32_t(std::min<int64_t>(part.count, left));
      placed.push_back(
          {own / pass.words * pass.period + pass.begin + own % pass.words, {part.source, part.begin, count}, k});
      own += count;
      part.begin += count;
      part.count -= count;
    }
}

// Joins a stretch to those before it: to the last one if it goes on where that ends or repeats it.
void append(std::vector<Stretch> &stretches, Stretch next) {
  if (!stretches.empty()) {
    Stretch &last = stretches.back();
    if (last.count == 1 && next.begin == last.begin + last.words) {
      last.words += next.words;
      last.period = last.words;
      return;
    }
    const int64_t period = last.count == 1 ? next.begin - last.begin : last.period;
    if (next.words == last.words && next.begin == last.begin + last.count * period) {
      last.period = period;
      ++last.count;
      return;
    }
  }
  stretches.push_back(next);
}

// Words of `placed`, sorted by place, as runs of one source; false: they disagree.
bool findRuns(const std::vector<Placed> &placed, std::vector<Run> &runs) {
  for (const Placed &part : placed) {
    if (part.part.count == 0)
      continue;
    const int64_t end = part.at + part.part.count;
    if (!runs.empty() && part.at <= runs.back().end && runs.back().continues(part)) {
      runs.back().end = std::max(runs.back().end, end);
      continue;
    }
    if (!runs.empty() && part.at < runs.back().end)
      return false;
    runs.push_back({part.at, end, 0, part.part});
  }
  int64_t begin = 0;
  for (Run &run : runs) {
    run.begin = begin;
    run.part.count = int32_t(run.end - run.at);
    begin += run.part.count;
  }
  return true;
}

ChannelWords alone(std::span<const Segment> composition, int32_t k) {
  ChannelWords channel;
  channel.parts.assign(composition.begin(), composition.end());
  for (const Segment &part : composition)
    channel.words += part.count;
  channel.compositions.push_back({k, {}});
  return channel;
}

// Compositions over the same number of unfiltered words; false: not all of them are windows of the same words.
bool lieTogether(const Stream &stream, const std::vector<std::pair<int32_t, Pass>> &members, ChannelWords &channel) {
  std::vector<Placed> placed;
  for (const auto &[k, pass] : members)
    lay(stream.compositions[size_t(k)], pass, k, placed);
  std::sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) {
    return std::tie(a.at, a.composition) < std::tie(b.at, b.composition);
  });
  std::vector<Run> runs;
  if (!findRuns(placed, runs))
    return false;
  std::map<int32_t, size_t> memberOf;
  for (const auto &[k, pass] : members) {
    memberOf[k] = channel.compositions.size();
    channel.compositions.push_back({k, {}});
  }
  for (const Run &run : runs) {
    channel.parts.push_back(run.part);
    channel.words += run.part.count;
  }
  std::vector<int64_t> own(members.size());
  size_t r = 0;
  for (const Placed &part : placed) {
    if (part.part.count == 0)
      continue;
    while (runs[r].end <= part.at)
      ++r;
    const size_t member = memberOf[part.composition];
    const int64_t words = part.part.count;
    append(channel.compositions[member].stretches,
           {own[member], runs[r].begin + part.at - runs[r].at, words, words, 1});
    own[member] += words;
  }
  for (ChannelWords::Taken &taken : channel.compositions)
    if (taken.stretches.size() == 1 && taken.stretches[0].ownEnd() == channel.words)
      taken.stretches.clear();
  return true;
}

} // namespace

std::vector<ChannelWords> channelsOf(const Configuration &configuration, const Stream &stream) {
  std::vector<ChannelWords> channels;
  if (stream.compositions.size() == 1) {
    channels.push_back(alone(stream.compositions[0], 0));
    return channels;
  }
  std::vector<int32_t> sinkOf(stream.compositions.size(), -1); // one that takes the composition
  for (size_t s = 0; s < stream.sinks.size(); ++s)
    sinkOf[size_t(stream.sinkComposition[s])] = int32_t(s);
  std::map<int64_t, std::vector<std::pair<int32_t, Pass>>> byLength;
  for (size_t k = 0; k < stream.compositions.size(); ++k) {
    if (sinkOf[k] < 0)
      continue;
    const Pass pass = passOf(configuration, stream.sinks[size_t(sinkOf[k])]);
    int64_t words = 0;
    for (const Segment &part : stream.compositions[k])
      words += part.count;
    byLength[(words + pass.words - 1) / pass.words * pass.period].emplace_back(int32_t(k), pass);
  }
  for (const auto &[length, members] : byLength) {
    ChannelWords together;
    if (members.size() > 1 && lieTogether(stream, members, together)) {
      channels.push_back(std::move(together));
      continue;
    }
    for (const auto &[k, pass] : members)
      channels.push_back(alone(stream.compositions[size_t(k)], k));
  }
  return channels;
}

} // namespace wsc::emulator::timing
