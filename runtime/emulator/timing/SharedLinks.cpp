// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which channels meet on a link, and how many of the words of each of their sources cross it (RouteWalk.h). Links that
// the same channels cross are one, that with most words. A link says nothing that another does not which as many words
// of each of its channels cross too.
#include "runtime/emulator/timing/Model.h"
#include "runtime/emulator/timing/RouteWalk.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace wsc::emulator::timing {

using namespace format;

namespace {

struct Crossing {
  int64_t link;
  int32_t channel;
  int32_t stream; // of the channel's
  int32_t delay;  // cycles from a word's slot to its turn on the link
  int32_t part;   // of the channel's words, in parts of LinkShare::kAll

  bool operator<(const Crossing &other) const { return std::tie(link, channel) < std::tie(other.link, other.channel); }
};

// Of all streams, sorted by link.
std::vector<Crossing> findCrossings(RouteWalk &walk, const Networks &networks, const std::vector<int32_t> &channelOf) {
  std::vector<int32_t> streams;
  for (size_t s = 0; s < networks.streams.size(); ++s)
    if (channelOf[s] >= 0)
      streams.push_back(int32_t(s));
  std::vector<Crossing> crossings;
  walk.forEach(streams, [&](int32_t s) {
    int64_t all = 0;
    for (const Endpoint &source : networks.streams[size_t(s)].sources)
      all += source.wordsPerSample;
    for (const RouteWalk::Link &link : walk.links())
      crossings.push_back({link.link, channelOf[size_t(s)], s, link.delay,
                           int32_t(LinkShare::kAll * link.words / std::max<int64_t>(1, all))});
  });
  std::sort(crossings.begin(), crossings.end());
  return crossings;
}

using Members = std::vector<int32_t>; // channels that share a link, in order

// Of a link that others with the same members stand back behind.
struct SharedLink {
  const Members *members;
  std::vector<int32_t> parts; // of each member's words
};

// Whether `more` carries as much of each of the members of `less`.
bool carries(const SharedLink &more, const SharedLink &less) {
  size_t at = 0;
  for (size_t m = 0; m < less.members->size(); ++m) {
    while (at < more.members->size() && (*more.members)[at] < (*less.members)[m])
      ++at;
    if (at == more.members->size() || (*more.members)[at] != (*less.members)[m] || more.parts[at] < less.parts[m])
      return false;
  }
  return true;
}

// Drops what another link carries too.
std::vector<bool> largest(const std::vector<SharedLink> &shared, size_t channels) {
  std::vector<std::vector<int32_t>> linksOf(channels);
  for (size_t i = 0; i < shared.size(); ++i)
    for (int32_t channel : *shared[i].members)
      linksOf[size_t(channel)].push_back(int32_t(i));
  std::vector<bool> keep(shared.size(), true);
  for (size_t i = 0; i < shared.size(); ++i) {
    const Members &own = *shared[i].members;
    const int32_t rare = *std::min_element(own.begin(), own.end(), [&](int32_t a, int32_t b) {
      return linksOf[size_t(a)].size() < linksOf[size_t(b)].size();
    });
    for (int32_t other : linksOf[size_t(rare)])
      if (shared[size_t(other)].members->size() > own.size() && carries(shared[size_t(other)], shared[i]))
        keep[i] = false;
  }
  return keep;
}

// A share whose link some of the channel's sources do not reach, maybe.
struct Partial {
  int32_t stream;
  int64_t link;
  size_t share; // of the shares
};

// Sets which part of the words of each of a channel's segments crosses a link: sources that join the way behind it send
// none over it.
void findParts(RouteWalk &walk, const Configuration &configuration, const Networks &networks, const UnitTable &table,
               std::vector<Partial> partials, std::vector<std::pair<int32_t, LinkShare>> &shares, Model &model) {
  std::sort(partials.begin(), partials.end(),
            [](const Partial &a, const Partial &b) { return std::tie(a.stream, a.link) < std::tie(b.stream, b.link); });
  std::vector<int32_t> streams;
  for (const Partial &partial : partials)
    if (streams.empty() || streams.back() != partial.stream)
      streams.push_back(partial.stream);
  struct Words {
    int64_t all = 0, crossing = 0;
  };
  std::map<int32_t, Words> wordsOf; // per slot
  walk.forEach(streams, [&](int32_t s) {
    const std::span<const Endpoint> sources = networks.streams[size_t(s)].sources;
    auto partial = std::lower_bound(partials.begin(), partials.end(), s,
                                    [](const Partial &p, int32_t stream) { return p.stream < stream; });
    for (; partial != partials.end() && partial->stream == s; ++partial) {
      const std::vector<bool> &crosses = walk.crosses(partial->link);
      wordsOf.clear();
      for (size_t i = 0; i < sources.size(); ++i) {
        const Unit &unit = model.units[size_t(table.unitOf(configuration, sources[i]))];
        Words &words = wordsOf[unit.firstSlot + (sources[i].role < 0 ? 0 : sources[i].queue)];
        words.all += sources[i].wordsPerSample;
        words.crossing += crosses[i] ? sources[i].wordsPerSample : 0;
      }
      auto &[channel, share] = shares[partial->share];
      share.firstPart = int32_t(model.linkParts.size());
      const Channel &owner = model.channels[size_t(channel)];
      for (int32_t g = owner.firstSegment; g < owner.firstSegment + owner.numSegments; ++g) {
        const Words &words = wordsOf[model.segments[size_t(g)].slot];
        model.linkParts.push_back(words.all > 0 ? int32_t(LinkShare::kAll * words.crossing / words.all) : share.part);
      }
    }
  });
}

} // namespace

