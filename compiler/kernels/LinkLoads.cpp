// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every route is a set of straight segments that carry a constant number of words. Segments are collected by the line
// they lie on (a row or column, and a direction) and swept from end to end.
#include "compiler/kernels/LinkLoads.h"

#include "compiler/kernels/LineSweep.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace wsc::kernels {

namespace {

using Segment = LineSegment;
using Lines = LineSegments;

struct Peak {
  int64_t words = 0;
  int32_t line = 0, at = 0;
};

Peak peakOf(Lines &lines) {
  Peak peak;
  LineSweep sweep;
  forEachLine(lines, [&](std::span<const Segment> line) {
    sweep.over(line, [&](int32_t begin, int32_t, int64_t words) {
      if (words > peak.words)
        peak = {words, line.front().line, begin};
    });
  });
  return peak;
}

// A row or column of senders whose words join: sender `first` + i passes on those of i + 1 senders towards `end`, which
// may lie before it; the first has `wordsOfFirst`. The row or column that all have in common is the load's.
void addGather(RouteLoad load, bool along, int32_t first, int32_t end, int64_t wordsOfFirst, int64_t wordsEach,
               std::vector<RouteLoad> &loads) {
  const int32_t step = first < end ? 1 : -1;
  for (int32_t at = first; at != end; at += step) { // and the control word that hands the lane on
    (along ? load.segment.col : load.segment.row) = at;
    (along ? load.segment.colEnd : load.segment.rowEnd) = at + step;
    load.words = wordsOfFirst + std::abs(at - first) * wordsEach + 1;
    loads.push_back(load);
  }
}

class Loads {
public:
  Loads(const target::Target &target, const NetworkPlan &network) : target(target), network(network) {}

  void addLane(const LaneRoute &route) {
    using Part = RouteLoad::Part;
    const StreamPlan &stream = network.streams[route.stream];
    const StreamLayout &layout = stream.layout;
    int64_t block = route.lane % layout.numBlocks(), tile = route.lane / layout.numBlocks();
    int64_t words = layout.laneWords(tile, block);
    int32_t net = netOf(stream.name), trunk = route.trunkBegin;
    if (stream.producer >= 0) {
      const KernelPlan &producer = network.kernels[stream.producer];
      const Mapping &m = producer.mapping;
      int64_t pixels = words / (layout.blockBegin[block + 1] - layout.blockBegin[block]);
      if (producer.spec.kind == KernelKind::Contraction) {
        const bool feeder = route.gatherColBegin == producer.placement.col; // sends first
        addGather({Part::Gather, {route.row, 0, route.row, 0}, 0, net}, true, route.gatherColBegin, route.gatherColEnd,
                  (feeder ? m.feederChannels : m.channelsPerColumn) * pixels, m.channelsPerColumn * pixels, made.loads);
        trunk = route.gatherColEnd;
      } else {
        for (int32_t outermost : {route.gatherRowBegin, route.gatherRowEnd})
          addGather({Part::Gather, {0, trunk, 0, trunk}, 0, net}, false, outermost, route.row,
                    m.channelsPerSlice * pixels, m.channelsPerSlice * pixels, made.loads);
      }
    }
    add(Part::Trunk, {route.row, trunk, route.row, route.toPort ? target.cols : route.trunkEnd}, words, net);
    add(Part::Trunk, {route.row, route.trunkBegin, route.row, route.trunkWest}, words, net);
    for (const LaneRoute::Tooth &tooth : route.teeth)
      forEachToothSegment(route, tooth, [&](const solver::routing::Segment &segment) {
        made.loads.push_back({Part::Tooth, segment, words, net});
      });
  }

  void addContraction(int32_t index) {
    const KernelPlan &plan = network.kernels[index];
    KernelRows rows(target, network, index);
    const StreamLayout &out = rows.outLayout();
    const Mapping &m = plan.mapping;
    const int32_t col = plan.placement.col, east = col + plan.width() - 1, compute = col + plan.computeOffset();
    int32_t rowNet = netOf(absl::StrCat(plan.spec.name, " row")),
            chainNet = netOf(absl::StrCat(plan.spec.name, " chain"));
    // What all groups of rows have alike: words that a core's row needs of one row of the input, and the columns of
    // each block with their channels.
    struct Sender {
      int32_t row; // of the group's
      int64_t words;
    };
    std::vector<Sender> senders;
    for (int64_t band = 0; band < rows.shares(); ++band)
      for (int64_t slice = 0; slice < rows.slices(); ++slice)
        senders.push_back({int32_t(rows.rowOfShare(band) + slice),
                           rows.neededChannels(0, slice, band).channels() * rows.inputPlane(0).width});
    // Partial sums flow from the first and the last slice towards the one where they end.
    struct Chain {
      int32_t col, first, last, end; // rows of the group's
      int64_t channels;
    };
    std::vector<Chain> chains;
    for (int64_t block = 0; block < out.numBlocks(); ++block) {
      const BlockSite site = blockSite(plan, out, block);
      const int32_t first = int32_t(rows.rowOfShare(site.band));
      for (int64_t column = site.firstColumn; column < site.endColumn; ++column) {
        const int64_t begin = m.columnBegin(column), before = site.band * m.bandChannels() + begin;
        chains.push_back({int32_t(compute + column), first, first + int32_t(rows.slices()) - 1,
                          first + int32_t(site.slice),
                          std::min(m.columnBegin(column + 1) - begin, plan.spec.out.channels - before)});
      }
    }
    for (int64_t group = 0; group < rows.numGroups(); ++group) {
      const int32_t top = int32_t(rows.groupBegin(group));
      const int64_t height = rows.neededRows(0, group).rows();
      for (const Sender &sender : senders)
        add(RouteLoad::Part::Inside, {top + sender.row, col, top + sender.row, east}, sender.words * height, rowNet);
      const int64_t pixels = rows.outRows(group).rows() * plan.spec.out.width;
      for (const Chain &chain : chains)
        for (int32_t from : {chain.first, chain.last})
          add(RouteLoad::Part::Inside, {top + from, chain.col, top + chain.end, chain.col}, chain.channels * pixels,
              chainNet);
    }
  }

