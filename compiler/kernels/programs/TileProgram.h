// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operations on a tile in SRAM: the epilogue of contractions and windows, and the body of elementwise
// kernels.
#pragma once

#include "compiler/kernels/programs/KernelRows.h"

namespace wsc::kernels {

// A value of tile shape channels × rows × width, or broadcast (a stride of 0) along some of them. Elements of f32.
struct TileValue {
  format::Operand operand;        // its first element; Memory
  std::array<int64_t, 3> strides; // channel, row, column
  bool full = true;               // not broadcast: may be overwritten in place
};

struct TileShape {
  int64_t channels = 0, rows = 0, width = 0;
  int64_t firstChannel = 0;      // of the core's first channel in the tensor
  int64_t channelsPerColumn = 0; // step of firstChannel from column to column of the role
  int64_t firstRow = 0;          // of the tile in the tensor
  int64_t planeChannels = 0, planeRows = 0;
  bool channelLoop = false; // emitted inside a loop over `channels`, one channel per iteration
};

// Emits `ops` on `values` (numbered as TileOperand says) and moves the last value into the FIFO `out`.
absl::Status emitTileProgram(RoleBuilder &builder, int thread, const std::string &kernel,
                             const std::vector<TileOp> &ops, std::vector<TileValue> values, const TileShape &shape,
                             int16_t out, SectionTable &sections);

// Where the last result goes: a FIFO, a queue, or memory, in the order channel, row, column.
struct TileSink {
  format::Operand operand;
  uint8_t priority = 0;                               // of the instruction that sends it there
  std::optional<std::array<int64_t, 3>> strides = {}; // of memory; else as the tile lies in a buffer of its own
};

// Emits `ops` on `values` and appends their results. Values of `kept` stay whole to the end (negative: none). The last
// result goes to `sink`, if given.
absl::Status emitTileOps(RoleBuilder &builder, int thread, const std::string &kernel, const std::vector<TileOp> &ops,
                         std::vector<TileValue> &values, const TileShape &shape, const std::vector<int32_t> &kept,
                         const TileSink *sink, SectionTable &sections);

// `operand` with the strides it walks the tile with.
format::Operand walkTile(format::Operand operand, const std::array<int64_t, 3> &strides);

// A section that holds `count` elements of `view`, `stride` elements apart; returns its index.
int32_t vectorSection(SectionTable &sections, const std::string &name, const ConstantView &view, int64_t count,
                      int64_t stride);

} // namespace wsc::kernels
