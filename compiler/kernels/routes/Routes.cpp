// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lanes' combs and the colouring problem they pose.
#include "compiler/kernels/routes/Routes.h"

#include "compiler/kernels/programs/Send.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace wsc::kernels {

bool LaneRoute::Branch::takes(int32_t row) const {
  auto after =
      std::upper_bound(takers.begin(), takers.end(), row, [](int32_t r, const Rows &rows) { return r < rows.begin; });
  return after != takers.begin() && row <= std::prev(after)->end;
}

bool LaneRoute::endsOnTrunk(size_t index) const {
  return branches[index].firstRow() == row && branches[index].lastRow() == row;
}

int32_t LaneRoute::leastVia(size_t index) const {
  const int32_t col = branches[index].col;
  if (col <= trunkBegin && !fromPort)
    return col;
  const int32_t senders = fromPort ? 0 : std::max(gatherColEnd, trunkBegin) + 1;
  return std::min(col, index > 0 ? std::max(senders, branches[index - 1].eastEnd() + 1) : senders);
}

int32_t LaneRoute::mostVia(size_t index, int32_t meshCols) const {
  const int32_t col = branches[index].col;
  if (col <= trunkBegin && !fromPort)
    return col;
  return index + 1 < branches.size() ? branches[index + 1].col - 1 : meshCols - 1;
}

// Adds rows that take a lane. They join the last ones that do, if these begin before them and touch them.
static void addTaker(std::vector<LaneRoute::Rows> &takers, const LaneRoute::Rows &rows) {
  if (takers.empty() || rows.begin < takers.back().begin || takers.back().end + 1 < rows.begin)
    takers.push_back(rows);
  else
    takers.back().end = std::max(takers.back().end, rows.end);
}

void addBranches(const KernelRows &rows, const Source &source, int64_t share, const StreamLayout &layout,
                 LaneRoute *routes) {
  std::vector<LaneRoute::Rows> slicesOf(size_t(layout.numBlocks()), {-1, -1}); // that take each block
  for (int64_t slice = 0; slice < rows.slices(); ++slice)
    rows.forEachBlock(source, slice, share, [&](const BlockChannels &channels) {
      LaneRoute::Rows &slices = slicesOf[size_t(channels.block)];
      slices = {slices.begin < 0 ? int32_t(slice) : slices.begin, int32_t(slice)};
    });
  const int32_t col = int32_t(rows.kernel().placement.col + rows.columnOfShare(share));
  const auto &all = rows.kernel().turns;
  const std::vector<int32_t> none, &turns = all.empty() ? none : all[size_t(source.ordinal)];
  for (int64_t group = 0; group < rows.numGroups(); ++group) {
    const int32_t begin = int32_t(rows.groupBegin(group) + rows.rowOfShare(share));
    rows.forEachTile(source, group, [&](const TileRows &tile) {
      for (int64_t block = 0; block < layout.numBlocks(); ++block) {
        const LaneRoute::Rows slices = slicesOf[size_t(block)];
        if (slices.begin < 0)
          continue;
        const auto lane = size_t(tile.tile * layout.numBlocks() + block);
        LaneRoute &route = routes[lane];
        if (route.branches.empty() || route.branches.back().col != col)
          route.branches.push_back({col, col - (turns.empty() ? 0 : turns[lane % turns.size()]), {}});
        addTaker(route.branches.back().takers, {begin + slices.begin, begin + slices.end});
        route.trunkWest = std::min(route.trunkWest, col);
      }
    });
  }
}

void tidy(LaneRoute::Branch &branch) {
  auto isBefore = [](const auto &a, const auto &b) { return a.begin < b.begin; };
  if (std::is_sorted(branch.takers.begin(), branch.takers.end(), isBefore))
    return; // and addTaker() joined those that touch
  std::sort(branch.takers.begin(), branch.takers.end(), isBefore);
  std::vector<LaneRoute::Rows> takers;
  for (const LaneRoute::Rows &rows : branch.takers)
    addTaker(takers, rows);
  branch.takers = std::move(takers);
}

std::vector<LaneRoute> laneRoutes(const target::Target &target, const NetworkPlan &network) {
  std::vector<int32_t> all(network.streams.size());
  std::iota(all.begin(), all.end(), 0);
  return laneRoutes(target, network, all);
}

