// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/cycle/FabricBuilder.h"

namespace wsc::emulator::cycle {

using namespace format;

int Fabric::colourOf(const Tile &tile, uint32_t bit) const {
  uint64_t colours = tile.colours;
  for (; bit > 0; --bit)
    colours &= colours - 1;
  return std::countr_zero(colours);
}

int32_t Fabric::neighbour(const Tile &tile, int port) const {
  int32_t r = row(tile), c = col(tile);
  return step(rows, cols, r, c, port) ? tileAt[size_t(r) * size_t(cols) + size_t(c)] : -1;
}

int64_t Fabric::bytes() const {
  const auto of = [](const auto &vector) { return int64_t(vector.capacity() * sizeof(vector[0])); };
  int64_t bytes = of(tileAt) + of(tiles) + of(nodes) + of(nodeRouter) + of(routes) + of(arena) + of(nodeQueue) +
                  of(nodePorts) + of(nodeQueues) + of(filters) + of(cores) + of(threads) + of(coreQueues) +
                  of(fifoElements) + of(ports);
  for (const ProgramTable &table : programs)
    bytes += table.bytes();
  return bytes;
}

absl::StatusOr<Fabric> buildFabric(const Executable &executable, int configuration, int samples) {
  return FabricBuilder(executable, configuration, samples).run();
}

} // namespace wsc::emulator::cycle
