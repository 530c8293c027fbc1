// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route families of a configuration. All collectives of a configuration run over the same few routes, in one order
// on all cores, so that successive calls of a family are one longer stream:
//
//   forward    along a line towards higher coordinates: cores give in turns, all behind them take (east, south)
//   backward   the same towards lower coordinates (west, north)
//   chain      from each core to the next one, on two colours by parity
//   input      from the west port of a row to all its cores
//   output     from all cores of a row, in turns from the east, to its west port
//
// A queue operand of Code names a family and a direction (queueOf); roles turn that into queues.
#pragma once

#include "compiler/spmd/program/Code.h"
#include "compiler/spmd/sharding/Sharding.h"

namespace wsc::spmd {

enum class Family : uint8_t {
  Input,
  Output,
  RowForward,
  RowBackward,
  ColForward,
  ColBackward,
  RowChainEven, // sent by cores of even coordinate
  RowChainOdd,
  ColChainEven,
  ColChainOdd,
};
constexpr int kNumFamilies = int(Family::ColChainOdd) + 1;

/// The number that stands for a queue of the family in Operand::queue of a Code.
constexpr int16_t queueOf(Family family, bool output) { return int16_t(int(family) * 2 + output); }
format::Operand queue(Family family, bool output);

constexpr Family forward(Axis axis) { return axis == Axis::Row ? Family::RowForward : Family::ColForward; }
constexpr Family backward(Axis axis) { return axis == Axis::Row ? Family::RowBackward : Family::ColBackward; }
constexpr Family chain(Axis axis, bool odd) {
  return axis == Axis::Row ? (odd ? Family::RowChainOdd : Family::RowChainEven)
                           : (odd ? Family::ColChainOdd : Family::ColChainEven);
}

/// The dimension of affine numbers that a core's coordinate on its line is: along a row the column varies.
constexpr int alongDim(Axis axis) { return axis == Axis::Row ? kColDim : kRowDim; }

/// `guard` narrowed to coordinates [begin, end) on the lines of an axis, and to one parity of them unless -1.
Guard narrowed(Guard guard, Axis axis, int64_t begin, int64_t end, int parity = -1);

/// The cores of a part of the network's rectangle.
Guard guardOf(const Rectangle &part, const Rectangle &whole);

/// What was appended since instruction `begin` runs on the guard's cores only.
void guardFrom(Code &code, size_t begin, const Guard &guard);

} // namespace wsc::spmd
