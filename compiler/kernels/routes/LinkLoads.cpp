// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every route is a set of straight segments that carry a constant number of words. Segments are collected by the line
// they lie on (a row or column, and a direction) and swept from end to end.
#include "compiler/kernels/routes/LinkLoads.h"

#include "compiler/kernels/routes/LineSweep.h"

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
    sweep.over(line, [&](int32_t begin, int32_t end, int64_t words, int64_t step) {
      const int32_t at = step > 0 ? end - 1 : begin;
      if (const int64_t most = words + (at - begin) * step; most > peak.words)
        peak = {most, line.front().line, at};
    });
  });
  return peak;
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
        addGather({route.row, route.gatherColBegin, route.row, route.gatherColEnd},
                  (feeder ? m.feederChannels : m.channelsPerColumn) * pixels, m.channelsPerColumn * pixels, net);
        trunk = route.gatherColEnd;
      } else {
        for (int32_t outermost : {route.gatherRowBegin, route.gatherRowEnd})
          addGather({outermost, trunk, route.row, trunk}, m.channelsPerSlice * pixels, m.channelsPerSlice * pixels,
                    net);
      }
    }
    add(Part::Trunk, {route.row, trunk, route.row, route.toPort ? target.cols : route.trunkEnd}, words, net);
    add(Part::Trunk, {route.row, route.trunkBegin, route.row, route.trunkWest}, words, net);
    for (const LaneRoute::Branch &branch : route.branches)
      forEachBranchSegment(route, branch, [&](const solver::routing::Segment &segment) {
        made.loads.push_back({Part::Branch, segment, words, net});
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
                           rows.neededChannels(0, slice, band).channels() * rows.takenColumns().count()});
    // Partial sums flow from the first and the last slice towards the one where they end.
    struct Chain {
      int32_t col, first, last, end; // rows of the group's
      int64_t channels;
      int32_t columns;
    };
    std::vector<Chain> chains;
    for (int64_t block = 0; block < out.numBlocks(); ++block) {
      const BlockSite site = blockSite(plan, out, block);
      const int32_t first = int32_t(rows.rowOfShare(site.band));
      for (int64_t column = site.firstColumn; column < site.endColumn; ++column) {
        const int64_t begin = m.columnBegin(column), before = site.band * m.bandChannels() + begin;
        const Chain chain{int32_t(compute + column),
                          first,
                          first + int32_t(rows.slices()) - 1,
                          first + int32_t(site.slice),
                          std::min(m.columnBegin(column + 1) - begin, plan.spec.out.channels - before),
                          1};
        if (column > site.firstColumn && chain.channels == chains.back().channels)
          ++chains.back().columns;
        else
          chains.push_back(chain);
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
              chainNet, 0, chain.columns);
    }
  }

  void reserve(size_t loads) { made.loads.reserve(loads); }
  NetworkLoads take() { return std::move(made); }

private:
  void add(RouteLoad::Part part, const solver::routing::Segment &segment, int64_t words, int32_t net,
           int64_t wordsMore = 0, int32_t columns = 1) {
    if (segment.row != segment.rowEnd || segment.col != segment.colEnd)
      made.loads.push_back({part, segment, words, net, wordsMore, columns});
  }
  // A row or column of senders whose words join: each passes on those of all before it and its own, and the control
  // word that hands the lane on.
  void addGather(const solver::routing::Segment &segment, int64_t wordsOfFirst, int64_t wordsEach, int32_t net) {
    add(RouteLoad::Part::Gather, segment, wordsOfFirst + 1, net, wordsEach);
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

// The lines of all four directions. Columns side by side that are alike are one line, the first of them: nothing
// vertical begins or ends between them.
class Directions {
public:
  Lines east, west, south, north;

  explicit Directions(std::span<const RouteLoad> loads) {
    int32_t end = 0; // of the columns; a kernel without a place begins west of the mesh
    for (const RouteLoad &load : loads)
      if (isVertical(load)) {
        firstColumn = std::min(firstColumn, load.segment.col);
        end = std::max(end, load.segment.col + load.columns);
      }
    std::vector<bool> begins(size_t(end - firstColumn) + 1, false);
    for (const RouteLoad &load : loads)
      if (isVertical(load))
        for (int32_t col : {load.segment.col, load.segment.col + load.columns})
          begins[size_t(col - firstColumn)] = true;
    alike.assign(begins.size(), 1);
    for (size_t col = begins.size() - 1; col-- > 0;)
      if (!begins[col + 1])
        alike[col] = alike[col + 1] + 1;
    for (const RouteLoad &load : loads)
      add(load);
  }
  // Columns of a line of `south` or `north`.
  int32_t columnsOf(int32_t line) const { return alike[size_t(line - firstColumn)]; }

private:
  static bool isVertical(const RouteLoad &load) { return load.segment.row != load.segment.rowEnd; }
  void add(const RouteLoad &load) {
    const auto &[row, col, rowEnd, colEnd] = load.segment;
    // Words of a load that flows towards lower numbers, on the last of its links, which is the line's first.
    const int64_t ofLast = load.words + (load.links() - 1) * load.wordsMore;
    if (row == rowEnd && col < colEnd)
      east.push_back({row, col, colEnd, load.net, load.words, load.wordsMore});
    else if (row == rowEnd)
      west.push_back({row, colEnd + 1, col + 1, load.net, ofLast, -load.wordsMore});
    else
      for (int32_t line = col; line < col + load.columns; line += columnsOf(line))
        if (row < rowEnd)
          south.push_back({line, row, rowEnd, load.net, load.words, load.wordsMore});
        else
          north.push_back({line, rowEnd + 1, row + 1, load.net, ofLast, -load.wordsMore});
  }

  int32_t firstColumn = 0;
  std::vector<int32_t> alike; // by column from there: it and those east of it that are alike
};

} // namespace