std::vector<LaneRoute> laneRoutes(const target::Target &target, const NetworkPlan &network,
                                  const std::vector<int32_t> &streams) {
  constexpr size_t kNone = SIZE_MAX;
  std::vector<LaneRoute> routes;
  std::vector<size_t> firstRoute(network.streams.size(), kNone);
  std::set<int32_t> takers; // kernels that take one of the streams
  for (int32_t s : streams) {
    const StreamPlan &stream = network.streams[s];
    firstRoute[s] = routes.size();
    takers.insert(stream.consumers.begin(), stream.consumers.end());
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
          const int32_t base = producer.placement.col + producer.computeOffset();
          BlockSite site = blockSite(producer, stream.layout, block);
          route.gatherColBegin = int32_t(base + site.firstColumn);
          route.gatherColEnd = int32_t(base + site.endColumn - 1);
          route.trunkBegin = route.gatherColBegin;
        } else {
          int32_t groupRow = int32_t(network.grid.groupBegin(tile, stream.layout.numTiles()));
          ColumnSender sender = columnSender(producer, stream.layout, stream.layout.blockBegin[block]);
          route.gatherRowBegin = int32_t(groupRow + sender.firstSlice);
          route.gatherRowEnd = int32_t(groupRow + sender.lastSlice);
          route.trunkBegin = int32_t(producer.placement.col +
                                     (m.columns > 1 ? stream.layout.blockBegin[block] / m.channelsPerColumn : 0));
        }
      }
      route.toPort = !stream.outputs.empty();
      route.trunkWest = route.trunkBegin;
      route.trunkEnd = route.toPort ? target.cols - 1 : route.trunkBegin;
      routes.push_back(std::move(route));
    }
  }
  for (int32_t k : takers) {
    KernelRows rows(target, network, k);
    for (const Source &source : rows.sources())
      for (int64_t share = 0; source.taker == k && firstRoute[source.stream] != kNone && share < rows.shares(); ++share)
        addBranches(rows, source, share, network.streams[source.stream].layout, &routes[firstRoute[source.stream]]);
  }
  for (LaneRoute &route : routes) {
    std::sort(route.branches.begin(), route.branches.end(), [](const auto &a, const auto &b) { return a.col < b.col; });
    for (size_t t = 0; t < route.branches.size(); ++t) {
      LaneRoute::Branch &branch = route.branches[t];
      tidy(branch);
      branch.via =
          route.endsOnTrunk(t) ? branch.col : std::clamp(branch.via, route.leastVia(t), route.mostVia(t, target.cols));
      route.trunkEnd = std::max(route.trunkEnd, branch.takes(route.row) ? branch.eastEnd() : branch.via);
    }
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
    int32_t rows = int32_t(network.grid.height()), col = kernel.placement.col, end = col + kernel.width();
    const int32_t compute = col + kernel.computeOffset();
    problem.items.push_back({kernel.spec.name + " (row)", {{0, rows, col, end, 1}}, {}});
    problem.items.push_back({kernel.spec.name + " (chain, even)", {{0, rows, compute, end, 1}}, {}});
    problem.items.push_back({kernel.spec.name + " (chain, odd)", {{0, rows, compute, end, 1}}, {}});
  }
  for (const LaneRoute &route : lanes) {
    Item item;
    item.name = network.streams[route.stream].name + " lane " + std::to_string(route.lane);
    item.rectangles.push_back({route.row, route.row + 1, route.trunkWest, route.trunkEnd + 1, 1});
    if (route.gatherRowEnd > route.gatherRowBegin)
      item.rectangles.push_back(
          {route.gatherRowBegin, route.gatherRowEnd + 1, route.trunkBegin, route.trunkBegin + 1, 1});
    for (const LaneRoute::Branch &branch : route.branches) {
      item.rectangles.push_back({std::min(route.row, branch.firstRow()), std::max(route.row, branch.lastRow()) + 1,
                                 branch.via, branch.via + 1, 1});
      for (const LaneRoute::Rows &takers : branch.takers)
        if (branch.via != branch.col)
          item.rectangles.push_back({takers.begin, takers.end + 1, branch.westEnd(), branch.eastEnd() + 1, 1});
    }
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
