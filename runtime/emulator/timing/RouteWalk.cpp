// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/timing/RouteWalk.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/format/Ports.h"

#include <algorithm>

namespace wsc::emulator::timing {

using namespace format;

RouteWalk::RouteWalk(const target::Target &target, const Configuration &configuration, const Networks &networks)
    : target(target), configuration(configuration), networks(networks), routers(kColours),
      roleAt(size_t(target.rows) * target.cols, -1), seen(size_t(target.rows) * target.cols * kSides, -1) {
  for (size_t r = 0; r < configuration.routers.size(); ++r)
    routers[configuration.routers[r].colour].push_back(int32_t(r));
}

void RouteWalk::place(size_t colour, bool there) {
  for (int32_t r : routers[colour])
    forEachPoint(configuration.routers[size_t(r)].routers, [&](const LatticeIndex &, int32_t row, int32_t col) {
      if (row >= 0 && row < target.rows && col >= 0 && col < target.cols)
        roleAt[size_t(row) * target.cols + col] = there ? r : -1;
      return true;
    });
}

// Every link once, with the words of all sources whose ways lead there.
void RouteWalk::follow(int32_t s) {
  firstWalked += int64_t(walked.size());
  reached.clear();
  walked.clear();
  ways.clear();
  back.clear();
  entries.clear();
  const Stream stream = networks.streams[size_t(s)];
  numSources = stream.sources.size();
  for (size_t i = 0; i < numSources; ++i) {
    const Endpoint &source = stream.sources[i];
    const int64_t router = int64_t(source.row) * target.cols + source.col;
    const int port = source.role >= 0 ? int(Port::Ramp) : int(configuration.io[source.binding].side);
    const int delay = source.role >= 0 ? 1 + target.rampLatencyCycles : target.hopLatencyCycles;
    reached.push_back({router, port, delay, -1, int32_t(i), source.wordsPerSample});
  }
  for (size_t i = 0; i < reached.size(); ++i)
    pass(reached[i]);
  count();
}

void RouteWalk::pass(Arrival at) {
  if (roleAt[size_t(at.router)] < 0)
    return;
  for (const SwitchPosition &position : configuration.routers[size_t(roleAt[size_t(at.router)])].positions) {
    if (int(position.input) != at.port)
      continue;
    for (int side = 0; side < kSides; ++side) {
      const int64_t link = at.router * kSides + side;
      if (!(position.outputs & (1u << side)))
        continue;
      const bool fresh = seen[size_t(link)] < firstWalked;
      if (fresh) {
        seen[size_t(link)] = firstWalked + int64_t(walked.size());
        walked.push_back({link, at.delay});
      }
      const auto to = int32_t(seen[size_t(link)] - firstWalked);
      if (at.from < 0) {
        walked[size_t(to)].words += at.words;
        entries.emplace_back(at.source, to);
      } else {
        ways.emplace_back(at.from, to);
        ++walked[size_t(to)].waits;
      }
      const auto [row, col] = end(target, link);
      if (fresh && row >= 0 && row < target.rows && col >= 0 && col < target.cols)
        reached.push_back(
            {int64_t(row) * target.cols + col, opposite(side), at.delay + target.hopLatencyCycles, to, -1, 0});
    }
  }
}

// Calls visit(to) for the ways from a link, which are sorted.
template <typename Visit>
static void follow(const std::vector<std::pair<int32_t, int32_t>> &ways, int32_t from, Visit visit) {
  for (auto way = std::lower_bound(ways.begin(), ways.end(), std::pair(from, 0));
       way != ways.end() && way->first == from; ++way)
    visit(way->second);
}

// Adds up words along the ways, each link's when those of all that lead to it are known.
void RouteWalk::count() {
  std::sort(ways.begin(), ways.end());
  order.clear();
  for (size_t i = 0; i < walked.size(); ++i)
    if (walked[i].waits == 0)
      order.push_back(int32_t(i));
  for (size_t i = 0; i < order.size(); ++i)
    timing::follow(ways, order[i], [&](int32_t to) {
      walked[size_t(to)].words += walked[size_t(order[i])].words;
      if (--walked[size_t(to)].waits == 0)
        order.push_back(to);
    });
}

const std::vector<bool> &RouteWalk::crosses(int64_t link) {
  if (back.size() != ways.size()) {
    for (const auto &[from, to] : ways)
      back.emplace_back(to, from);
    std::sort(back.begin(), back.end());
  }
  before.assign(walked.size(), false);
  order.clear();
  const auto lead = [&](int32_t at) {
    if (!before[size_t(at)])
      order.push_back(at);
    before[size_t(at)] = true;
  };
  if (seen[size_t(link)] >= firstWalked)
    lead(int32_t(seen[size_t(link)] - firstWalked));
  for (size_t i = 0; i < order.size(); ++i)
    timing::follow(back, order[i], lead);
  crossing.assign(numSources, false);
  for (const auto &[source, first] : entries)
    if (before[size_t(first)])
      crossing[size_t(source)] = true;
  return crossing;
}

} // namespace wsc::emulator::timing