  void reserve(size_t loads) { made.loads.reserve(loads); }
  NetworkLoads take() { return std::move(made); }

private:
  void add(RouteLoad::Part part, const solver::routing::Segment &segment, int64_t words, int32_t net) {
    if (segment.row != segment.rowEnd || segment.col != segment.colEnd)
      made.loads.push_back({part, segment, words, net});
  }
  int32_t netOf(const std::string &name) {
    if (made.nets.empty() || made.nets.back() != name)
      made.nets.push_back(name);
    return int32_t(made.nets.size()) - 1;
  }

  const target::Target &target;
  const NetworkPlan &network;
  NetworkLoads made;
};

// The lines of all four directions.
struct Directions {
  Lines east, west, south, north;

  void add(const RouteLoad &load) {
    const auto &[row, col, rowEnd, colEnd] = load.segment;
    if (row == rowEnd && col < colEnd)
      east.push_back({row, col, colEnd, load.words, load.net});
    else if (row == rowEnd)
      west.push_back({row, colEnd + 1, col + 1, load.words, load.net});
    else if (row < rowEnd)
      south.push_back({col, row, rowEnd, load.words, load.net});
    else
      north.push_back({col, rowEnd + 1, row + 1, load.words, load.net});
  }
};

} // namespace

std::string LinkLoad::describe() const {
  return absl::StrCat("link (", row, ", ", col, ") ", std::string(1, side), ": ", absl::StrJoin(nets, ", "));
}

int64_t laneWords(const NetworkPlan &network, const LaneRoute &route) {
  const StreamLayout &layout = network.streams[route.stream].layout;
  return layout.laneWords(route.lane / layout.numBlocks(), route.lane % layout.numBlocks());
}

NetworkLoads networkLoads(const target::Target &target, const NetworkPlan &network,
                          const std::vector<LaneRoute> &lanes) {
  constexpr size_t kLoadsPerLane = 32; // about; more as contractions are wider
  Loads loads(target, network);
  loads.reserve(kLoadsPerLane * lanes.size());
  for (const LaneRoute &route : lanes)
    loads.addLane(route);
  for (size_t k = 0; k < network.kernels.size(); ++k)
    if (network.kernels[k].spec.kind == KernelKind::Contraction)
      loads.addContraction(int32_t(k));
  return loads.take();
}

int64_t wordHopsOf(const NetworkLoads &loads) {
  int64_t hops = 0;
  for (const RouteLoad &load : loads.loads) {
    const solver::routing::Segment &s = load.segment;
    hops += load.words * (std::abs(s.rowEnd - s.row) + std::abs(s.colEnd - s.col));
  }
  return hops;
}

int64_t excessOf(int64_t value, int64_t wanted) {
  constexpr int64_t kMost = int64_t(1) << 20; // sums over all links of a mesh stay within 64 bits
  if (value <= wanted)
    return 0;
  wanted = std::max<int64_t>(1, wanted);
  const int64_t beyond = value - wanted;
  const int64_t parts = beyond / wanted >= kMost / 1024 ? kMost : beyond * 1024 / wanted;
  return parts * parts;
}

std::vector<int64_t> excessOf(const NetworkLoads &loads, int64_t capacity, int64_t &all) {
  Directions directions;
  for (const RouteLoad &load : loads.loads)
    directions.add(load);
  all = 0;
  std::vector<int64_t> ofNet(loads.nets.size(), 0);
  struct Stretch { // links [begin, end) with the same excess each
    int32_t begin, end;
    int64_t excess;
  };
  std::vector<Stretch> over;
  LineSweep sweep;
  for (Lines *lines : {&directions.east, &directions.west, &directions.south, &directions.north})
    forEachLine(*lines, [&](std::span<const Segment> line) {
      over.clear();
      sweep.over(line, [&](int32_t begin, int32_t end, int64_t words) {
        if (words > capacity)
          over.push_back({begin, end, excessOf(words, capacity)});
      });
      for (const Stretch &stretch : over) {
        all += stretch.excess * (stretch.end - stretch.begin);
        for (const Segment &segment : line)
          if (const int32_t common = std::min(segment.end, stretch.end) - std::max(segment.begin, stretch.begin);
              common > 0)
            ofNet[size_t(segment.net)] += stretch.excess * common;
      }
    });
  return ofNet;
}

