// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Colour by colour, word counts flow from sources along the routers' settings in topological order: an input's count is
// known when the neighbour's link into it is, a link's when all inputs that are sent to it are.
#include "runtime/emulator/timing/Links.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/format/Ports.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <vector>

namespace wsc::emulator::timing {

using namespace format;

namespace {

constexpr int kSides = 4;

class LinkCounter {
public:
  LinkCounter(const target::Target &target, const Configuration &configuration, const Networks &networks)
      : rows(target.rows), cols(target.cols), configuration(configuration), networks(networks) {
    const size_t routers = size_t(rows) * cols;
    roleAt.assign(routers, -1);
    words.assign(routers * kNumPorts, 0);
    linkWords.assign(routers * kSides, 0);
    missing.assign(routers * kSides, 0);
    totals.assign(routers * kSides, 0);
  }

  LinkLoad run() {
    LinkLoad load;
    load.totalWords = countAll();
    auto most = std::max_element(totals.begin(), totals.end());
    if (most == totals.end() || *most == 0)
      return load;
    load.maxWords = *most;
    load.maxName = name(most - totals.begin());
    return load;
  }

  std::vector<int64_t> wordsOfLinks() {
    countAll();
    return std::move(totals);
  }

private:
  // Returns the word-hops of all streams.
  int64_t countAll() {
    int64_t all = 0;
    std::vector<std::vector<int32_t>> routerRoles(256), streams(256);
    for (size_t r = 0; r < configuration.routers.size(); ++r)
      routerRoles[configuration.routers[r].colour].push_back(int32_t(r));
    for (size_t s = 0; s < networks.streams.size(); ++s) {
      const Stream stream = networks.streams[s];
      streams[stream.colour].push_back(int32_t(s));
      all += stream.linkWordsPerSample;
    }
    for (int colour = 0; colour < 256; ++colour)
      if (!routerRoles[colour].empty() && !streams[colour].empty())
        count(routerRoles[colour], streams[colour]);
    return all;
  }

  int64_t neighbour(int64_t router, int side) const {
    const int64_t row = router / cols, col = router % cols;
    switch (Port(side)) {
    case Port::North:
      return row > 0 ? router - cols : -1;
    case Port::South:
      return row + 1 < rows ? router + cols : -1;
    case Port::East:
      return col + 1 < cols ? router + 1 : -1;
    default:
      return col > 0 ? router - 1 : -1;
    }
  }

  // Ports that any position of the router reads, or outputs reached from `input`.
  unsigned inputs(int64_t router) const {
    unsigned mask = 0;
    if (roleAt[router] >= 0)
      for (const SwitchPosition &position : configuration.routers[roleAt[router]].positions)
        mask |= 1u << unsigned(position.input);
    return mask;
  }
  bool emits(int64_t router, int side) const {
    if (roleAt[router] >= 0)
      for (const SwitchPosition &position : configuration.routers[roleAt[router]].positions)
        if (position.outputs & (1u << side))
          return true;
    return false;
  }

