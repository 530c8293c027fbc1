// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Router settings of lanes and of contractions' rectangles, and the bindings of inputs and outputs.
#include "compiler/kernels/Merge.h"
#include "compiler/kernels/RoleBuilder.h"
#include "compiler/kernels/Routes.h"

namespace wsc::kernels {

using namespace format;

namespace {

constexpr PortMask bit(Port port) { return PortMask(1u << int(port)); }

// Collects router settings; neighbouring columns of one row come as one item.
class RouterList {
public:
  RouterList(uint8_t colour, int32_t net) : colour(colour), net(net) {}
  void add(int32_t row, int32_t col, int32_t columns, std::vector<SwitchPosition> positions) {
    if (columns <= 0)
      return;
    RouterRole role;
    role.routers.row = row;
    role.routers.col = col;
    role.routers.dims[kColumnDim] = {columns, 0, 1};
    role.colour = colour;
    role.net = net;
    role.positions = std::move(positions);
    roles.push_back(std::move(role));
  }
  std::vector<RouterRole> roles;

private:
  uint8_t colour;
  int32_t net;
};

// Settings along one lane. Crossing points (trunk meets tooth) get all their outputs at once.
void emitLane(const LaneRoute &route, RouterList &list) {
  bool columnGather = !route.fromPort && route.gatherColEnd == 0;
  // Outputs of the trunk's router in column `col`: on to the east or west, and into a tooth.
  auto outputsAt = [&](int32_t col) {
    PortMask outputs = 0;
    if (col >= route.trunkBegin && (col < route.trunkEnd || route.toPort))
      outputs |= bit(Port::East);
    if (col <= route.trunkBegin && col > route.trunkWest)
      outputs |= bit(Port::West);
    for (const LaneRoute::Tooth &tooth : route.teeth) {
      if (tooth.col != col)
        continue;
      if (tooth.rows.front() < route.row)
        outputs |= bit(Port::North);
      if (tooth.rows.back() > route.row)
        outputs |= bit(Port::South);
      if (std::binary_search(tooth.rows.begin(), tooth.rows.end(), route.row))
        outputs |= bit(Port::Ramp);
    }
    return outputs;
  };

  // Where the words start.
  int32_t trunk = route.trunkBegin; // first column not yet set
  if (columnGather) {
    for (int32_t row = route.gatherRowBegin; row <= route.gatherRowEnd; ++row) {
      PortMask out = row == route.row ? outputsAt(trunk) : bit(Port::South);
      if (row == route.gatherRowBegin)
        list.add(row, trunk, 1, {{Port::Ramp, out}});
      else
        list.add(row, trunk, 1, {{Port::North, out}, {Port::Ramp, out}});
    }
    ++trunk;
  } else if (!route.fromPort) {
    list.add(route.row, route.gatherColBegin, 1, {{Port::Ramp, bit(Port::East)}});
    list.add(route.row, route.gatherColBegin + 1, route.gatherColEnd - route.gatherColBegin,
             {{Port::West, bit(Port::East)}, {Port::Ramp, bit(Port::East)}});
    trunk = route.gatherColEnd + 1;
  }
  // The trunk, cut at the teeth; first its western arm.
  int32_t west = route.trunkWest;
  for (const LaneRoute::Tooth &tooth : route.teeth) {
    if (tooth.col < route.trunkBegin) {
      list.add(route.row, west, tooth.col - west, {{Port::East, bit(Port::West)}});
      list.add(route.row, tooth.col, 1, {{Port::East, outputsAt(tooth.col)}});
      west = tooth.col + 1;
      continue;
    }
    if (west < route.trunkBegin)
      list.add(route.row, west, route.trunkBegin - west, {{Port::East, bit(Port::West)}});
    west = route.trunkBegin;
    list.add(route.row, trunk, tooth.col - trunk, {{Port::West, bit(Port::East)}});
    list.add(route.row, tooth.col, 1, {{Port::West, outputsAt(tooth.col)}});
    trunk = tooth.col + 1;
  }
  list.add(route.row, west, route.trunkBegin - west, {{Port::East, bit(Port::West)}});
  list.add(route.row, trunk, route.trunkEnd + 1 - trunk, {{Port::West, bit(Port::East)}});
  // The teeth.
  for (const LaneRoute::Tooth &tooth : route.teeth) {
    auto takes = [&](int32_t row) { return std::binary_search(tooth.rows.begin(), tooth.rows.end(), row); };
    for (int32_t row = route.row + 1; row <= tooth.rows.back(); ++row)
      list.add(row, tooth.col, 1,
               {{Port::North, PortMask((row < tooth.rows.back() ? bit(Port::South) : 0) | (takes(row) ? bit(Port::Ramp) : 0))}});
    for (int32_t row = route.row - 1; row >= tooth.rows.front(); --row)
      list.add(row, tooth.col, 1,
               {{Port::South, PortMask((row > tooth.rows.front() ? bit(Port::North) : 0) | (takes(row) ? bit(Port::Ramp) : 0))}});
  }
}

// Row multicast and chain reduce of a contraction.
void emitContraction(const NetworkPlan &network, const KernelRows &rows, const KernelPlan &plan, int32_t rowNet,
                     int32_t chainNet, std::vector<RouterRole> &out) {
  const StreamLayout &layout = network.streams[plan.spec.outStream].layout;
  int32_t col = plan.placement.col, columns = int32_t(plan.mapping.columns);
  RouterList row(plan.colours.row, rowNet);
  RouterList chain[2] = {{plan.colours.chain[0], chainNet}, {plan.colours.chain[1], chainNet}};
  int64_t slices = plan.mapping.slices;
  for (int64_t group = 0; group < rows.numGroups(); ++group) {
    int32_t base = int32_t(network.grid.groupBegin(group, rows.numGroups()));
    for (int64_t slice = 0; slice < slices; ++slice) {
      int32_t r = int32_t(base + slice);
      row.add(r, col, 1, {{Port::Ramp, bit(Port::East)}});
      row.add(r, col + 1, columns - 1, {{Port::West, PortMask(bit(Port::East) | bit(Port::Ramp))}});
      row.add(r, col + columns, 1, {{Port::West, bit(Port::Ramp)}});
      for (int64_t block = 0; block < layout.numBlocks(); ++block) {
        int64_t end = endSlice(block, layout.numBlocks(), slices);
        int32_t first = int32_t(layout.blockBegin[block] / plan.mapping.channelsPerColumn);
        int32_t last = int32_t(ceilDiv(layout.blockBegin[block + 1], plan.mapping.channelsPerColumn));
        auto set = [&](int64_t parity, Port in, Port out) {
          chain[parity % 2].add(r, col + 1 + first, last - first, {{in, bit(out)}});
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
  }
  for (RouterList *list : {&row, &chain[0], &chain[1]})
    for (RouterRole &role : mergeRouters(std::move(list->roles)))
      out.push_back(std::move(role));
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
  std::vector<RouterRole> ofStream;
  auto flush = [&] {
    for (RouterRole &role : mergeRouters(std::move(ofStream)))
      configuration.routers.push_back(std::move(role));
    ofStream.clear();
  };
  int32_t current = -1;
  for (const LaneRoute &route : lanes) {
    const StreamPlan &stream = network.streams[route.stream];
    if (route.stream != current) {
      flush();
      current = route.stream;
      configuration.nets.push_back({stream.name, stream.layout.plane.elements()});
    }
    RouterList list(stream.laneColours[route.lane], int32_t(configuration.nets.size()) - 1);
    emitLane(route, list);
    for (RouterRole &role : list.roles)
      ofStream.push_back(std::move(role));
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