void findSharedLinks(const target::Target &target, const Configuration &configuration, const Networks &networks,
                     const UnitTable &table, Model &model) {
  RouteWalk walk(target, configuration, networks);
  const std::vector<Crossing> crossings = findCrossings(walk, networks, model.channelOfStream);
  std::map<Members, size_t> firstCrossing; // of the link with most words
  const auto partsFrom = [&](size_t at) {
    int64_t words = 0;
    for (const int64_t link = crossings[at].link; at < crossings.size() && crossings[at].link == link; ++at)
      words += model.channels[size_t(crossings[at].channel)].words * crossings[at].part;
    return words;
  };
  Members members;
  for (size_t begin = 0, end = 0; begin < crossings.size(); begin = end) {
    members.clear();
    for (; end < crossings.size() && crossings[end].link == crossings[begin].link; ++end)
      if (members.empty() || members.back() != crossings[end].channel)
        members.push_back(crossings[end].channel);
    if (members.size() < 2)
      continue;
    size_t &first = firstCrossing.try_emplace(members, begin).first->second;
    if (partsFrom(begin) > partsFrom(first))
      first = begin;
  }
  std::vector<SharedLink> shared;
  std::vector<size_t> firstOf;
  for (const auto &[members, begin] : firstCrossing) {
    SharedLink &link = shared.emplace_back(SharedLink{&members, {}});
    firstOf.push_back(begin);
    int32_t channel = -1;
    for (size_t at = begin; at < crossings.size() && crossings[at].link == crossings[begin].link; ++at)
      if (std::exchange(channel, crossings[at].channel) != crossings[at].channel)
        link.parts.push_back(crossings[at].part);
  }
  const std::vector<bool> keep = largest(shared, model.channels.size());
  std::vector<std::pair<int32_t, LinkShare>> shares;
  std::vector<Partial> partials;
  for (size_t i = 0; i < shared.size(); ++i) {
    if (!keep[i])
      continue;
    size_t at = firstOf[i];
    const int64_t link = crossings[at].link;
    int32_t member = -1, channel = -1;
    int64_t cycles = 0;
    for (; at < crossings.size() && crossings[at].link == link; ++at)
      if (std::exchange(channel, crossings[at].channel) != crossings[at].channel) {
        LinkShare share{int32_t(model.linkMembers.size()), ++member, crossings[at].delay, 0, crossings[at].part};
        const Endpoint &source = networks.streams[size_t(crossings[at].stream)].sources[0];
        const auto [row, col] = RouteWalk::end(target, link);
        share.rowsAway = row - source.row;
        share.colsAway = col - source.col;
        cycles += share.cycles(model.channels[size_t(channel)]);
        if (share.part < LinkShare::kAll && model.channels[size_t(channel)].numSegments > 1)
          partials.push_back({crossings[at].stream, link, shares.size()});
        shares.emplace_back(channel, share);
      }
    model.linkMembers.push_back(member + 1);
    model.linkCycles.push_back(cycles);
  }
  findParts(walk, configuration, networks, table, std::move(partials), shares, model);
  std::sort(shares.begin(), shares.end(), [](const auto &a, const auto &b) {
    return std::tie(a.first, a.second.link) < std::tie(b.first, b.second.link);
  });
  for (const auto &[channel, share] : shares) {
    Channel &owner = model.channels[size_t(channel)];
    if (owner.numLinks++ == 0)
      owner.firstLink = int32_t(model.linkShares.size());
    model.linkShares.push_back(share);
  }
}

} // namespace wsc::emulator::timing
