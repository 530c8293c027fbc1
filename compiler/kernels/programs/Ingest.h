// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Taking lanes in: from the words that pass on a lane to the part a row needs, in a FIFO, and from there into a tile in
// SRAM.
#pragma once

#include "compiler/kernels/programs/KernelRows.h"

namespace wsc::kernels {

// A tile of an input in SRAM: [channel][row][column], `rowBegin` may lie above the plane and the width may hold padding
// on both sides.
struct Tile {
  int16_t buffer = -1;
  int64_t channels = 0, rowBegin = 0, rows = 0, padLeft = 0, width = 0; // width with padding
  int64_t elements() const { return channels * rows * width; }
  int64_t at(int64_t channel, int64_t row, int64_t column) const {
    return (channel * rows + (row - rowBegin)) * width + padLeft + column;
  }
};

// Emits an ingest thread for each component of the row (all its lanes, one after the other, into one FIFO), from
// `firstThread` on. Returns the FIFOs, one per component.
std::vector<int16_t> emitIngest(RoleBuilder &builder, const target::Target &target, int firstThread,
                                const NetworkPlan &network, const KernelRow &row);

// Equal for rows of a group for which taking lanes in costs the same: what is taken of each, and what is dropped behind
// the filters.
std::vector<int64_t> takenNumbers(const target::Target &target, const NetworkPlan &network, const KernelRow &row);

// Whether the core has a thread for each lane of the row, besides its first `firstThread`.
bool hasThreadsForLanes(const target::Target &target, int firstThread, const KernelRow &row);

// The same with a thread and a FIFO for each lane, so that no lane waits until those before it have been taken: other
// receivers would wait with it, and links lie idle. Returns the FIFOs, one per part of each component. Where the core
// has too few threads, all parts of a component have one FIFO.
std::vector<std::vector<int16_t>> emitIngestByLane(RoleBuilder &builder, const target::Target &target, int firstThread,
                                                   const NetworkPlan &network, const KernelRow &row);

// In streamed mode every tile of a component has a thread and a small FIFO of its own, so that rows of one channel from
// several tiles come together.
struct TileFifo {
  int16_t fifo = -1;
  int64_t rowBegin = 0, rows = 0; // of the plane
};
struct ComponentFifos {
  int64_t channels = 0;
  std::vector<TileFifo> tiles;
};
std::vector<ComponentFifos> emitStreamedIngest(RoleBuilder &builder, const target::Target &target, int firstThread,
                                               const NetworkPlan &network, const KernelRow &row);

// The tiles of a component as `emitStreamedIngest` sees them, without emitting.
std::vector<ComponentFifos> streamedTiles(const KernelRow &row);

// Emits moves that place one component's words, as they come from `source` (the FIFO or the row's queue), into the tile
// of its input. `region` is what the row needs of that input.
void emitPlace(RoleBuilder &builder, int thread, const ComponentParts &component, const Region &region,
               const Tile &tile, const format::Operand &source);

// The same of a part of a component, or of some of its channels; `channelOffset` of its stream in the concatenation.
void emitPlace(RoleBuilder &builder, int thread, const Columns &columns, int64_t channelOffset, const Region &part,
               const Region &region, const Tile &tile, const format::Operand &source);

// Fills what lies outside of what is taken in with `value`: rows above and below the clipped region, columns left and
// right of `columns`.
void emitPadding(RoleBuilder &builder, int thread, const Region &region, const Columns &columns, const Tile &tile,
                 double value);

} // namespace wsc::kernels
