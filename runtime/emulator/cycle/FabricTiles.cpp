// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles and their colours in row-major order; ports of routers that have queues; ports of the wafer.
#include "runtime/emulator/cycle/FabricBuilder.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/Network.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::emulator::cycle {

using namespace format;

absl::Status FabricBuilder::findTiles() {
  fabric.tileAt.assign(size_t(fabric.rows) * size_t(fabric.cols), -1);
  absl::Status status;
  const auto add = [&](int32_t row, int32_t col, int colour) {
    status.Update(checkPlace(row, col, std::max(colour, 0)));
    if (status.ok() && colour >= 0)
      fabric.tiles[touch(row, col)].colours |= uint64_t(1) << colour;
    else if (status.ok())
      touch(row, col);
    return status.ok();
  };
  for (const RouterRole &router : configuration.routers) {
    PortMask outputs = 0;
    for (const SwitchPosition &position : router.positions)
      outputs |= position.outputs;
    forEachPoint(router.routers, [&](const LatticeIndex &, int32_t row, int32_t col) {
      if (!add(row, col, router.colour))
        return false;
      // A word sent to a router without settings stands there for ever.
      for (int port = 0; port < kRamp; ++port) {
        int32_t r = row, c = col;
        if (outputs >> port & 1 && step(fabric.rows, fabric.cols, r, c, port))
          add(r, c, router.colour);
      }
      return true;
    });
  }
  for (const Role &role : configuration.roles)
    forEachPoint(role.cores, [&](const LatticeIndex &, int32_t row, int32_t col) {
      bool good = add(row, col, -1);
      for (const format::Queue &queue : role.queues)
        good = good && add(row, col, queue.colour);
      return good;
    });
  for (const IoBinding &binding : configuration.io)
    forEachPoint(binding.ports,
                 [&](const LatticeIndex &, int32_t row, int32_t col) { return add(row, col, binding.colour); });
  if (!status.ok())
    return status;
  if (fabric.tiles.size() >= size_t(1) << 26)
    return absl::ResourceExhaustedError(
        absl::StrCat("too large: ", fabric.tiles.size(), " tiles are in use; the cycle engine holds ", (1 << 26) - 1));
  // Row-major order, so that strips of the mesh are ranges.
  std::sort(fabric.tiles.begin(), fabric.tiles.end(), [](const Tile &a, const Tile &b) { return a.cell < b.cell; });
  uint64_t nodes = 0;
  for (size_t t = 0; t < fabric.tiles.size(); ++t) {
    Tile &tile = fabric.tiles[t];
    fabric.tileAt[size_t(tile.cell)] = int32_t(t);
    tile.firstNode = uint32_t(nodes);
    tile.nodes = uint8_t(std::popcount(tile.colours));
    nodes += tile.nodes;
  }
  if (nodes >= uint64_t(1) << 31)
    return absl::ResourceExhaustedError(absl::StrCat("too large: ", nodes, " colours of routers are in use"));
  fabric.nodes.assign(nodes, kNone);
  fabric.nodeRouter.assign(nodes, -1);
  fabric.nodePorts.assign(nodes, 0);
  return absl::OkStatus();
}

absl::Status FabricBuilder::placeNodes() {
  absl::Status status;
  for (size_t r = 0; r < configuration.routers.size(); ++r) {
    const RouterRole &router = configuration.routers[r];
    if (router.positions.empty())
      return absl::InvalidArgumentError(absl::StrCat("router role ", r, " has no switch position"));
    PortMask outputs = 0, inputs = 0;
    for (const SwitchPosition &position : router.positions) {
      if (unsigned(position.input) >= unsigned(kNumPorts))
        return absl::InvalidArgumentError(
            absl::StrCat("router role ", r, " takes from port ", unsigned(position.input), ", which does not exist"));
      outputs |= position.outputs;
      inputs |= PortMask(1u << unsigned(position.input));
    }
    forEachPoint(router.routers, [&](const LatticeIndex &, int32_t row, int32_t col) {
      const uint32_t node = fabric.nodeOf(tileOf(row, col), router.colour);
      if (fabric.nodeRouter[node] >= 0) {
        status = absl::InvalidArgumentError(absl::StrCat("two routes: ", place(row, col, router.colour),
                                                         " has router roles ", fabric.nodeRouter[node], " and ", r));
        return false;
      }
      fabric.nodeRouter[node] = int32_t(r);
      fabric.nodePorts[node] |= inputs;
      for (int port = 0; port < kRamp; ++port) {
        int32_t toRow = row, toCol = col;
        if (outputs >> port & 1 && step(fabric.rows, fabric.cols, toRow, toCol, port))
          fabric.nodePorts[fabric.nodeOf(tileOf(toRow, toCol), router.colour)] |= PortMask(1u << opposite(port));
      }
      return true;
    });
    if (!status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status FabricBuilder::placePorts() {
  std::vector<ElementType> types = bindingTypes(*fabric.executable, number);
  types.resize(configuration.io.size(), ElementType::F32);
  absl::Status status;
  for (size_t b = 0; b < configuration.io.size(); ++b) {
    const IoBinding &binding = configuration.io[b];
    forEachPoint(binding.ports, [&](const LatticeIndex &index, int32_t row, int32_t col) {
      PortState port;
      port.tile = uint32_t(fabric.tileAt[size_t(row) * size_t(fabric.cols) + size_t(col)]);
      port.node = fabric.nodeOf(fabric.tiles[port.tile], binding.colour);
      port.binding = int32_t(b);
      port.output = binding.output;
      int64_t elements = 1;
      for (const Affine &extent : binding.extent)
        elements *= std::max<int64_t>(0, extent.at(index));
      port.wordsPerSample = timing::fabricWords(types[b], elements);
      if (port.wordsPerSample > (int64_t(1) << 60) / samples) {
        status = absl::ResourceExhaustedError(
            absl::StrCat("too large: ", port.wordsPerSample, " words per sample at a port"));
        return false;
      }
      port.all = port.wordsPerSample * samples;
      int32_t r = row, c = col;
      const auto key = std::tuple(row * fabric.cols + col, int(binding.side), int(binding.colour), binding.output);
      if (step(fabric.rows, fabric.cols, r, c, int(binding.side)) || binding.side == Port::Ramp)
        status = absl::InvalidArgumentError(absl::StrCat("I/O binding ", b, ": ", kPortNames[int(binding.side)],
                                                         " of (", row, ", ", col, ") is no outer port"));
      else if (!portAt.emplace(key, uint32_t(fabric.ports.size())).second)
        status = absl::InvalidArgumentError(
            absl::StrCat("two bindings: ", kPortNames[int(binding.side)], " of ", place(row, col, binding.colour)));
      if (binding.output)
        fabric.outputWords += port.wordsPerSample;
      else
        fabric.nodePorts[port.node] |= PortMask(1u << unsigned(binding.side));
      fabric.ports.push_back(port);
      return status.ok();
    });
  }
  return status;
}

} // namespace wsc::emulator::cycle