int32_t RouteLoad::links() const {
  return std::abs(segment.rowEnd - segment.row) + std::abs(segment.colEnd - segment.col);
}

std::string LinkLoad::describe() const {
  return absl::StrCat("link (", row, ", ", col, ") ", std::string(1, side), ": ", absl::StrJoin(nets, ", "));
}

int64_t laneWords(const NetworkPlan &network, const LaneRoute &route) {
  const StreamLayout &layout = network.streams[route.stream].layout;
  return layout.laneWords(route.lane / layout.numBlocks(), route.lane % layout.numBlocks());
}

NetworkLoads networkLoads(const target::Target &target, const NetworkPlan &network,
                          const std::vector<LaneRoute> &lanes) {
  constexpr size_t kLoadsPerLane = 10; // about
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
    const int64_t links = load.links();
    hops += load.columns * (load.words * links + load.wordsMore * (links * (links - 1) / 2));
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
  Directions directions(loads.loads);
  all = 0;
  std::vector<int64_t> ofNet(loads.nets.size(), 0);
  struct Stretch { // links [begin, end) with the same excess each
    int32_t begin, end;
    int64_t excess;
  };
  std::vector<Stretch> over;
  LineSweep sweep;
  auto count = [&](std::span<const Segment> line, int64_t alike) {
    over.clear();
    sweep.over(line, [&](int32_t begin, int32_t end, int64_t words, int64_t step) {
      const int32_t length = step == 0 ? end - begin : 1;
      for (; begin < end; begin += length, words += step)
        if (words > capacity)
          over.push_back({begin, begin + length, excessOf(words, capacity)});
    });
    for (const Stretch &stretch : over) {
      all += alike * stretch.excess * (stretch.end - stretch.begin);
      for (const Segment &segment : line)
        if (const int32_t common = std::min(segment.end, stretch.end) - std::max(segment.begin, stretch.begin);
            common > 0)
          ofNet[size_t(segment.net)] += alike * stretch.excess * common;
    }
  };
  for (Lines *lines : {&directions.east, &directions.west})
    forEachLine(*lines, [&](std::span<const Segment> line) { count(line, 1); });
  for (Lines *lines : {&directions.south, &directions.north})
    forEachLine(*lines, [&](std::span<const Segment> line) { count(line, directions.columnsOf(line.front().line)); });
  return ofNet;
}

// Of `loads`, whose nets are those of `all`.
static LinkLoad busiestOf(const NetworkLoads &all, std::span<const RouteLoad> loads) {
  Directions lines(loads);
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

LinkLoad busiestLink(const NetworkLoads &all) { return busiestOf(all, all.loads); }

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
  std::vector<RouteLoad> inside;
  for (RouteLoad load : all.loads) {
    solver::routing::Segment &s = load.segment;
    if (std::max(s.col, s.colEnd) + load.columns - 1 < begin || std::min(s.col, s.colEnd) > last)
      continue;
    if (s.row == s.rowEnd) {
      const int32_t from = s.col;
      s.col = std::clamp(s.col, begin, last + 1);
      s.colEnd = std::clamp(s.colEnd, begin - 1, last + 1);
      load.words += std::abs(s.col - from) * load.wordsMore;
    } else {
      const int32_t end = std::min(s.col + load.columns, last + 1);
      s.col = s.colEnd = std::max(s.col, begin);
      load.columns = end - s.col;
    }
    if (load.links() > 0)
      inside.push_back(load);
  }
  return busiestOf(all, inside);
}

int64_t branchWords(const NetworkPlan &network, const KernelRows &rows) {
  std::map<int64_t, std::vector<int64_t>> sharesAt; // column → shares that take lanes there
  for (int64_t share = 0; share < rows.shares(); ++share)
    sharesAt[rows.columnOfShare(share)].push_back(share);
  int64_t most = 0;
  for (const auto &[column, shares] : sharesAt) {
    std::vector<RouteLoad> loads;
    for (const Source &source : rows.sources()) {
      const StreamLayout &layout = network.streams[source.stream].layout;
      std::vector<LaneRoute> lanes(layout.numLanes());
      for (int64_t share : shares)
        addBranches(rows, source, share, layout, lanes.data());
      for (int64_t lane = 0; lane < layout.numLanes(); ++lane) {
        lanes[lane].row = layout.laneRows[lane];
        for (LaneRoute::Branch &branch : lanes[lane].branches) {
          tidy(branch);
          const int64_t words = layout.laneWords(lane / layout.numBlocks(), lane % layout.numBlocks());
          forEachBranchSegment(lanes[lane], branch, [&](const solver::routing::Segment &segment) {
            loads.push_back({RouteLoad::Part::Branch, segment, words});
          });
        }
      }
    }
    Directions lines(loads);
    most = std::max({most, peakOf(lines.south).words, peakOf(lines.north).words});
  }
  return most;
}

} // namespace wsc::kernels
