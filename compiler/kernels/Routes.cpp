// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lanes' combs and the colouring problem they pose.
#include "compiler/kernels/Routes.h"

#include <algorithm>
#include <optional>

namespace wsc::kernels {

bool LaneRoute::Tooth::takes(int32_t row) const {
  auto after =
      std::upper_bound(takers.begin(), takers.end(), row, [](int32_t r, const Rows &rows) { return r < rows.begin; });
  return after != takers.begin() && row <= std::prev(after)->end;
}

// Teeth at the kernel's column on the routes of a source's lanes. A block is taken by a run of slices, the same in
// every group, for slices take ascending channels.
static void addTeeth(const KernelRows &rows, const Source &source, const StreamLayout &layout, LaneRoute *routes) {
  std::vector<std::optional<LaneRoute::Rows>> slicesOf(layout.numBlocks());
  for (int64_t slice = 0; slice < rows.slices(); ++slice)
    for (const BlockChannels &channels : rows.blocks(source, slice)) {
      std::optional<LaneRoute::Rows> &slices = slicesOf[channels.block];
      if (!slices)
        slices = LaneRoute::Rows{int32_t(slice), int32_t(slice)};
      slices->end = int32_t(slice);
    }
  int32_t col = rows.kernel().placement.col;
  for (int64_t group = 0; group < rows.numGroups(); ++group)
    for (const TileRows &tile : rows.tiles(source, group))
      for (int64_t block = 0; block < layout.numBlocks(); ++block) {
        if (!slicesOf[block])
          continue;
        LaneRoute &route = routes[tile.tile * layout.numBlocks() + block];
        if (route.teeth.empty() || route.teeth.back().col != col)
          route.teeth.push_back({col, {}});
        int32_t begin = rows.groupBegin(group);
        route.teeth.back().takers.push_back({begin + slicesOf[block]->begin, begin + slicesOf[block]->end});
        route.trunkEnd = std::max(route.trunkEnd, col);
        route.trunkWest = std::min(route.trunkWest, col);
      }
}

// Sorts the takers and joins those that touch.
static void tidy(LaneRoute::Tooth &tooth) {
  std::vector<LaneRoute::Rows> takers;
  std::sort(tooth.takers.begin(), tooth.takers.end(), [](const auto &a, const auto &b) { return a.begin < b.begin; });
  for (const LaneRoute::Rows &rows : tooth.takers)
    if (takers.empty() || takers.back().end + 1 < rows.begin)
      takers.push_back(rows);
    else
      takers.back().end = std::max(takers.back().end, rows.end);
  tooth.takers = std::move(takers);
}

std::vector<LaneRoute> laneRoutes(const target::Target &target, const NetworkPlan &network) {
  std::vector<LaneRoute> routes;
  std::vector<size_t> firstRoute(network.streams.size());
  for (size_t s = 0; s < network.streams.size(); ++s) {
    const StreamPlan &stream = network.streams[s];
    firstRoute[s] = routes.size();
    for (int64_t lane = 0; lane < stream.layout.numLanes(); ++lane) {
      LaneRoute route;
      route.stream = int32_t(s);
      route.lane = int32_t(lane);
      route.row = stream.layout.laneRows[lane];
      int64_t block = lane % stream.layout.numBlocks(), tile = lane / stream.layout.numBlocks();
      if (stream.producer < 0) {
        route.fromPort = true;
      } else {
        const KernelPlan &producer = network.kernels[stream.producer];
        const Mapping &m = producer.mapping;
        if (producer.spec.kind == KernelKind::Contraction) {
          int32_t base = producer.placement.col + 1;
          route.gatherColBegin = int32_t(base + stream.layout.blockBegin[block] / m.channelsPerColumn);
          route.gatherColEnd = int32_t(base + ceilDiv(stream.layout.blockBegin[block + 1], m.channelsPerColumn) - 1);
          route.trunkBegin = route.gatherColBegin;
        } else {
          int32_t groupRow = int32_t(network.grid.groupBegin(tile, stream.layout.numTiles()));
          route.gatherRowBegin = int32_t(groupRow + stream.layout.blockBegin[block] / m.channelsPerSlice);
          route.gatherRowEnd = int32_t(groupRow + ceilDiv(stream.layout.blockBegin[block + 1], m.channelsPerSlice) - 1);
          route.trunkBegin = producer.placement.col;
        }
      }
      route.toPort = !stream.outputs.empty();
      route.trunkWest = route.trunkBegin;
      route.trunkEnd = route.toPort ? target.cols - 1 : route.trunkBegin;
      routes.push_back(std::move(route));
    }
  }
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    KernelRows rows(target, network, int32_t(k));
    for (const Source &source : rows.sources())
      addTeeth(rows, source, network.streams[source.stream].layout, &routes[firstRoute[source.stream]]);
  }
  for (LaneRoute &route : routes) {
    std::sort(route.teeth.begin(), route.teeth.end(), [](const auto &a, const auto &b) { return a.col < b.col; });
    for (LaneRoute::Tooth &tooth : route.teeth)
      tidy(tooth);
  }
  return routes;
}

