// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays the fabric out in passes over the lattices: tiles and their colours; ports that have queues; cores; queues;
// routes. FabricTiles.cpp and FabricCores.cpp hold the passes.
#pragma once

#include "runtime/emulator/cycle/Fabric.h"

#include "runtime/format/Ports.h"

#include "absl/strings/str_cat.h"

#include <map>
#include <string>
#include <tuple>

namespace wsc::emulator::cycle {

constexpr int kRamp = int(format::Port::Ramp);

// To the neighbour across `port`; false: beyond the mesh.
inline bool step(int32_t rows, int32_t cols, int32_t &row, int32_t &col, int port) {
  row += port == int(format::Port::South) ? 1 : port == int(format::Port::North) ? -1 : 0;
  col += port == int(format::Port::East) ? 1 : port == int(format::Port::West) ? -1 : 0;
  return row >= 0 && row < rows && col >= 0 && col < cols;
}

class FabricBuilder {
public:
  FabricBuilder(const format::Executable &executable, int number, int samples)
      : target(executable.target), configuration(executable.configurations[number]), number(number), samples(samples) {
    fabric.executable = &executable;
    fabric.configuration = &configuration;
    fabric.rows = target.rows;
    fabric.cols = target.cols;
    fabric.hop = target.hopLatencyCycles;
    fabric.ramp = target.rampLatencyCycles;
    fabric.credit = target.creditLatencyCycles;
    fabric.taskStart = target.taskStartCycles;
  }

  absl::StatusOr<Fabric> run() {
    for (auto pass : {&FabricBuilder::findTiles, &FabricBuilder::placeNodes, &FabricBuilder::placePorts,
                      &FabricBuilder::placeCores, &FabricBuilder::makeQueues, &FabricBuilder::makeRoutes})
      if (absl::Status status = (this->*pass)(); !status.ok())
        return absl::Status(status.code(),
                            absl::StrCat("configuration ", configuration.name, ": ", std::string(status.message())));
    fabric.routes.shrink_to_fit();
    fabric.filters.shrink_to_fit();
    fabric.threads.shrink_to_fit();
    fabric.coreQueues.shrink_to_fit();
    fabric.fifoElements.shrink_to_fit();
    fabric.arena.shrink_to_fit();
    return std::move(fabric);
  }

private:
  std::string place(int32_t row, int32_t col, int colour) const {
    return absl::StrCat("router (", row, ", ", col, "), colour ", colour);
  }

  // The number of the tile at a place of the mesh; made if it is new.
  uint32_t touch(int32_t row, int32_t col) {
    int32_t &tile = fabric.tileAt[size_t(row) * size_t(fabric.cols) + size_t(col)];
    if (tile < 0) {
      tile = int32_t(fabric.tiles.size());
      fabric.tiles.emplace_back().cell = row * fabric.cols + col;
    }
    return uint32_t(tile);
  }
  Tile &tileOf(int32_t row, int32_t col) {
    return fabric.tiles[size_t(fabric.tileAt[size_t(row) * size_t(fabric.cols) + size_t(col)])];
  }

  absl::Status checkPlace(int32_t row, int32_t col, int colour) const {
    if (row < 0 || row >= fabric.rows || col < 0 || col >= fabric.cols)
      return absl::InvalidArgumentError(
          absl::StrCat("(", row, ", ", col, ") is outside the mesh of ", fabric.rows, "x", fabric.cols));
    if (colour < 0 || colour >= 64)
      return absl::InvalidArgumentError(absl::StrCat("colour ", colour, " does not exist"));
    return absl::OkStatus();
  }

  absl::Status findTiles();
  absl::Status placeNodes();
  absl::Status placePorts();
  absl::Status placeCores();
  absl::Status makeQueues();
  absl::Status makeRoutes();
  absl::Status makeRoute(Tile &tile, int colour, const format::SwitchPosition &position, bool switches);
  absl::Status makeFilter(const Core &core, const format::Queue &queue, uint32_t node);
  absl::StatusOr<uint32_t> makeQueue(int64_t words, Party taker, Party sender);

  const target::Target &target;
  const format::Configuration &configuration;
  const int number, samples;
  Fabric fabric;
  std::map<std::tuple<int32_t, int, int, bool>, uint32_t> portAt; // cell, side, colour, output
  std::vector<uint32_t> coreInput;                                // per node: the core's input queue, kNone without
  std::vector<uint32_t> coreFilter;                               // per node: its filter, kNone without
};

} // namespace wsc::emulator::cycle
