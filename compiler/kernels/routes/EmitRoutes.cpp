// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Router settings of lanes and of contractions' rectangles, and the bindings of inputs and outputs.
#include "compiler/kernels/programs/RoleBuilder.h"
#include "compiler/kernels/roles/Merge.h"
#include "compiler/kernels/roles/RowCover.h"
#include "compiler/kernels/routes/Routes.h"

#include <map>

namespace wsc::kernels {

using namespace format;

namespace {

constexpr PortMask bit(Port port) { return PortMask(1u << int(port)); }

// Collects router settings by what they say, each with the rows that say it; neighbouring columns come as one.
class RouterTable {
public:
  using Rows = LaneRoute::Rows;
  void add(uint8_t colour, Rows rows, int32_t col, int32_t columns, std::initializer_list<SwitchPosition> positions) {
    if (columns <= 0 || rows.begin > rows.end)
      return;
    Setting setting{colour, col, columns, {}};
    for (const SwitchPosition &position : positions)
      setting.positions.emplace_back(position.input, position.outputs);
    std::vector<RowPoint> &points = table[std::move(setting)];
    for (int32_t row = rows.begin; row <= rows.end; ++row)
      points.push_back({row, 0, {}});
  }
  // Appends everything as roles of net `net`.
  void flush(int32_t net, std::vector<RouterRole> &out) { flush(net, {RowLattice()}, out); }
  // The same, where rows are counted from the first row of a group and stand for those of every group.
  void flush(int32_t net, const std::vector<RowLattice> &groups, std::vector<RouterRole> &out) {
    for (auto &[setting, points] : table)
      for (const RowLattice &rows : coverRows(std::move(points), 3 - usedLevels(groups)))
        for (const RowLattice &group : groups)
          append(setting, net, group, rows, out);
    table.clear();
  }

private:
  struct Setting {
    uint8_t colour;
    int32_t col, columns;
    std::vector<std::pair<Port, PortMask>> positions;
    auto operator<=>(const Setting &) const = default;
  };

  static void append(const Setting &setting, int32_t net, const RowLattice &group, const RowLattice &rows,
                     std::vector<RouterRole> &out) {
    RouterRole &role = out.emplace_back();
    role.routers.row = group.first.row + rows.first.row;
    role.routers.col = setting.col;
    int dim = kColumnDim;
    role.routers.dims[dim] = {setting.columns, 0, 1};
    for (const RowLattice *lattice : {&rows, &group})
      for (const RowLattice::Level &level : lattice->levels)
        if (level.count > 1)
          role.routers.dims[--dim] = {level.count, level.rowStep, 0};
    role.colour = setting.colour;
    role.net = net;
    for (auto [input, outputs] : setting.positions)
      role.positions.push_back({input, outputs});
  }