  void count(const std::vector<int32_t> &routerRoles, const std::vector<int32_t> &streams) {
    std::vector<int64_t> touched;
    for (int32_t r : routerRoles)
      forEachPoint(configuration.routers[r].routers, [&](const LatticeIndex &, int32_t row, int32_t col) {
        if (row >= 0 && row < rows && col >= 0 && col < cols) {
          touched.push_back(int64_t(row) * cols + col);
          roleAt[touched.back()] = r;
        }
        return true;
      });
    for (int32_t s : streams)
      for (const Endpoint &source : networks.streams[s].sources) {
        const int port = source.role >= 0 ? int(Port::Ramp) : int(configuration.io[source.binding].side);
        words[(int64_t(source.row) * cols + source.col) * kNumPorts + port] += source.wordsPerSample;
      }
    std::vector<int64_t> work; // router · ports + input, whose words are final
    for (int64_t router : touched) {
      unsigned feeding[kSides] = {};
      for (const SwitchPosition &position : configuration.routers[roleAt[router]].positions)
        for (int side = 0; side < kSides; ++side)
          if (position.outputs & (1u << side))
            feeding[side] |= 1u << unsigned(position.input);
      for (int side = 0; side < kSides; ++side)
        missing[router * kSides + side] = uint8_t(__builtin_popcount(feeding[side]));
      const unsigned mask = inputs(router);
      for (int port = 0; port < kNumPorts; ++port) {
        if (!(mask & (1u << port)))
          continue;
        const int64_t from = port == int(Port::Ramp) ? -1 : neighbour(router, port);
        if (from < 0 || !emits(from, opposite(port)))
          work.push_back(router * kNumPorts + port);
      }
    }
    for (size_t at = 0; at < work.size(); ++at)
      pass(work[at], work);
    for (int64_t router : touched) {
      roleAt[router] = -1;
      std::fill_n(words.begin() + router * kNumPorts, kNumPorts, 0);
      for (int side = 0; side < kSides; ++side) {
        totals[router * kSides + side] += linkWords[router * kSides + side];
        linkWords[router * kSides + side] = 0;
      }
    }
  }

  void pass(int64_t node, std::vector<int64_t> &work) {
    const int64_t router = node / kNumPorts;
    const auto port = int(node % kNumPorts);
    int sharing = 0;
    int reached[kSides] = {};
    for (const SwitchPosition &position : configuration.routers[roleAt[router]].positions) {
      if (int(position.input) != port)
        continue;
      ++sharing;
      for (int side = 0; side < kSides; ++side)
        reached[side] += (position.outputs >> side) & 1;
    }
    for (int side = 0; side < kSides; ++side) {
      if (reached[side] == 0)
        continue;
      const int64_t link = router * kSides + side;
      linkWords[link] += words[node] * reached[side] / sharing;
      if (--missing[link] > 0)
        continue;
      const int64_t next = neighbour(router, side);
      if (next < 0 || !(inputs(next) & (1u << opposite(side))))
        continue;
      words[next * kNumPorts + opposite(side)] += linkWords[link];
      work.push_back(next * kNumPorts + opposite(side));
    }
  }

  std::string name(int64_t link) const {
    const int64_t router = link / kSides, row = router / cols, col = router % cols;
    const auto side = int(link % kSides);
    std::string text = absl::StrCat("row ", row, ", col ", col, ", ", kPortNames[side], ": nets ");
    std::vector<std::string> nets;
    for (const RouterRole &role : configuration.routers) {
      if (std::none_of(role.positions.begin(), role.positions.end(),
                       [&](const SwitchPosition &p) { return p.outputs & (1u << side); }))
        continue;
      bool here = false;
      forEachPoint(role.routers, [&](const LatticeIndex &, int32_t r, int32_t c) {
        here = r == row && c == col;
        return !here;
      });
      if (!here)
        continue;
      std::string net = role.net >= 0 && role.net < int32_t(configuration.nets.size())
                            ? configuration.nets[role.net].name
                            : absl::StrCat("colour ", int(role.colour));
      if (std::find(nets.begin(), nets.end(), net) == nets.end())
        nets.push_back(net);
    }
    for (size_t i = 0; i < nets.size(); ++i)
      absl::StrAppend(&text, i ? ", " : "", nets[i]);
    return text;
  }

  const int64_t rows, cols;
  const Configuration &configuration;
  const Networks &networks;
  std::vector<int32_t> roleAt;    // per router, of the colour under work
  std::vector<int64_t> words;     // per router and input
  std::vector<int64_t> linkWords; // per router and side, of the colour under work
  std::vector<uint8_t> missing;   // inputs of that link still unknown
  std::vector<int64_t> totals;    // all colours
};

} // namespace

LinkLoad linkLoad(const target::Target &target, const Configuration &configuration, const Networks &networks) {
  return LinkCounter(target, configuration, networks).run();
}

std::vector<int64_t> linkWords(const target::Target &target, const Configuration &configuration,
                               const Networks &networks) {
  return LinkCounter(target, configuration, networks).wordsOfLinks();
}

} // namespace wsc::emulator::timing
