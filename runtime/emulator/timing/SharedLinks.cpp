// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which channels meet on a link, and how many of their words cross it: routes are followed from every source, and words
// added up where they join. Links that the same channels cross are one, that with most words. A link says nothing that
// another does not which as many words of each of its channels cross too.
#include "runtime/emulator/timing/Model.h"

#include "runtime/emulator/LatticeWalk.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace wsc::emulator::timing {

using namespace format;

namespace {

constexpr int kSides = 4;
constexpr int kOpposite[kSides] = {int(Port::South), int(Port::North), int(Port::West), int(Port::East)};

struct Crossing {
  int64_t link;
  int32_t channel;
  int32_t delay; // cycles from a word's slot to its turn on the link
  int32_t part;  // of the channel's words, in parts of LinkShare::kAll

  bool operator<(const Crossing &other) const { return std::tie(link, channel) < std::tie(other.link, other.channel); }
};

class RouteWalk {
public:
  RouteWalk(const target::Target &target, const Configuration &configuration, const Networks &networks,
            const std::vector<int32_t> &channelOf)
      : target(target), configuration(configuration), networks(networks), channelOf(channelOf),
        roleAt(size_t(target.rows) * target.cols, -1), seen(size_t(target.rows) * target.cols * kSides, -1) {}

  // Of all streams, sorted by link.
  std::vector<Crossing> run() {
    std::vector<std::vector<int32_t>> routers(256), streams(256);
    for (size_t r = 0; r < configuration.routers.size(); ++r)
      routers[configuration.routers[r].colour].push_back(int32_t(r));
    for (size_t s = 0; s < networks.streams.size(); ++s)
      if (channelOf[s] >= 0)
        streams[networks.streams[s].colour].push_back(int32_t(s));
    for (int colour = 0; colour < 256; ++colour) {
      if (streams[colour].empty())
        continue;
      place(routers[colour], true);
      for (int32_t s : streams[colour])
        follow(s);
      place(routers[colour], false);
    }
    std::sort(crossings.begin(), crossings.end());
    return std::move(crossings);
  }

private:
  struct Arrival {
    int64_t router;
    int port, delay;
    int32_t from; // of `walked`: the link that leads here, or -1 and these words
    int64_t words;
  };
  struct Walked {
    int64_t link;
    int32_t delay;
    int64_t words = 0;
    int32_t waits = 0; // ways in whose words are not counted yet
  };

  void place(const std::vector<int32_t> &routerRoles, bool there) {
    for (int32_t r : routerRoles)
      forEachPoint(configuration.routers[r].routers, [&](const LatticeIndex &, int32_t row, int32_t col) {
        if (row >= 0 && row < target.rows && col >= 0 && col < target.cols)
          roleAt[size_t(row) * target.cols + col] = there ? r : -1;
        return true;
      });
  }

  int64_t neighbour(int64_t router, int side) const {
    const int64_t row = router / target.cols, col = router % target.cols;
    switch (Port(side)) {
    case Port::North:
      return row > 0 ? router - target.cols : -1;
    case Port::South:
      return row + 1 < target.rows ? router + target.cols : -1;
    case Port::East:
      return col + 1 < target.cols ? router + 1 : -1;
    default:
      return col > 0 ? router - 1 : -1;
    }
  }

  // Every link once, with the words of all sources whose ways lead there.
  void follow(int32_t s) {
    const Stream stream = networks.streams[s];
    int64_t all = 0;
    for (const Endpoint &source : stream.sources) {
      const int64_t router = int64_t(source.row) * target.cols + source.col;
      const int port = source.role >= 0 ? int(Port::Ramp) : int(configuration.io[source.binding].side);
      const int delay = source.role >= 0 ? 1 + target.rampLatencyCycles : target.hopLatencyCycles;
      reached.push_back({router, port, delay, -1, source.wordsPerSample});
      all += source.wordsPerSample;
    }
    for (size_t i = 0; i < reached.size(); ++i)
      pass(reached[i]);
    count();
    for (const Walked &link : walked)
      crossings.push_back(
          {link.link, channelOf[s], link.delay, int32_t(LinkShare::kAll * link.words / std::max<int64_t>(1, all))});
    firstWalked += int64_t(walked.size());
    reached.clear();
    walked.clear();
    ways.clear();
  }

  void pass(Arrival at) {
    if (roleAt[at.router] < 0)
      return;
    for (const SwitchPosition &position : configuration.routers[roleAt[at.router]].positions) {
      if (int(position.input) != at.port)
        continue;
      for (int side = 0; side < kSides; ++side) {
        const int64_t link = at.router * kSides + side;
        if (!(position.outputs & (1u << side)))
          continue;
        const bool fresh = seen[link] < firstWalked;
        if (fresh) {
          seen[link] = firstWalked + int64_t(walked.size());
          walked.push_back({link, at.delay});
        }
        const auto to = int32_t(seen[link] - firstWalked);
        if (at.from < 0) {
          walked[size_t(to)].words += at.words;
        } else {
          ways.emplace_back(at.from, to);
          ++walked[size_t(to)].waits;
        }
        if (const int64_t next = neighbour(at.router, side); fresh && next >= 0)
          reached.push_back({next, kOpposite[side], at.delay + target.hopLatencyCycles, to, 0});
      }
    }
  }

  // Adds up words along the ways, each link's when those of all that lead to it are known.
  void count() {
    std::sort(ways.begin(), ways.end());
    std::vector<int32_t> &known = order;
    known.clear();
    for (size_t i = 0; i < walked.size(); ++i)
      if (walked[i].waits == 0)
        known.push_back(int32_t(i));
    for (size_t i = 0; i < known.size(); ++i)
      for (auto way = std::lower_bound(ways.begin(), ways.end(), std::pair(known[i], 0));
           way != ways.end() && way->first == known[i]; ++way) {
        Walked &to = walked[size_t(way->second)];
        to.words += walked[size_t(known[i])].words;
        if (--to.waits == 0)
          known.push_back(way->second);
      }
  }

  const target::Target &target;
  const Configuration &configuration;
  const Networks &networks;
  const std::vector<int32_t> &channelOf;
  std::vector<int32_t> roleAt; // per router, of the colour under work
  std::vector<int64_t> seen;   // per link: its place among all that have been walked
  int64_t firstWalked = 0;     // of the stream under work
  std::vector<Arrival> reached;
  std::vector<Walked> walked;
  std::vector<std::pair<int32_t, int32_t>> ways; // from which of these to which
  std::vector<int32_t> order;
  std::vector<Crossing> crossings;
};

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

} // namespace

void findSharedLinks(const target::Target &target, const Configuration &configuration, const Networks &networks,
                     Model &model) {
  const std::vector<Crossing> crossings = RouteWalk(target, configuration, networks, model.channelOfStream).run();
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
  for (size_t i = 0; i < shared.size(); ++i) {
    if (!keep[i])
      continue;
    size_t at = firstOf[i];
    const int64_t link = crossings[at].link;
    int32_t member = -1, channel = -1;
    int64_t cycles = 0;
    for (; at < crossings.size() && crossings[at].link == link; ++at)
      if (std::exchange(channel, crossings[at].channel) != crossings[at].channel) {
        const LinkShare share{int32_t(model.linkMembers.size()), ++member, crossings[at].delay, 0, crossings[at].part};
        cycles += share.cycles(model.channels[size_t(channel)]);
        shares.emplace_back(channel, share);
      }
    model.linkMembers.push_back(member + 1);
    model.linkCycles.push_back(cycles);
  }
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
