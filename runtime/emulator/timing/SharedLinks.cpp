// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which channels meet on a link: routes are followed from every source, and links that the same channels cross are one.
// A link whose channels all cross another link together says nothing that the other does not.
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

  void follow(int32_t s) {
    const Stream stream = networks.streams[s];
    for (const Endpoint &source : stream.sources) {
      const int64_t router = int64_t(source.row) * target.cols + source.col;
      if (source.role >= 0)
        reached.push_back({router, int(Port::Ramp), 1 + target.rampLatencyCycles});
      else
        reached.push_back({router, int(configuration.io[source.binding].side), target.hopLatencyCycles});
    }
    for (size_t i = 0; i < reached.size(); ++i)
      pass(reached[i], s);
    reached.clear();
  }

  void pass(Arrival at, int32_t s) {
    if (roleAt[at.router] < 0)
      return;
    for (const SwitchPosition &position : configuration.routers[roleAt[at.router]].positions) {
      if (int(position.input) != at.port)
        continue;
      for (int side = 0; side < kSides; ++side) {
        const int64_t link = at.router * kSides + side;
        if (!(position.outputs & (1u << side)) || seen[link] == s)
          continue;
        seen[link] = s;
        crossings.push_back({link, channelOf[s], at.delay});
        if (const int64_t next = neighbour(at.router, side); next >= 0)
          reached.push_back({next, kOpposite[side], at.delay + target.hopLatencyCycles});
      }
    }
  }

  const target::Target &target;
  const Configuration &configuration;
  const Networks &networks;
  const std::vector<int32_t> &channelOf;
  std::vector<int32_t> roleAt; // per router, of the colour under work
  std::vector<int32_t> seen;   // per link: the last stream that crossed it
  std::vector<Arrival> reached;
  std::vector<Crossing> crossings;
};

using Members = std::vector<int32_t>; // channels that share a link, in order

// Drops what another holds too.
std::vector<bool> largest(const std::vector<const Members *> &sets, size_t channels) {
  std::vector<std::vector<int32_t>> setsOf(channels);
  for (size_t i = 0; i < sets.size(); ++i)
    for (int32_t channel : *sets[i])
      setsOf[size_t(channel)].push_back(int32_t(i));
  std::vector<bool> keep(sets.size(), true);
  for (size_t i = 0; i < sets.size(); ++i) {
    const Members &own = *sets[i];
    const int32_t rare = *std::min_element(own.begin(), own.end(), [&](int32_t a, int32_t b) {
      return setsOf[size_t(a)].size() < setsOf[size_t(b)].size();
    });
    for (int32_t other : setsOf[size_t(rare)])
      if (sets[size_t(other)]->size() > own.size() && std::ranges::includes(*sets[size_t(other)], own))
        keep[i] = false;
  }
  return keep;
}

} // namespace

void findSharedLinks(const target::Target &target, const Configuration &configuration, const Networks &networks,
                     Model &model) {
  const std::vector<Crossing> crossings = RouteWalk(target, configuration, networks, model.channelOfStream).run();
  std::map<Members, size_t> firstCrossing;
  Members members;
  for (size_t begin = 0, end = 0; begin < crossings.size(); begin = end) {
    members.clear();
    for (; end < crossings.size() && crossings[end].link == crossings[begin].link; ++end)
      if (members.empty() || members.back() != crossings[end].channel)
        members.push_back(crossings[end].channel);
    if (members.size() > 1)
      firstCrossing.try_emplace(members, begin);
  }
  std::vector<const Members *> sets;
  for (const auto &[set, begin] : firstCrossing)
    sets.push_back(&set);
  const std::vector<bool> keep = largest(sets, model.channels.size());
  std::vector<std::pair<int32_t, LinkShare>> shares;
  for (size_t i = 0; i < sets.size(); ++i) {
    if (!keep[i])
      continue;
    size_t at = firstCrossing[*sets[i]];
    const int64_t link = crossings[at].link;
    int32_t member = -1, channel = -1;
    for (; at < crossings.size() && crossings[at].link == link; ++at)
      if (std::exchange(channel, crossings[at].channel) != crossings[at].channel)
        shares.emplace_back(channel, LinkShare{int32_t(model.linkMembers.size()), ++member, crossings[at].delay});
    model.linkMembers.push_back(member + 1);
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