solver::colouring::Problem colouringProblem(const target::Target &target, const NetworkPlan &network,
                                            const std::vector<LaneRoute> &lanes) {
  using solver::colouring::Item;
  solver::colouring::Problem problem;
  problem.rows = target.rows;
  problem.cols = target.cols;
  for (int32_t colour = 0; colour < target.colours; ++colour)
    if (!target.isReservedColour(colour))
      problem.colours.push_back(colour);
  for (const KernelPlan &kernel : network.kernels) {
    if (kernel.spec.kind != KernelKind::Contraction)
      continue;
    int32_t rows = int32_t(network.grid.rowsUsed), col = kernel.placement.col, end = col + kernel.width();
    problem.items.push_back({kernel.spec.name + " (row)", {{0, rows, col, end, 1}}, {}});
    problem.items.push_back({kernel.spec.name + " (chain, even)", {{0, rows, col + 1, end, 1}}, {}});
    problem.items.push_back({kernel.spec.name + " (chain, odd)", {{0, rows, col + 1, end, 1}}, {}});
  }
  for (const LaneRoute &route : lanes) {
    Item item;
    item.name = network.streams[route.stream].name + " lane " + std::to_string(route.lane);
    item.rectangles.push_back({route.row, route.row + 1, route.trunkWest, route.trunkEnd + 1, 1});
    if (route.gatherRowEnd > route.gatherRowBegin)
      item.rectangles.push_back(
          {route.gatherRowBegin, route.gatherRowEnd + 1, route.trunkBegin, route.trunkBegin + 1, 1});
    for (const LaneRoute::Tooth &tooth : route.teeth)
      item.rectangles.push_back({std::min(route.row, tooth.firstRow()), std::max(route.row, tooth.lastRow()) + 1,
                                 tooth.col, tooth.col + 1, 1});
    problem.items.push_back(std::move(item));
  }
  return problem;
}

void applyColours(NetworkPlan &network, const std::vector<LaneRoute> &lanes,
                  const solver::colouring::Solution &solution) {
  size_t item = 0;
  for (KernelPlan &kernel : network.kernels) {
    if (kernel.spec.kind != KernelKind::Contraction)
      continue;
    kernel.colours.row = uint8_t(solution.colourOf[item]);
    kernel.colours.chain = {uint8_t(solution.colourOf[item + 1]), uint8_t(solution.colourOf[item + 2])};
    item += 3;
  }
  for (const LaneRoute &route : lanes) {
    StreamPlan &stream = network.streams[route.stream];
    stream.laneColours.resize(stream.layout.numLanes());
    stream.laneColours[route.lane] = uint8_t(solution.colourOf[item++]);
  }
}

} // namespace wsc::kernels