  std::map<Setting, std::vector<RowPoint>> table;
};

// Settings along one lane. Crossing points (trunk meets branch) get all their outputs at once.
void emitLane(const LaneRoute &route, uint8_t colour, RouterTable &table) {
  using Rows = LaneRoute::Rows;
  auto add = [&](Rows rows, int32_t col, int32_t columns, std::initializer_list<SwitchPosition> positions) {
    table.add(colour, rows, col, columns, positions);
  };
  Rows trunkRow{route.row, route.row};
  bool columnGather = !route.fromPort && route.gatherColEnd < 0;
  // Outputs of the trunk's router in column `col`: on to the east or west, and into a branch.
  auto outputsAt = [&](int32_t col) {
    PortMask outputs = 0;
    if (col >= route.trunkBegin && (col < route.trunkEnd || route.toPort))
      outputs |= bit(Port::East);
    if (col <= route.trunkBegin && col > route.trunkWest)
      outputs |= bit(Port::West);
    for (const LaneRoute::Branch &branch : route.branches) {
      if (branch.via == col && branch.firstRow() < route.row)
        outputs |= bit(Port::North);
      if (branch.via == col && branch.lastRow() > route.row)
        outputs |= bit(Port::South);
      if (branch.col == col && branch.takes(route.row))
        outputs |= bit(Port::Ramp);
    }
    return outputs;
  };

  // Where the words start.
  int32_t trunk = route.trunkBegin; // first column not yet set
  if (columnGather) {
    // Along the column to the trunk, from above and from below; see Send.h for who sends when.
    const int32_t first = route.gatherRowBegin, last = route.gatherRowEnd;
    const PortMask south = bit(Port::South), north = bit(Port::North), out = outputsAt(trunk);
    add({first, std::min(first, route.row - 1)}, trunk, 1, {{Port::Ramp, south}});
    add({first + 1, route.row - 1}, trunk, 1, {{Port::North, south}, {Port::Ramp, south}});
    if (first < route.row && route.row < last)
      add(trunkRow, trunk, 1, {{Port::North, out}, {Port::Ramp, out}, {Port::South, out}});
    else if (first < route.row)
      add(trunkRow, trunk, 1, {{Port::North, out}, {Port::Ramp, out}});
    else if (route.row < last)
      add(trunkRow, trunk, 1, {{Port::Ramp, out}, {Port::South, out}});
    else
      add(trunkRow, trunk, 1, {{Port::Ramp, out}});
    add({route.row + 1, last - 1}, trunk, 1, {{Port::Ramp, north}, {Port::South, north}});
    add({std::max(last, route.row + 1), last}, trunk, 1, {{Port::Ramp, north}});
    ++trunk;
  } else if (!route.fromPort) {
    add(trunkRow, route.gatherColBegin, 1, {{Port::Ramp, bit(Port::East)}});
    add(trunkRow, route.gatherColBegin + 1, route.gatherColEnd - route.gatherColBegin,
        {{Port::West, bit(Port::East)}, {Port::Ramp, bit(Port::East)}});
    trunk = route.gatherColEnd + 1;
  }
  // The trunk, cut at the branches; first its western arm.
  int32_t west = route.trunkWest;
  for (const LaneRoute::Branch &branch : route.branches) {
    if (branch.col < route.trunkBegin) {
      add(trunkRow, west, branch.col - west, {{Port::East, bit(Port::West)}});
      add(trunkRow, branch.col, 1, {{Port::East, outputsAt(branch.col)}});
      west = branch.col + 1;
      continue;
    }
    if (west < route.trunkBegin)
      add(trunkRow, west, route.trunkBegin - west, {{Port::East, bit(Port::West)}});
    west = route.trunkBegin;
    auto stop = [&](int32_t col) {
      add(trunkRow, trunk, col - trunk, {{Port::West, bit(Port::East)}});
      add(trunkRow, col, 1, {{Port::West, outputsAt(col)}});
      trunk = col + 1;
    };
    for (int32_t col : {branch.westEnd(), branch.eastEnd()})
      if (col >= trunk && (col == branch.via || branch.takes(route.row)))
        stop(col);
  }
  add(trunkRow, west, route.trunkBegin - west, {{Port::East, bit(Port::West)}});
  add(trunkRow, trunk, route.trunkEnd + 1 - trunk, {{Port::West, bit(Port::East)}});
  // The branches, away from the trunk on both sides, and the way to the core of rows that take from another column.
  auto along = [&](int32_t col, Port from, Rows rows, PortMask out) { add(rows, col, 1, {{from, out}}); };
  for (const LaneRoute::Branch &branch : route.branches) {
    const bool west = branch.via < branch.col; // of the consumer's column
    const Port back = west ? Port::West : Port::East;
    const PortMask onward = bit(west ? Port::East : Port::West);
    const PortMask taken = branch.via == branch.col ? bit(Port::Ramp) : onward;
    int32_t row = route.row + 1; // first not yet set
    for (const Rows &takers : branch.takers) {
      if (takers.end < row)
        continue;
      Rows all{std::max(takers.begin, row), takers.end == branch.lastRow() ? takers.end - 1 : takers.end};
      along(branch.via, Port::North, {row, all.begin - 1}, bit(Port::South));
      along(branch.via, Port::North, all, PortMask(bit(Port::South) | taken));
      if (takers.end == branch.lastRow())
        along(branch.via, Port::North, {takers.end, takers.end}, taken);
      row = takers.end + 1;
    }
    row = route.row - 1;
    for (auto takers = branch.takers.rbegin(); takers != branch.takers.rend(); ++takers) {
      if (takers->begin > row)
        continue;
      Rows all{takers->begin == branch.firstRow() ? takers->begin + 1 : takers->begin, std::min(takers->end, row)};
      along(branch.via, Port::South, {all.end + 1, row}, bit(Port::North));
      along(branch.via, Port::South, all, PortMask(bit(Port::North) | taken));
      if (takers->begin == branch.firstRow())
        along(branch.via, Port::South, {takers->begin, takers->begin}, taken);
      row = takers->begin - 1;
    }
    for (const Rows &takers : branch.takers)
      for (Rows rows : {Rows{takers.begin, std::min(takers.end, route.row - 1)},
                        Rows{std::max(takers.begin, route.row + 1), takers.end}}) {
        add(rows, branch.westEnd() + 1, branch.eastEnd() - branch.westEnd() - 1, {{back, onward}});
        add(rows, branch.col, branch.via != branch.col, {{back, bit(Port::Ramp)}});
      }
  }
}

// Row multicast and chain reduce of a contraction.
void emitContraction(const NetworkPlan &network, const KernelRows &rows, const KernelPlan &plan, int32_t rowNet,
                     int32_t chainNet, std::vector<RouterRole> &out) {
  const StreamLayout &layout = network.streams[plan.spec.outStream].layout;
  int32_t col = plan.placement.col;
  int64_t slices = plan.mapping.slices;
  std::vector<RowPoint> groupRows;
  for (int64_t group = 0; group < rows.numGroups(); ++group)
    groupRows.push_back({rows.groupBegin(group), size_t(group), {}});
  std::vector<RowLattice> groups = coverRows(std::move(groupRows), 2);
  RouterTable table;
  uint8_t colour = plan.colours.row;
  const int32_t compute = col + plan.computeOffset();
  for (int64_t band = 0; band < plan.mapping.bands; ++band) {
    LaneRoute::Rows all{int32_t(band * slices), int32_t((band + 1) * slices) - 1};
    const auto last = int32_t(compute + plan.mapping.columnsOfBand(band, plan.spec.out.channels)) - 1;
    if (last == col)
      continue; // nobody but the feeder
    table.add(colour, all, col, 1, {{Port::Ramp, bit(Port::East)}});
    table.add(colour, all, col + 1, last - col - 1, {{Port::West, PortMask(bit(Port::East) | bit(Port::Ramp))}});
    table.add(colour, all, last, 1, {{Port::West, bit(Port::Ramp)}});
  }
  table.flush(rowNet, groups, out);
  for (int64_t block = 0; block < layout.numBlocks(); ++block) {
    BlockSite site = blockSite(plan, layout, block);
    int64_t end = site.slice;
    for (int64_t slice = 0; slice < slices; ++slice) {
      int32_t r = int32_t(site.band * slices + slice);
      auto set = [&](int64_t parity, Port in, Port to) {
        table.add(plan.colours.chain[parity % 2], {r, r}, int32_t(compute + site.firstColumn),
                  int32_t(site.endColumn - site.firstColumn), {{in, bit(to)}});
      };
      if (slice < end)
        set(slice, Port::Ramp, Port::South);
      if (slice > end)
        set(slice + 1, Port::Ramp, Port::North);
      if (slice > 0 && slice <= end)
        set(slice + 1, Port::North, Port::Ramp);
      if (slice + 1 < slices && slice >= end)
        set(slice, Port::South, Port::Ramp);
    }
  }
  table.flush(chainNet, groups, out);
}

// The edge port of a lane and where its elements lie in the host's tensor.
IoBinding bindingOf(const StreamPlan &stream, const LaneRoute &route, const StreamPlan::Host &host, bool output,
                    int32_t col) {
  const StreamLayout &layout = stream.layout;
  int64_t tile = route.lane / layout.numBlocks(), block = route.lane % layout.numBlocks();
  int64_t channelBegin = layout.blockBegin[block], channels = layout.blockBegin[block + 1] - channelBegin;
  IoBinding binding;
  binding.output = output;
  binding.tensor = host.tensor;
  binding.ports.row = route.row;
  binding.ports.col = col;
  binding.side = output ? Port::East : Port::West;
  binding.colour = stream.laneColours[route.lane];
  binding.hostOffset = host.offset + channelBegin / host.channelInner * host.strideChannelOuter +
                       layout.tileBegin(tile) * host.strideRow;
  binding.extent = {Affine(channels / host.channelInner), Affine(host.channelInner),
                    Affine(layout.tileEnd(tile) - layout.tileBegin(tile)), Affine(layout.plane.width)};
  binding.stride = {host.strideChannelOuter, host.strideChannelInner, host.strideRow, host.strideColumn};
  return binding;
}

} // namespace

void emitRoutes(const target::Target &target, const NetworkPlan &network, const std::vector<LaneRoute> &lanes,
                Configuration &configuration) {
  std::vector<IoBinding> io;
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    const KernelPlan &plan = network.kernels[k];
    if (plan.spec.kind != KernelKind::Contraction)
      continue;
    KernelRows rows(target, network, int32_t(k));
    int32_t net = int32_t(configuration.nets.size());
    configuration.nets.push_back({plan.spec.name + " row", 0});
    configuration.nets.push_back({plan.spec.name + " chain", 0});
    emitContraction(network, rows, plan, net, net + 1, configuration.routers);
  }
  RouterTable table;
  int32_t current = -1;
  auto flush = [&] {
    if (current >= 0)
      table.flush(int32_t(configuration.nets.size()) - 1, configuration.routers);
  };
  for (const LaneRoute &route : lanes) {
    const StreamPlan &stream = network.streams[route.stream];
    if (route.stream != current) {
      flush();
      current = route.stream;
      configuration.nets.push_back({stream.name, stream.layout.plane.elements()});
    }
    emitLane(route, stream.laneColours[route.lane], table);
    if (stream.input)
      io.push_back(bindingOf(stream, route, *stream.input, false, 0));
    for (const StreamPlan::Host &host : stream.outputs)
      io.push_back(bindingOf(stream, route, host, true, target.cols - 1));
  }
  flush();
  for (IoBinding &binding : mergeIo(std::move(io)))
    configuration.io.push_back(std::move(binding));
}

} // namespace wsc::kernels
