// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Follows the routes of streams from every source, link by link: how many of a stream's words cross a link, when, and
// those of which sources. Every link is entered once; words are added up where ways join.
#pragma once

#include "runtime/emulator/Network.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace wsc::emulator::timing {

class RouteWalk {
public:
  static constexpr int kSides = 4;
  // A link that a stream crosses: router · kSides + side.
  struct Link {
    int64_t link;
    int32_t delay;     // cycles from a word's slot to its turn on the link, of the source that is nearest
    int64_t words = 0; // per sample
    int32_t waits = 0; // ways in whose words are not counted yet
  };

  // The row and the column that a link leads to.
  static std::pair<int32_t, int32_t> end(const target::Target &target, int64_t link) {
    const auto row = int32_t(link / kSides / target.cols), col = int32_t(link / kSides % target.cols);
    switch (format::Port(link % kSides)) {
    case format::Port::North:
      return {row - 1, col};
    case format::Port::South:
      return {row + 1, col};
    case format::Port::East:
      return {row, col + 1};
    default:
      return {row, col - 1};
    }
  }

  RouteWalk(const target::Target &target, const format::Configuration &configuration, const Networks &networks);

  // Calls visit(s) for each of the streams, colour by colour, when links() and crosses() tell of it.
  template <typename Visit> void forEach(const std::vector<int32_t> &streams, Visit visit) {
    std::vector<std::vector<int32_t>> byColour(kColours);
    for (int32_t s : streams)
      byColour[networks.streams[size_t(s)].colour].push_back(s);
    for (size_t colour = 0; colour < kColours; ++colour) {
      if (byColour[colour].empty())
        continue;
      place(colour, true);
      for (int32_t s : byColour[colour]) {
        follow(s);
        visit(s);
      }
      place(colour, false);
    }
  }

  const std::vector<Link> &links() const { return walked; }
  // For each source of the stream, whether its words cross the link.
  const std::vector<bool> &crosses(int64_t link);

private:
  static constexpr size_t kColours = 256;
  struct Arrival {
    int64_t router;
    int port, delay;
    int32_t from, source; // of `walked`: the link that leads here; or -1 and a source
    int64_t words;        // of that source
  };

  void place(size_t colour, bool there);
  void follow(int32_t s);
  void pass(Arrival at);
  void count();

  const target::Target &target;
  const format::Configuration &configuration;
  const Networks &networks;
  std::vector<std::vector<int32_t>> routers; // per colour: router roles
  std::vector<int32_t> roleAt;               // per router, of the colour under work
  std::vector<int64_t> seen;                 // per link: its place among all that have been walked
  // Of the stream under work.
  int64_t firstWalked = 0;
  size_t numSources = 0;
  std::vector<Arrival> reached;
  std::vector<Link> walked;
  std::vector<std::pair<int32_t, int32_t>> ways, back; // from which of these to which, and the other way round
  std::vector<std::pair<int32_t, int32_t>> entries;    // a source, and the link that its words take first
  std::vector<int32_t> order;
  std::vector<bool> before, crossing; // per link: it leads to the one under work; per source: its words cross that
};

} // namespace wsc::emulator::timing
