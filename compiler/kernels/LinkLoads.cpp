// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every route is a set of straight segments that carry a constant number of words. Segments are collected by the line
// they lie on (a row or column, and a direction) and swept from end to end.
#include "compiler/kernels/LinkLoads.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <map>

namespace wsc::kernels {

namespace {

// Links of routers [begin, end) on a line carry `words` each.
struct Segment {
  int32_t begin = 0, end = 0;
  int64_t words = 0;
  int32_t net = 0;
};

// The segments of all lines of one direction.
using Lines = std::map<int32_t, std::vector<Segment>>;

struct Peak {
  int64_t words = 0;
  int32_t line = 0, at = 0;
};

Peak peakOf(const Lines &lines) {
  Peak peak;
  std::vector<std::pair<int32_t, int64_t>> events;
  for (const auto &[line, segments] : lines) {
    events.clear();
    for (const Segment &segment : segments) {
      if (segment.begin >= segment.end)
        continue;
      events.push_back({segment.begin, segment.words});
      events.push_back({segment.end, -segment.words});
    }
    std::sort(events.begin(), events.end()); // ends first: their words are negative
    int64_t words = 0;
    for (const auto &[at, change] : events)
      if ((words += change) > peak.words)
        peak = {words, line, at};
  }
  return peak;
}

// What is sent along a tooth from its trunk's row.
void addTooth(const LaneRoute &route, const LaneRoute::Tooth &tooth, int64_t words, int32_t net, Lines &south,
              Lines &north) {
  south[tooth.col].push_back({route.row, tooth.lastRow(), words, net});
  north[tooth.col].push_back({tooth.firstRow() + 1, route.row + 1, words, net});
}

// A row of senders that append to each other's words: router `first` + i passes on those of i + 1 senders.
void addGather(std::vector<Segment> &line, int32_t first, int32_t last, int64_t wordsEach, int32_t net) {
  for (int32_t at = first; at < last; ++at) // and the control word that hands the lane on
    line.push_back({at, at + 1, (at - first + 1) * wordsEach + 1, net});
}

class Loads {
public:
  Loads(const target::Target &target, const NetworkPlan &network) : target(target), network(network) {}

  void addLane(const LaneRoute &route) {
    const StreamPlan &stream = network.streams[route.stream];
    const StreamLayout &layout = stream.layout;
    int64_t block = route.lane % layout.numBlocks(), tile = route.lane / layout.numBlocks();
    int64_t words = layout.laneWords(tile, block);
    int32_t net = netOf(stream.name), trunk = route.trunkBegin;
    std::vector<Segment> &eastLine = east[route.row];
    if (stream.producer >= 0) {
      const KernelPlan &producer = network.kernels[stream.producer];
      const Mapping &m = producer.mapping;
      int64_t pixels = words / (layout.blockBegin[block + 1] - layout.blockBegin[block]);
      bool contraction = producer.spec.kind == KernelKind::Contraction;
      int32_t first = contraction ? route.gatherColBegin : route.gatherRowBegin;
      int32_t last = contraction ? route.gatherColEnd : route.gatherRowEnd;
      int64_t unit = contraction ? m.channelsPerColumn : m.channelsPerSlice;
      addGather(contraction ? eastLine : south[trunk], first, last, unit * pixels, net);
      if (contraction)
        trunk = last;
    }
    int32_t end = route.toPort ? target.cols : route.trunkEnd;
    eastLine.push_back({trunk, end, words, net});
    west[route.row].push_back({route.trunkWest + 1, route.trunkBegin + 1, words, net});
    for (const LaneRoute::Tooth &tooth : route.teeth)
      addTooth(route, tooth, words, net, south, north);
  }

  void addContraction(int32_t index) {
    const KernelPlan &plan = network.kernels[index];
    KernelRows rows(target, network, index);
    int32_t col = plan.placement.col, width = int32_t(plan.mapping.columns);
    int32_t rowNet = netOf(absl::StrCat(plan.spec.name, " row"));
    int64_t planeWidth = rows.inputPlane(0).width;
    for (int64_t group = 0; group < rows.numGroups(); ++group) {
      int64_t height = rows.neededRows(0, group).rows();
      for (int64_t band = 0; band < rows.shares(); ++band)
        for (int64_t slice = 0; slice < rows.slices(); ++slice)
          east[int32_t(rows.groupBegin(group) + rows.rowOfShare(band) + slice)].push_back(
              {col, col + width, rows.neededChannels(0, slice, band).channels() * height * planeWidth, rowNet});
    }
  }

  LinkLoad busiest() const {
    LinkLoad load;
    const std::pair<const Lines *, char> directions[] = {{&east, 'E'}, {&west, 'W'}, {&south, 'S'}, {&north, 'N'}};
    for (auto [lines, side] : directions) {
      Peak peak = peakOf(*lines);
      if (peak.words <= load.words)
        continue;
      bool along = side == 'E' || side == 'W';
      load = {peak.words, along ? peak.line : peak.at, along ? peak.at : peak.line, side, {}};
      for (const Segment &segment : lines->at(peak.line))
        if (segment.begin <= peak.at && peak.at < segment.end &&
            std::find(load.nets.begin(), load.nets.end(), names[segment.net]) == load.nets.end())
          load.nets.push_back(names[segment.net]);
    }
    return load;
  }

private:
  int32_t netOf(const std::string &name) {
    if (names.empty() || names.back() != name)
      names.push_back(name);
    return int32_t(names.size()) - 1;
  }

  const target::Target &target;
  const NetworkPlan &network;
  std::vector<std::string> names;
  Lines east, west, south, north;
};

} // namespace

std::string LinkLoad::describe() const {
  return absl::StrCat("link (", row, ", ", col, ") ", std::string(1, side), ": ", absl::StrJoin(nets, ", "));
}

LinkLoad busiestLink(const target::Target &target, const NetworkPlan &network, const std::vector<LaneRoute> &lanes) {
  Loads loads(target, network);
  for (const LaneRoute &route : lanes)
    loads.addLane(route);
  for (size_t k = 0; k < network.kernels.size(); ++k)
    if (network.kernels[k].spec.kind == KernelKind::Contraction)
      loads.addContraction(int32_t(k));
  return loads.busiest();
}

int64_t toothWords(const NetworkPlan &network, const KernelRows &rows) {
  std::map<int64_t, std::vector<int64_t>> sharesAt; // column → shares that take lanes there
  for (int64_t share = 0; share < rows.shares(); ++share)
    sharesAt[rows.columnOfShare(share)].push_back(share);
  int64_t most = 0;
  for (const auto &[column, shares] : sharesAt) {
    Lines south, north;
    for (const Source &source : rows.sources()) {
      const StreamLayout &layout = network.streams[source.stream].layout;
      std::vector<LaneRoute> lanes(layout.numLanes());
      for (int64_t share : shares)
        addTeeth(rows, source, share, layout, lanes.data());
      for (int64_t lane = 0; lane < layout.numLanes(); ++lane) {
        lanes[lane].row = layout.laneRows[lane];
        for (LaneRoute::Tooth &tooth : lanes[lane].teeth) {
          tidy(tooth);
          addTooth(lanes[lane], tooth, layout.laneWords(lane / layout.numBlocks(), lane % layout.numBlocks()), 0, south,
                   north);
        }
      }
    }
    most = std::max({most, peakOf(south).words, peakOf(north).words});
  }
  return most;
}

} // namespace wsc::kernels