static LinkLoad busiestOf(const NetworkLoads &all, Directions lines) {
  LinkLoad busiest;
  const std::pair<Lines *, char> directions[] = {
      {&lines.east, 'E'}, {&lines.west, 'W'}, {&lines.south, 'S'}, {&lines.north, 'N'}};
  for (auto [of, side] : directions) {
    Peak peak = peakOf(*of);
    if (peak.words <= busiest.words)
      continue;
    bool along = side == 'E' || side == 'W';
    busiest = {peak.words, along ? peak.line : peak.at, along ? peak.at : peak.line, side, {}};
    for (const Segment &segment : *of)
      if (const std::string &net = all.nets[segment.net];
          segment.line == peak.line && segment.begin <= peak.at && peak.at < segment.end &&
          std::find(busiest.nets.begin(), busiest.nets.end(), net) == busiest.nets.end())
        busiest.nets.push_back(net);
  }
  return busiest;
}

LinkLoad busiestLink(const NetworkLoads &all) {
  Directions lines;
  for (const RouteLoad &load : all.loads)
    lines.add(load);
  return busiestOf(all, std::move(lines));
}

LinkLoad busiestLink(const target::Target &target, const NetworkPlan &network, const std::vector<LaneRoute> &lanes) {
  return busiestLink(networkLoads(target, network, lanes));
}

// Streams with lanes in the columns of kernel `index`.
static std::vector<int32_t> streamsAt(const NetworkPlan &network, int32_t index) {
  const int32_t begin = network.kernels[index].placement.col, end = begin + network.kernels[index].width();
  std::vector<int32_t> streams;
  for (size_t s = 0; s < network.streams.size(); ++s) {
    const StreamPlan &stream = network.streams[s];
    const KernelPlan *producer = stream.producer < 0 ? nullptr : &network.kernels[stream.producer];
    int32_t west = producer ? producer->placement.col : 0, east = producer ? west + producer->width() : 1;
    for (int32_t consumer : stream.consumers) {
      const KernelPlan &plan = network.kernels[consumer];
      west = std::min(west, plan.placement.col);
      east = std::max(east, plan.placement.col + plan.width());
    }
    if (west < end && (begin < east || !stream.outputs.empty()))
      streams.push_back(int32_t(s));
  }
  return streams;
}

LinkLoad busiestLinkOf(const target::Target &target, const NetworkPlan &network, int32_t index) {
  const int32_t begin = network.kernels[index].placement.col, last = begin + network.kernels[index].width() - 1;
  Loads around(target, network);
  for (const LaneRoute &route : laneRoutes(target, network, streamsAt(network, index)))
    around.addLane(route);
  if (network.kernels[index].spec.kind == KernelKind::Contraction)
    around.addContraction(index);
  const NetworkLoads all = around.take();
  Directions lines;
  for (RouteLoad load : all.loads) {
    solver::routing::Segment &s = load.segment;
    if (std::max(s.col, s.colEnd) < begin || std::min(s.col, s.colEnd) > last)
      continue;
    if (s.row == s.rowEnd) {
      s.col = std::clamp(s.col, begin, last + 1);
      s.colEnd = std::clamp(s.colEnd, begin - 1, last + 1);
    }
    lines.add(load);
  }
  return busiestOf(all, std::move(lines));
}

int64_t toothWords(const NetworkPlan &network, const KernelRows &rows) {
  std::map<int64_t, std::vector<int64_t>> sharesAt; // column → shares that take lanes there
  for (int64_t share = 0; share < rows.shares(); ++share)
    sharesAt[rows.columnOfShare(share)].push_back(share);
  int64_t most = 0;
  for (const auto &[column, shares] : sharesAt) {
    Directions lines;
    for (const Source &source : rows.sources()) {
      const StreamLayout &layout = network.streams[source.stream].layout;
      std::vector<LaneRoute> lanes(layout.numLanes());
      for (int64_t share : shares)
        addTeeth(rows, source, share, layout, lanes.data());
      for (int64_t lane = 0; lane < layout.numLanes(); ++lane) {
        lanes[lane].row = layout.laneRows[lane];
        for (LaneRoute::Tooth &tooth : lanes[lane].teeth) {
          tidy(tooth);
          const int64_t words = layout.laneWords(lane / layout.numBlocks(), lane % layout.numBlocks());
          forEachToothSegment(lanes[lane], tooth, [&](const solver::routing::Segment &segment) {
            lines.add({RouteLoad::Part::Tooth, segment, words, 0});
          });
        }
      }
    }
    most = std::max({most, peakOf(lines.south).words, peakOf(lines.north).words});
  }
  return most;
}

} // namespace wsc::kernels
